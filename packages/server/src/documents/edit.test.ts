import { isOutdated } from '@docrelay/model/edit'
import type { EditArgs, EditName } from '@docrelay/model/edits'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { DocumentStore, DocumentWrite } from './document-store.port.ts'
import type { EditInput } from './edit.ts'
import type { EditOutcome, EditRequest } from './residents.port.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const ANN: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }
const PAGE = '<p id="blk-1">one</p><p id="blk-2">two</p>'
const BODY = {
  name: 'Test',
  pages: [],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: PAGE }],
  modifiedAt: 5,
  lastModifiedBy: 'nobody',
  version: 7,
}

let relay: RestRelay
let writes: DocumentWrite[] = []
/** Runs once, before the next write. */
let beforeWrite: ((store: DocumentStore) => Promise<unknown>) | null = null

beforeAll(async () => {
  relay = await startRestRelay({
    storageThread: true,
    store: (real) => ({
      ...real,
      async write(write) {
        writes.push(write)
        const interfere = beforeWrite
        beforeWrite = null
        await interfere?.(real)
        return real.write(write)
      },
    }),
  })
})
afterAll(async () => relay?.[Symbol.asyncDispose]())

let made = 0
async function create(body: object = BODY): Promise<string> {
  const id = `doc-${++made}`
  await relay.call('PUT', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' }, body })
  relay.events.length = 0
  writes = []
  return id
}

function input<N extends EditName>(id: string, edit: N, args: EditArgs<N>, given: Partial<EditInput> = {}): EditInput {
  return { id, edit, args, expectedVersion: null, dryRun: false, agent: null, ...given }
}

const set = (content: string, id = 'blk-2') => ({ pageId: 'p', id, content, format: 'html' as const })
const edit = (given: EditInput, access = ANN): Promise<EditOutcome> => relay.documents.edit(access, given)
const shown = async (id: string) => (await relay.call('GET', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' } })).json
const contentOf = async (id: string) => ((await shown(id)).richTextPages as { content: string }[])[0]?.content

/** Stores a new version, as another writer would. */
async function bump(store: DocumentStore, id: string): Promise<void> {
  const state = await store.state({ workspaceId: 'default', id })
  if (state.kind !== 'document') throw new Error('no document')
  const { key, version, workspaceId } = state.head
  const expect = { kind: 'document', key, version } as const
  const write = { ref: { workspaceId, id }, expect, set: { collectionId: `c${version}` }, bump: true, nowMs: 1, quotaBytes: null }
  await store.write({ ...write, log: { kind: 'none' } })
}

describe('edits of cold documents', () => {
  it('[CONC-3] [TOOL-15] [CONC-12] an edit is stored as the next version with time and author, and sends one event', async () => {
    const id = await create()
    const outcome = await edit(input(id, 'set_prose', set('<p>2</p>'), { expectedVersion: 1 }))
    expect(outcome).toMatchObject({ kind: 'edited', changed: true, head: { version: 2 }, result: { pageId: 'p', ok: true } })
    expect(await shown(id)).toMatchObject({ serverVersion: 2, lastModifiedBy: 'ann' })
    expect((await shown(id)).modifiedAt).toBeGreaterThan(5)
    expect(await contentOf(id)).toBe('<p id="blk-1">one</p><p id="blk-2">2</p>')
    expect(relay.events).toMatchObject([{ kind: 'updated', actor: 'ann', head: { id, version: 2, facts: { clientVersion: 7 } } }])
  })

  it('[PROSE-54] [TOOL-21] an edit that changes nothing and a dry run write nothing and send no event', async () => {
    const id = await create()
    expect(await edit(input(id, 'set_prose', set('<p id="blk-2">two</p>')))).toMatchObject({
      changed: false,
      head: { version: 1 },
    })
    const tried = await edit(input(id, 'set_prose', set('<p onclick="x">2</p>'), { dryRun: true }))
    expect(tried).toMatchObject({
      kind: 'edited',
      changed: true,
      head: { version: 1 },
      result: { blocks: [{ id: 'blk-2#hgyh', text: '2' }] },
    })
    expect([writes, relay.events]).toEqual([[], []])
  })

  it('[AG-72] an undo of a call that another undo took back meanwhile is tried once and writes nothing', async () => {
    const id = await create({ ...BODY, richTextPages: [{ id: 'p', name: 'P', content: `${PAGE}<ul><li><p>Item</p></li></ul>` }] })
    const removed = await edit(input(id, 'set_prose', { pageId: 'p', content: PAGE, format: 'html' }))
    if (removed.kind !== 'edited') throw new Error('nothing was removed')
    const callId = removed.effects.callId ?? ''
    const [call] = await relay.storage.calls.read(removed.head.key, [callId])
    const targets = [{ callId, record: new TextDecoder().decode(call?.record ?? undefined) }]
    writes = []
    const undo = () => edit(input(id, 'undo', { callId, targets }))
    expect(await undo()).toMatchObject({ kind: 'edited', changed: true, result: { undone: [callId] } })
    const late = await undo()
    expect([isOutdated(late), late, writes.length]).toEqual([true, expect.objectContaining({ kind: 'refused' }), 2])
    expect(await shown(id)).toMatchObject({ serverVersion: 3 })
  })

  it('[MCP-15] an edit aborted before the commit writes nothing; one aborted later is written', async () => {
    const id = await create()
    const caller = new AbortController()
    const given = input(id, 'set_prose', set('<p>2</p>'), { signal: caller.signal })
    const done = edit(given)
    const waiting = edit({ ...given, args: set('<p>3</p>') })
    await done
    caller.abort(new Error('gave up'))
    await expect(waiting).rejects.toThrow('gave up')
    expect(await contentOf(id)).toBe('<p id="blk-1">one</p><p id="blk-2">2</p>')
    expect(writes).toHaveLength(1)
  })

  it('[TOOL-8] [TOOL-20] [MCP-25] [MCP-27] a refused edit changes nothing and returns the facts of the refusal', async () => {
    const id = await create()
    const given = input(id, 'set_prose', set('<p>2</p>'))
    expect(await edit({ ...given, expectedVersion: 4 })).toMatchObject({
      code: 'ERR_VERSION_CONFLICT',
      facts: { expectedVersion: 4, serverVersion: 1 },
      message: 'The document is at version 1, not 4: read again what you change, then send that version.',
    })
    const bob = { ...ANN, sub: 'bob' }
    expect(await edit(given, bob)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', facts: { docId: id, role: 'member' } })
    expect(await edit({ ...given, dryRun: true }, { ...ANN, role: 'viewer' })).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    expect(await edit({ ...given, id: 'nowhere' })).toMatchObject({
      code: 'ERR_DOC_NOT_FOUND',
      facts: { docId: 'nowhere' },
      message: expect.stringContaining('list_documents') as string,
    })
    expect(await edit(given, { ...ANN, workspaceId: 'other' })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND', facts: { docId: id } })
    await relay.call('DELETE', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' } })
    expect(await edit(given)).toMatchObject({ code: 'ERR_DOC_NOT_FOUND', facts: { docId: id, deleted: true } })
    expect(writes).toEqual([])
  })

  it('[CONC-6] [CONC-10] after a lost race the edit reads the document again before it is computed and checked again', async () => {
    const id = await create()
    beforeWrite = (store) => bump(store, id)
    expect(await edit(input(id, 'set_prose', set('<p>2</p>')))).toMatchObject({
      kind: 'edited',
      head: { version: 3, collectionId: 'c1' },
    })
    beforeWrite = (store) => bump(store, id)
    expect(await edit(input(id, 'set_prose', set('<p>3</p>'), { expectedVersion: 3 }))).toMatchObject({
      code: 'ERR_VERSION_CONFLICT',
      facts: { expectedVersion: 3, serverVersion: 4 },
    })
    expect(await contentOf(id)).toContain('>2<')
  })

  it('[CONC-3] after five lost races an edit writes nothing and returns the number of attempts', async () => {
    const id = await create()
    const interfere = async (store: DocumentStore) => {
      await bump(store, id)
      beforeWrite = interfere
    }
    beforeWrite = interfere
    const outcome = await edit(input(id, 'set_prose', set('<p>2</p>')))
    beforeWrite = null
    expect(outcome).toMatchObject({ code: 'ERR_VERSION_CONFLICT', facts: { serverVersion: 6, attempts: 5 } })
    expect(await contentOf(id)).toBe(PAGE)
  })

  it('[CONC-5] edits that arrive together are all stored, one after the other', async () => {
    const id = await create()
    const all = Array.from({ length: 8 }, (_, i) => edit(input(id, 'insert_block', set(`<p>new ${i}</p>`))))
    const versions = (await Promise.all(all)).map((outcome) => (outcome.kind === 'edited' ? outcome.head.version : 0))
    expect(versions).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(await contentOf(id)).toMatch(/two.*new 7.*new 6.*new 0/)
  })

  it('[CONC-9] [LIFE-16] [TOOL-21] growth above size limit or quota is refused and counted; shrinking passes', async () => {
    const id = await create()
    const grow = input(id, 'insert_block', set('<p>more</p>'))
    const small = { ...ANN, limits: { ...NO_LIMITS, maxDocBytes: 100 } }
    const tooLarge = { code: 'ERR_DOC_TOO_LARGE', facts: { maxBytes: 100, source: 'config' } }
    expect(await edit(grow, small)).toMatchObject(tooLarge)
    expect(await edit({ ...grow, dryRun: true }, small)).toMatchObject(tooLarge)
    const poor = { ...ANN, limits: { ...NO_LIMITS, quotaBytes: 10 } }
    const addedBytes = '<p id=\\"blk-0123456789\\">more</p>'.length
    // The write also stamps the body: `modifiedAt` grows from 1 digit to 13, and `lastModifiedBy` shrinks from `nobody` to `ann`.
    const stamps = String(Date.now()).length - 1 - 3
    const overQuota = { code: 'ERR_STORAGE_QUOTA', facts: { addedBytes: addedBytes + stamps, quotaBytes: 10 } }
    expect(await edit(grow, poor)).toMatchObject(overQuota)
    writes = []
    expect(await edit({ ...grow, dryRun: true }, poor)).toMatchObject(overQuota)
    expect(writes).toEqual([])
    expect(await contentOf(id)).toBe(PAGE)
    const shrink = input(id, 'delete_block', { pageId: 'p', id: 'blk-2' })
    const both = { ...ANN, limits: { ...NO_LIMITS, maxDocBytes: 100, quotaBytes: 10 } }
    for (const dryRun of [true, false]) expect(await edit({ ...shrink, dryRun }, both)).toMatchObject({ kind: 'edited' })
    const { text } = await relay.metrics.render()
    expect(text).toMatch(/relay_quota_rejections_total\{[^}]*kind="doc_size"[^}]*\} 2/)
  })

  it('[CONC-13] an edit of a long document does not block the event loop', async () => {
    const blocks = Array.from({ length: 12_000 }, (_, i) => `<p id="blk-${i}">${'word '.repeat(30)}</p>`).join('')
    const id = await create({ ...BODY, richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: blocks }] })
    // The first edit starts the thread.
    await edit(input(id, 'set_prose', set('<p>first</p>', 'blk-5')))
    const longestTurnMs = async (text: string): Promise<number> => {
      let longest = 0
      let sinceTick = threadTime()
      const timer = setInterval(() => {
        longest = Math.max(longest, sinceTick())
        sinceTick = threadTime()
      }, 1)
      await edit(input(id, 'set_prose', set(`<p>${text}</p>`, 'blk-5')))
      clearInterval(timer)
      return longest
    }
    // Garbage collection or a busy machine may lengthen one of the three turns; an edit that blocks would lengthen all of them.
    const turns = [await longestTurnMs('second'), await longestTurnMs('third'), await longestTurnMs('fourth')]
    const longest = Math.min(...turns)
    expect(longest).toBeLessThan(100)
    expect(await contentOf(id)).toContain('<p id="blk-5">fourth</p>')
  })

  it('[YDOC-7] [BODY-10] an edit of the title stores its time, so that an older live title loses against it', async () => {
    const id = await create()
    const before = Date.now()
    const outcome = await edit(input(id, 'rename_document', { docId: id, name: 'Other' }))
    expect(outcome).toMatchObject({ kind: 'edited', head: { facts: { title: 'Other' } } })
    expect(outcome.kind === 'edited' && outcome.head.titleChangedAtMs).toBeGreaterThanOrEqual(before)
  })
})

describe('edits of open documents', () => {
  it('[CONC-4] [CONC-5] an edit of an open document runs on its live copy, in order with PUTs', async () => {
    const order: string[] = []
    const asked: EditRequest[] = []
    const late = () => new Promise((resolve) => setTimeout(resolve, 20))
    await using live = await startRestRelay({
      residents: {
        ...noResidents,
        isResident: () => true,
        put: async () => {
          order.push('put begins')
          await late()
          order.push('put ends')
          return 'not-resident'
        },
        edit: async (request) => {
          asked.push(request)
          order.push('edit')
          await late()
          return { kind: 'refused', code: 'ERR_PAGE_NOT_FOUND', message: 'No such page.', facts: {} }
        },
      },
    })
    const putting = live.call('PUT', '/api/docs/doc', { as: { sub: 'ann', role: 'member' }, body: BODY })
    while (order.length === 0) await late()
    const given = input('doc', 'set_prose', set('<p>2</p>'), { agent: { name: 'Scribe', color: '#112233' } })
    expect(await live.documents.edit(ANN, given)).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
    await putting
    expect(order).toEqual(['put begins', 'put ends', 'edit'])
    expect(asked).toMatchObject([{ ref: { workspaceId: 'default', id: 'doc' }, edit: 'set_prose', agent: { name: 'Scribe' } }])
  })
})
