import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import { NO_LIMITS } from '../access/testing/no-limits.ts'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { ChangeRecord, MOST_CHANGES } from './change-record.ts'
import { createChangeRecords } from './change-records.ts'

const ANN: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }
const BODY = {
  name: 'Test',
  pages: [{ id: 'c', name: 'Canvas', shapes: [{ id: 's1', type: 'rect', x: 1 }] }],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: '<p id="blk-1">one</p><p id="blk-2">two</p>' }],
}

const NOTHING = { pages: [], changes: [], blind: 'warn' } as const

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(async () => relay?.[Symbol.asyncDispose]())

let made = 0
async function create(): Promise<string> {
  const id = `noted-${++made}`
  await put(id, BODY)
  return id
}

const put = (id: string, body: object) => relay.call('PUT', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member' }, body })
const refOf = (id: string) => ({ workspaceId: 'default', id })
const set = (content: string) => ({ pageId: 'p', id: 'blk-1', content, format: 'html' as const })
const edit = (id: string, content: string, given: object = {}) =>
  relay.documents.edit(ANN, {
    id,
    edit: 'set_prose',
    args: set(content),
    expectedVersion: null,
    dryRun: false,
    agent: null,
    writer: { author: { who: { id: 'ann', kind: 'agent', name: 'Bot' }, caller: 'caller-1' }, seen: NOTHING, wrote() {} },
    ...given,
  })

describe('the record of changes of a cold document', () => {
  it('[AG-20] a held record names what a tool wrote and what a PUT replaced, each with its author', async () => {
    const id = await create()
    const release = relay.records.hold(refOf(id))
    const record = relay.records.of(refOf(id))
    await edit(id, '<p>by a tool</p>')
    const [first] = record?.since(0, 'other') ?? []
    expect(first).toMatchObject({ kind: 'block', pageId: 'p', id: 'blk-1', isRemoved: false, caller: 'caller-1' })
    expect(first?.who).toEqual({ id: 'ann', kind: 'agent', name: 'Bot' })
    const shapes = [{ id: 's2', type: 'rect', x: 1 }]
    await put(id, {
      ...BODY,
      pages: [{ ...BODY.pages[0], shapes }],
      richTextPages: [{ ...BODY.richTextPages[0], content: '<p id="blk-2">2</p>' }],
    })
    const person = { id: 'ann', kind: 'person' }
    expect(record?.since(1, 'caller-1').map(({ kind, id: name, isRemoved, who }) => [kind, name, isRemoved, who])).toEqual([
      ['shape', 's1', true, person],
      ['shape', 's2', false, person],
      ['block', 'blk-1', true, person],
      ['block', 'blk-2', false, person],
    ])
    release()
  })

  it('[AG-20] dry runs, refused and repeated writes are not recorded, and without a holder there is no record', async () => {
    const id = await create()
    await edit(id, '<p>unheard</p>')
    expect(relay.records.of(refOf(id))).toBeNull()
    const release = relay.records.hold(refOf(id))
    const record = relay.records.of(refOf(id))
    const once = { requestId: 'r', request: `once ${id}`, digest: 'd' }
    await edit(id, '<p>never</p>', { dryRun: true })
    await edit(id, '<p>never</p>', { expectedVersion: 99 })
    expect(record?.sequence).toBe(0)
    await edit(id, '<p>once</p>', { once })
    await edit(id, '<p>once</p>', { once })
    expect(record?.sequence).toBe(1)
    release()
    release()
    expect(relay.records.isHeld(refOf(id))).toBe(false)
  })

  it('[AG-20] documents with the same id in two workspaces have separate records, and a record ends with its last holder', () => {
    const records = createChangeRecords()
    const [one, two] = [
      { workspaceId: 'a', id: 'doc' },
      { workspaceId: 'b', id: 'doc' },
    ]
    const releases = [records.hold(one), records.hold(one)]
    const author = { who: { id: 'ann', kind: 'person' }, caller: null } as const
    const change = { kind: 'block', pageId: 'p', id: 'x', isRemoved: false } as const
    records.note(two, author, [change], 1)
    expect(records.of(two)).toBeNull()
    records.note(one, author, [change], 1)
    expect(records.of(one)?.sequence).toBe(1)
    releases[0]?.()
    expect(records.isHeld(one)).toBe(true)
    releases[1]?.()
    expect(records.isHeld(one)).toBe(false)
  })

  it('[AG-20] [AG-23] a record keeps the last 64 versions announced by other nodes, except those whose parts it noted', () => {
    const record = new ChangeRecord()
    const ann = { who: { id: 'ann', kind: 'person' }, caller: null } as const
    for (let version = 1; version <= 100; version++) record.noteElsewhere(ann, version, 0)
    expect(record.since(0, 'me')).toHaveLength(64)
    expect(record.since(0, 'me', 98)).toMatchObject([{ sequence: 100 }, { sequence: 99 }])
    record.note(ann, [{ kind: 'block', pageId: 'p', id: 'b', isRemoved: false }], 0, 100)
    expect(record.since(0, 'me', 98)).toMatchObject([{ kind: 'block' }, { kind: 'document', sequence: 99 }])
    expect([record.explains(99, 100), record.explains(101, 98)]).toEqual([true, false])
  })

  it('[AG-20] a record keeps the last 4,096 changed blocks, each with its last author', () => {
    const record = new ChangeRecord()
    const by = (id: string) => ({ who: { id, kind: 'person' }, caller: null }) as const
    const change = (id: number) => ({ kind: 'block', pageId: 'p', id: String(id), isRemoved: false }) as const
    for (let i = 0; i <= MOST_CHANGES; i++) record.note(by('ann'), [change(i)], i)
    record.note(by('ben'), [change(7)], 5_000)
    expect(record.since(0, '')).toHaveLength(MOST_CHANGES)
    expect(record.last(change(0))).toBeUndefined()
    expect(record.last(change(7))).toMatchObject({ who: { id: 'ben' }, atMs: 5_000 })
    expect(record.since(record.sequence - 1, '').map(({ id }) => id)).toEqual(['7'])
  })
})
