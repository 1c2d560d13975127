import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from './document-store.contract.ts'
import type { DocumentRef, DocumentWrite, OnceWrite } from './document-store.port.ts'
import { change, creation, textOf, update, written } from './testing/document-writes.ts'

/** The store remembers at most this many requests of a workspace. */
const MOST = 1000

export interface OpenRememberedWrites extends OpenDocumentStore {
  /** Makes the store remember the requests of these writes, in this order, without the writes: a thousand of them would take seconds. */
  remember(writes: readonly DocumentWrite[]): Promise<void>
}

/** Registers the tests that every driver of `DocumentStore` passes for writes with a request id. */
export function describeRememberedWritesContract(name: string, open: () => Promise<OpenRememberedWrites>): void {
  describe(`DocumentStore, writes with a request id: ${name}`, () => {
    let store: OpenRememberedWrites
    const documents = () => store.documents
    const newRef = (workspaceId = `\\ws ${randomUUID()}`): DocumentRef => ({ workspaceId, id: `doc-${randomUUID()}` })
    const once = (request: string, more: Partial<OnceWrite> = {}): { readonly once: OnceWrite } => ({
      once: { request, digest: 'digest', answer: '{"text":"\\\\ \\u0000 \\ud800"}', sinceMs: 0, ...more },
    })
    const create = async (more: Partial<DocumentWrite> = {}, ref = newRef()) =>
      written(await documents().write(creation(ref, '{}', more)))
    const remembered = ({ workspaceId }: DocumentRef, request: string, sinceMs = 0) =>
      documents().remembered(workspaceId, { request, sinceMs })

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[TOOL-22] a write with a request id is remembered, also after a restart, and is not written again', async () => {
      const head = await create(once('born'))
      const next = written(await documents().write(change(head, '{"n":2}', once('cold', { answer: '{}' }))))
      const log = {
        kind: 'live',
        lastSeq: 0,
        append: [{ actor: 'ada', update: update(1) }],
        bodyLater: { grownBytes: 0 },
      } as const
      const live = written(await documents().write({ ...change(next, ''), set: {}, log, ...once('live', { digest: 'other' }) }))
      await store.reopen()
      const first = { digest: 'digest', answer: '{"text":"\\\\ \\u0000 \\ud800"}', version: 1 }
      expect(await remembered(head, 'born')).toEqual(first)
      expect(await remembered(head, 'cold')).toEqual({ digest: 'digest', answer: '{}', version: 2 })
      expect(await remembered(head, 'live')).toEqual({ ...first, digest: 'other', version: 3 })
      // A repeat gets the first answer also for another document, with other arguments, and when the write itself is no longer possible.
      const again = newRef(head.workspaceId)
      expect(await documents().write(creation(again, '{}', once('born', { digest: 'new' })))).toEqual({ kind: 'repeated', first })
      expect(await documents().write(change(head, '{}', once('born')))).toEqual({ kind: 'repeated', first })
      expect(await documents().write({ ...change(live, ''), set: {}, log, ...once('born') })).toEqual({ kind: 'repeated', first })
      expect(await documents().state(again)).toEqual({ kind: 'absent' })
      expect(await documents().state(head)).toEqual({ kind: 'document', head: live })
    })

    it('[TOOL-22] a request id belongs to one workspace', async () => {
      const head = await create(once('r'))
      const other = newRef()
      expect(await remembered(other, 'r')).toBeNull()
      await create(once('r'), other)
      await documents().remove(head, head.key, 5)
      expect(await remembered(head, 'r')).toMatchObject({ version: 1 })
    })

    it('[TOOL-22] a refused write is not remembered', async () => {
      const head = await create()
      expect((await documents().write(creation(head, '{}', once('conflict')))).kind).toBe('conflict')
      const over = change(head, '{"larger":1}', { quotaBytes: 1, ...once('quota') })
      expect((await documents().write(over)).kind).toBe('over-quota')
      await store.updates.append([{ key: head.key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
      expect((await documents().write(change(head, '{}', once('unsettled')))).kind).toBe('unsettled')
      for (const request of ['conflict', 'quota', 'unsettled']) expect(await remembered(head, request)).toBeNull()
    })

    it('[TOOL-22] of simultaneous writes with one request id one is stored, and the others get its answer', async () => {
      const { workspaceId } = newRef()
      const outcomes = await Promise.all(
        [1, 2, 3, 4].map((i) => documents().write(creation(newRef(workspaceId), '{}', once('r', { answer: `[${i}]` })))),
      )
      const [head] = await documents().list(workspaceId)
      const winner = outcomes.findIndex((outcome) => outcome.kind === 'written')
      expect(outcomes[winner]).toEqual({ kind: 'written', head })
      const first = { digest: 'digest', answer: `[${winner + 1}]`, version: 1 }
      expect(outcomes.toSpliced(winner, 1)).toEqual(Array(3).fill({ kind: 'repeated', first }))
      expect(await documents().list(workspaceId)).toHaveLength(1)
    })

    it('[TOOL-22] an expired request id can be used again, and expired ones are removed in bounded batches', async () => {
      const head = await create({ nowMs: -9_000, ...once('r', { sinceMs: -10_000 }) })
      expect(await remembered(head, 'r', -9_001)).toMatchObject({ version: 1 })
      expect(await remembered(head, 'r', -9_000)).toBeNull()
      const later = { nowMs: -8_000, ...once('r', { sinceMs: -9_000, answer: '2' }) }
      const next = written(await documents().write(change(head, '{"n":2}', later)))
      expect(await remembered(head, 'r', -9_000)).toEqual({ digest: 'digest', answer: '2', version: 2 })
      expect(textOf((await documents().read(head))?.body)).toBe('{"n":2}')
      await documents().write(change(next, '{"n":3}', { nowMs: -7_000, ...once('s', { sinceMs: -9_000 }) }))
      await create({ nowMs: -7_500, ...once('s', { sinceMs: -9_000 }) })
      expect(await documents().purgeRemembered(-7_000, 1)).toBe(1)
      expect(await documents().purgeRemembered(-7_000, 5)).toBe(1)
      expect(await documents().purgeRemembered(-7_000, 5)).toBe(0)
      expect([await remembered(head, 'r', -9_000), await remembered(head, 's', -9_000)]).toMatchObject([null, { version: 3 }])
    })

    it('[TOOL-22] each workspace keeps only its newest request ids', async () => {
      const ref = newRef()
      await create({ nowMs: 1, ...once('oldest') }, ref)
      await create({ nowMs: 2, ...once('second') }, newRef(ref.workspaceId))
      const more = (from: number, below: number) =>
        Array.from({ length: below - from }, (_, i) =>
          creation(newRef(ref.workspaceId), '{}', { nowMs: 3, ...once(`r${from + i}`) }),
        )
      await store.remember(more(0, MOST - 5))
      for (const write of more(MOST - 5, MOST - 2)) written(await documents().write(write))
      expect(await remembered(ref, 'oldest')).toMatchObject({ version: 1 })
      for (const write of more(MOST - 2, MOST - 1)) written(await documents().write(write))
      expect(await remembered(ref, 'oldest')).toBeNull()
      for (const request of ['second', 'r0', `r${MOST - 2}`]) expect(await remembered(ref, request)).toMatchObject({ version: 1 })
    })
  })
}
