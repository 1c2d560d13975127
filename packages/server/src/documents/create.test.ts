import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { Creation } from './create.ts'

let relay: RestRelay
const settled: string[] = []
beforeAll(async () => {
  relay = await startRestRelay({
    residents: {
      ...noResidents,
      isResident: ({ id }) => id === 'live',
      settle: async ({ id }, quietMs) => void settled.push(`${id} ${quietMs}`),
    },
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }

/** Makes a creation that takes its ids from `ids`. When `ids` has only three, further ids are `doc-4`, `page-5` and so on. */
function creation(ids: readonly string[], more: Partial<Creation> = {}): Creation {
  let next = 0
  return {
    title: 'T',
    ownerName: 'Ann',
    form: 'list',
    mint: (kind) => (kind === 'call' ? 'call-1' : (ids[next++] ?? `${kind}-${next}`)),
    ...more,
  }
}

const stored = async (id: string) => {
  const record = await relay.storage.documents.read({ workspaceId: 'default', id })
  return record === null
    ? null
    : { head: record.head, body: JSON.parse(Buffer.from(record.body).toString()) as Record<string, unknown> }
}

describe('creating a blank document', () => {
  it('[BODY-12] [WS-53] [OPS-7] a blank document is stored, sends an event and is audited', async () => {
    const made = await relay.documents.create(ann, creation(['doc-a', 'page-c', 'page-p']))
    expect(made).toEqual({
      kind: 'created',
      id: 'doc-a',
      version: 1,
      canvasPageId: 'page-c',
      prosePageId: 'page-p',
      callId: 'call-1',
    })
    expect(await stored('doc-a')).toMatchObject({
      head: { ownerId: 'ann', ownerName: 'Ann', facts: { title: 'T', canvasPageCount: 1, prosePageCount: 1 } },
      body: {
        id: 'doc-a',
        name: 'T',
        title: 'T',
        pages: [{ id: 'page-c' }],
        richTextPages: [{ id: 'page-p', content: '<p></p>' }],
      },
    })
    expect(relay.events.at(-1)).toMatchObject({ kind: 'created', head: { id: 'doc-a' }, actor: 'ann' })
    const audit = relay.logLines.filter(({ event, docId }) => event === 'document.created' && docId === 'doc-a')
    expect(audit).toMatchObject([{ audit: true, sub: 'ann', workspace: 'default', version: 1 }])
  })

  it('[CFG-2] a blank document has the requested keyed form', async () => {
    await relay.documents.create(ann, creation(['doc-k', 'page-c', 'page-p'], { form: 'keyed' }))
    expect((await stored('doc-k'))?.body).toMatchObject({ pageOrder: ['page-c'], richTextPages: { pageOrder: ['page-p'] } })
  })

  it('[TOOL-12] a new document never gets the id of an existing or deleted one', async () => {
    await relay.documents.create(ann, creation(['doc-x', 'c', 'p']))
    await relay.documents.create(ann, creation(['doc-y', 'c', 'p']))
    await relay.documents.remove(ann, 'doc-y')
    const made = await relay.documents.create(ann, creation(['doc-x', 'c', 'p', 'doc-y', 'c', 'p', 'doc-z', 'c', 'p']))
    expect(made).toMatchObject({ kind: 'created', id: 'doc-z' })
    expect((await stored('doc-x'))?.head.version).toBe(1)
    await expect(relay.documents.create(ann, { ...creation([]), mint: () => 'doc-x' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
  })

  it('[MCP-15] a creation aborted before it is stored stores nothing', async () => {
    const caller = new AbortController()
    const events = relay.events.length
    const given = creation(['doc-left', 'c', 'p'], { signal: caller.signal })
    const mint: Creation['mint'] = (kind) => {
      caller.abort(new Error('the caller left'))
      return given.mint(kind)
    }
    await expect(relay.documents.create(ann, { ...given, mint })).rejects.toThrow('the caller left')
    expect([await stored('doc-left'), relay.events.length]).toEqual([null, events])
  })

  it('[PERM-3] [LIFE-16] [CONC-9] creating is refused to viewers and above the limits, and then no document exists', async () => {
    const count = relay.events.length
    const refused = (access: Partial<Access>) => relay.documents.create({ ...ann, ...access }, creation(['doc-no', 'c', 'p']))
    await expect(refused({ role: 'viewer' })).rejects.toMatchObject({ code: 'EDIT_FORBIDDEN' })
    await expect(refused({ limits: { ...NO_LIMITS, maxDocBytes: 10 } })).rejects.toMatchObject({
      code: 'DOC_TOO_LARGE',
      details: { maxBytes: 10 },
    })
    await expect(refused({ limits: { ...NO_LIMITS, quotaBytes: 10 } })).rejects.toMatchObject({
      code: 'STORAGE_QUOTA',
      details: { quotaBytes: 10 },
    })
    expect(await stored('doc-no')).toBeNull()
    expect(relay.events).toHaveLength(count)
  })
})

describe('deleting with conditions', () => {
  it('[TOOL-20] a deletion with expectedVersion is refused for another version', async () => {
    await relay.documents.create(ann, creation(['doc-v', 'c', 'p']))
    await expect(relay.documents.remove(ann, 'doc-v', { expectedVersion: 2 })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
      details: { currentVersion: 1 },
    })
    expect(await stored('doc-v')).not.toBeNull()
    await relay.documents.remove(ann, 'doc-v', { expectedVersion: 1 })
    expect(await stored('doc-v')).toBeNull()
  })

  it('[CONC-7] a deletion with expectedVersion settles live edits first, and pauses new ones until it is done', async () => {
    await relay.documents.create(ann, creation(['live', 'c', 'p']))
    await relay.documents.remove(ann, 'live', { expectedVersion: 1 })
    expect(settled).toEqual(['live 1000'])
  })

  it('[TOOL-21] a dry run of a deletion makes every check and deletes nothing', async () => {
    await relay.documents.create(ann, creation(['doc-d', 'c', 'p']))
    const count = relay.events.length
    await relay.documents.remove(ann, 'doc-d', { dryRun: true, expectedVersion: 1 })
    const bob = { ...ann, sub: 'bob' }
    await expect(relay.documents.remove(bob, 'doc-d', { dryRun: true })).rejects.toMatchObject({ code: 'VIEW_FORBIDDEN' })
    await expect(relay.documents.remove(ann, 'doc-none', { dryRun: true })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await stored('doc-d')).not.toBeNull()
    expect(relay.events).toHaveLength(count)
  })

  it('[MCP-15] a deletion aborted while it waits deletes nothing', async () => {
    await relay.documents.create(ann, creation(['doc-g', 'c', 'p']))
    const caller = new AbortController()
    const gone = relay.documents.remove(ann, 'doc-g', { signal: caller.signal })
    caller.abort(new Error('gave up'))
    await expect(gone).rejects.toThrow('gave up')
    expect(await stored('doc-g')).not.toBeNull()
  })
})
