import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Creation } from './create.ts'
import type { DocumentStore, DocumentWrite } from './document-store.port.ts'
import type { EditInput } from './edit.ts'
import type { Once } from './once.ts'

const ANN: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }
const BODY = {
  name: 'Test',
  lockedBy: 'bea',
  pages: [],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: '<p id="blk-1">one</p>' }],
}

let relay: RestRelay
/** Takes the place of the next write. */
let insteadOfWrite: ((store: DocumentStore, write: DocumentWrite) => ReturnType<DocumentStore['write']>) | null = null
let made = 0
let id = ''
let once: Once

beforeAll(async () => {
  relay = await startRestRelay({
    store: (real) => ({
      ...real,
      write(write) {
        const instead = insteadOfWrite
        insteadOfWrite = null
        return instead === null ? real.write(write) : instead(real, write)
      },
    }),
  })
})
afterAll(async () => relay?.[Symbol.asyncDispose]())
beforeEach(async () => {
  id = `doc-${++made}`
  once = { requestId: 'r1', request: `request ${made}`, digest: 'd' }
  await relay.call('PUT', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' }, body: BODY })
  relay.events.length = 0
})

const insert = (given: Partial<EditInput> = {}) =>
  relay.documents.edit(ANN, {
    id,
    edit: 'insert_block',
    args: { pageId: 'p', id: 'blk-1', content: '<p>twice?</p>', format: 'html' },
    expectedVersion: null,
    dryRun: false,
    agent: null,
    once,
    ...given,
  })
const blank = (given: Partial<Creation> = {}) => {
  let next = 0
  const mint = (kind: string): string => `${kind}-${made}-${++next}`
  return relay.documents.create(ANN, { title: 'T', ownerName: 'Ann', form: 'list', mint, once, ...given })
}
const inserted = async (): Promise<number> => {
  const { json } = await relay.call('GET', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' } })
  return JSON.stringify(json).split('twice?').length - 1
}

it('[TOOL-22] [CONC-12] a repeated edit is written once, sends one event, and gets the first answer with its warnings', async () => {
  const first = await insert()
  if (first.kind !== 'edited') throw new Error(first.kind)
  const { result, effects } = first
  const answer = { result, effects, notes: { warnings: [expect.objectContaining({ field: 'lockedBy' })] } }
  expect(await insert({ expectedVersion: 1 })).toEqual({ kind: 'repeated', answer, version: first.head.version })
  expect([await inserted(), relay.events.length]).toEqual([1, 1])
})

it('[TOOL-22] a repeated edit that would now change nothing gets the first answer', async () => {
  const given = { edit: 'set_prose', args: { pageId: 'p', id: 'blk-1', content: '<p>twice?</p>', format: 'html' } } as const
  expect(await insert(given)).toMatchObject({ kind: 'edited', changed: true, head: { version: 2 } })
  expect(await insert(given)).toMatchObject({ kind: 'repeated', version: 2 })
})

it('[TOOL-22] another call with the same request id is refused', async () => {
  await insert()
  const reused = { code: 'ERR_REQUEST_ID_REUSED', message: expect.stringContaining('"r1"'), facts: { requestId: 'r1' } }
  const other = { ...once, digest: 'other' }
  expect(await insert({ once: other })).toMatchObject(reused)
  expect(await blank({ once: other })).toMatchObject(reused)
  expect(await inserted()).toBe(1)
})

it('[TOOL-22] a repeated creation returns the first document and sends one event', async () => {
  const first = await blank()
  if (first.kind !== 'created') throw new Error(first.kind)
  const { kind: _, version, ...answer } = first
  expect(await blank({ mint: () => 'never' })).toEqual({ kind: 'repeated', answer, version })
  expect(relay.events).toHaveLength(1)
})

it('[TOOL-22] [C7] a write that was stored without confirmation is found, and its answer is returned', async () => {
  const lost = async (store: DocumentStore, write: DocumentWrite): Promise<never> => {
    await store.write(write)
    throw new RelayError('NOT_PERSISTED', 'The commit failed.')
  }
  insteadOfWrite = lost
  expect(await insert()).toMatchObject({ kind: 'repeated', version: 2 })
  once = { ...once, request: `${once.request} of a creation` }
  insteadOfWrite = lost
  expect(await blank()).toMatchObject({ kind: 'repeated', version: 1 })
  expect(await inserted()).toBe(1)
})

it('[TOOL-22] a lost write fails with NOT_PERSISTED, and its repeat writes', async () => {
  insteadOfWrite = () => Promise.reject(new RelayError('NOT_PERSISTED', 'The commit failed.'))
  await expect(insert()).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
  expect(await insert()).toMatchObject({ kind: 'edited' })
  expect(await inserted()).toBe(1)
})

it('[TOOL-22] a request that another process completed meanwhile returns that answer, without a second write', async () => {
  const meanwhile = async (store: DocumentStore, write: DocumentWrite) => {
    await store.write(write)
    return store.write(write)
  }
  insteadOfWrite = meanwhile
  expect(await insert()).toMatchObject({ kind: 'repeated', version: 2 })
  once = { ...once, request: `${once.request} of a creation` }
  insteadOfWrite = meanwhile
  expect(await blank()).toMatchObject({ kind: 'repeated', version: 1 })
  once = { ...once, request: `${once.request} of another` }
  insteadOfWrite = async (store, write) => {
    await store.write(write)
    return { kind: 'conflict', current: await store.state(write.ref) }
  }
  expect(await insert({ expectedVersion: 2 })).toMatchObject({ kind: 'repeated', version: 3 })
  expect(await inserted()).toBe(2)
})
