import { afterEach, expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { Access } from '../../access/access.ts'
import type { EditInput } from '../../documents/edit.ts'
import { until } from '../testing/node-bench.ts'
import { type RestNodes, startRestNodes } from '../testing/rest-nodes.ts'
import type { TextEditor } from '../testing/text-editor.ts'

const ACCESS: Access = { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS }

let nodes: RestNodes
afterEach(async () => {
  await nodes[Symbol.asyncDispose]()
})

/**
 * Opens a document at the owner. The edge reads the document, and then a person at the owner types the title `typed`, which is not stored
 * yet.
 */
async function start(more: Parameters<typeof startRestNodes>[0] = {}): Promise<TextEditor> {
  nodes = await startRestNodes(more)
  const person = await nodes.opened('doc')
  await nodes.retitle(person, 'doc', 'first')
  expect((await get()).json).toMatchObject({ name: 'first', serverVersion: 2 })
  await nodes.retitle(person, 'doc', 'typed')
  return person
}

const get = (id = 'doc') => nodes.call('GET', `/api/docs/${id}`)
const put = (body: object, query = '') => nodes.call('PUT', `/api/docs/doc${query}`, { body })
const rename = (name: string, more: Partial<EditInput> = {}) =>
  nodes.relay.documents.edit(ACCESS, {
    id: 'doc',
    edit: 'rename_document',
    args: { name },
    expectedVersion: null,
    dryRun: false,
    agent: null,
    ...more,
  })
const titleOf = ({ doc }: TextEditor): unknown => doc.getMap('metadata').get('title')
const ownerOf = async (id = 'doc') => nodes.bench.ownership.ownerOf((await nodes.headOf(id)).key)?.owner
/** Returns a list that gets the kind of every message that reaches the owner from now on. */
function heardByOwner(): string[] {
  const heard: string[] = []
  nodes.owner.links.onMessage((_peer, { kind }) => heard.push(kind))
  return heard
}
/** Resolves when the edge has sent a message to the owner that is not delivered yet. */
async function isAsked(): Promise<void> {
  await until(() => nodes.bench.network.waiting(2, 1) > 0)
}

it('[LIFE-11] [LIFE-25] GET returns an edit that was just made at another node, with the version of that edit', async () => {
  await start()
  expect((await get()).json).toMatchObject({ name: 'typed', serverVersion: 3 })
})

it('[LIFE-13] a PUT is merged into a document that is live at another node, and its people see it', async () => {
  const person = await start()
  expect((await put({ name: 'put' })).json).toMatchObject({ serverVersion: 3 })
  await until(() => titleOf(person) === 'put')
  expect(await ownerOf()).toBe(1)
})

it('[REST-16] [LIFE-25] a PUT that expects an earlier version is refused by the owner, and nothing changes', async () => {
  const person = await start()
  const refused = await put({ name: 'put' }, '?expectedVersion=1')
  expect([refused.status, refused.json]).toMatchObject([409, { errorCode: 'VERSION_CONFLICT', currentVersion: 2 }])
  expect(titleOf(person)).toBe('typed')
  expect((await put({ name: 'put' }, '?expectedVersion=2')).status).toBe(200)
})

it('[LIFE-25] a body of more than 1 MiB goes to the owner and comes back unchanged', async () => {
  await start()
  const note = 'relay '.repeat(400_000)
  expect((await put({ name: 'long', note })).status).toBe(200)
  expect((await get()).json).toMatchObject({ name: 'long', note })
})

it('[CONC-4] [LIFE-25] a tool edits a document that is live at another node, and its people see it', async () => {
  const person = await start()
  expect(await rename('edited')).toMatchObject({ kind: 'edited', changed: true, head: { version: 3 } })
  await until(() => titleOf(person) === 'edited')
  expect(await ownerOf()).toBe(1)
})

it('[TOOL-20] an edit that expects an earlier version is refused by the owner, and nothing changes', async () => {
  const person = await start()
  expect(await rename('edited', { expectedVersion: 1 })).toMatchObject({ kind: 'refused', code: 'ERR_VERSION_CONFLICT' })
  expect([titleOf(person), (await get()).json['serverVersion']]).toEqual(['typed', 3])
})

it('[MCP-15] an edit whose caller gives up before the commit is not made by the owner', async () => {
  const person = await start()
  nodes.bench.delivers = false
  const caller = new AbortController()
  const edit = rename('edited', { signal: caller.signal })
  await isAsked()
  caller.abort(new Error('gave up'))
  nodes.bench.delivers = true
  await expect(edit).rejects.toThrow('gave up')
  expect([titleOf(person), (await get()).json]).toMatchObject(['typed', { name: 'typed', serverVersion: 3 }])
})

it('[LIFE-23] a deletion at one node ends the live document at its owner', async () => {
  await start()
  expect((await nodes.call('DELETE', '/api/docs/doc')).status).toBe(204)
  await until(() => !nodes.owner.bench.rooms.isResident({ workspaceId: 'default', id: 'doc' }))
  expect((await get()).status).toBe(404)
})

it('[TOOL-20] [CONC-7] a deletion that expects a version compares it with the version after the edits at the owner', async () => {
  await start()
  await expect(nodes.relay.documents.remove(ACCESS, 'doc', { expectedVersion: 2 })).rejects.toMatchObject({
    code: 'VERSION_CONFLICT',
    details: { currentVersion: 3 },
  })
  await nodes.relay.documents.remove(ACCESS, 'doc', { expectedVersion: 3 })
  expect((await get()).status).toBe(404)
})

it('[LIFE-22] a recovery point that is taken contains the edits at the owner, and its restore ends the live document there', async () => {
  await start()
  expect((await nodes.call('POST', '/api/docs/doc/recovery/capture')).json).toEqual({ captured: true })
  expect((await put({ name: 'later' })).status).toBe(200)
  const points = (await nodes.call('GET', '/api/docs/doc/recovery')).json['recoveryPoints'] as readonly { readonly id: string }[]
  const restored = await nodes.call('POST', `/api/docs/doc/recovery/${points[0]?.id}/restore`)
  const { name } = (await get(String(restored.json['newDocId']))).json
  expect([restored.status, name]).toEqual([200, 'typed (Restored)'])
  await until(() => !nodes.owner.bench.rooms.isResident({ workspaceId: 'default', id: 'doc' }))
})

it('[AG-71] a call is undone in a document that is live at another node, and its people see it', async () => {
  const person = await start()
  const edited = await rename('edited')
  if (edited.kind !== 'edited') throw new Error('nothing was edited')
  const { callId } = edited.effects
  const undone = await nodes.call('POST', `/api/v1/docs/doc/calls/${String(callId)}/undo`, { body: {} })
  expect([undone.status, undone.json]).toMatchObject([200, { changed: 1, kept: [], serverVersion: 4 }])
  await until(() => titleOf(person) === 'typed')
})

it('[REST-31] the Yjs state of a document that is live at another node contains the edits that were made there', async () => {
  await start()
  const { status, bytes } = await nodes.call('GET', '/api/docs/doc/ydoc')
  expect([status, Buffer.from(bytes).includes('typed')]).toEqual([200, true])
})

it('[LIFE-11] [LIFE-25] a list shows the titles that were typed at another node, and asks that node once for all documents', async () => {
  nodes = await startRestNodes()
  const ids = Array.from({ length: 8 }, (_, n) => `d${n}`)
  for (const id of ids) await nodes.retitle(await nodes.opened(id), id, `typed ${id}`)
  const heard = heardByOwner()
  const { list } = await nodes.call('GET', '/api/docs')
  expect(list.map(({ title }) => title).toSorted()).toEqual(ids.map((id) => `typed ${id}`))
  expect(heard).toEqual(['settle-all'])
})

it.each([[[1]], [[2]]])('[LIFE-29] a list is current when node %o runs the previous version', async (older) => {
  nodes = await startRestNodes({ older })
  for (const id of ['a', 'b']) await nodes.retitle(await nodes.opened(id), id, `typed ${id}`)
  const heard = heardByOwner()
  const { list } = await nodes.call('GET', '/api/docs')
  expect(list.map(({ title }) => title).toSorted()).toEqual(['typed a', 'typed b'])
  expect(heard.filter((kind) => kind === 'job')).toHaveLength(2)
})

it('[LIFE-8] a list has the stored titles of documents whose owner does not answer', async () => {
  const person = await start()
  await nodes.retitle(await nodes.opened('unread'), 'unread', 'typed')
  await nodes.retitle(person, 'doc', 'typed again')
  nodes.bench.delivers = false
  const { list } = await nodes.call('GET', '/api/docs')
  expect(list.map(({ title }) => title).toSorted()).toEqual(['first', 'unread'])
  expect(nodes.bench.network.waiting(2, 1)).toBe(1)
})

it('[LIFE-8] a list shows the stored titles when the link to the owner breaks while the owner is asked', async () => {
  await start()
  nodes.bench.delivers = false
  const listing = nodes.call('GET', '/api/docs')
  await isAsked()
  nodes.bench.network.cut(1, 2)
  expect((await listing).list).toMatchObject([{ title: 'first' }])
})

it('[LIFE-25] a read answers 503 with Retry-After instead of the stored version while the owner lives and has no link to this node', async () => {
  await start()
  nodes.bench.network.cut(1, 2)
  const refused = await get()
  expect([refused.status, refused.json['errorCode']]).toEqual([503, 'UNAVAILABLE'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  nodes.bench.network.heal(1, 2)
  expect((await get()).json).toMatchObject({ name: 'typed' })
})

it('[LIFE-11] [LIFE-25] a read that is under way when the link to the owner breaks answers 503 instead of the stored version', async () => {
  await start()
  nodes.bench.delivers = false
  const reading = get()
  await isAsked()
  nodes.bench.network.cut(1, 2)
  expect((await reading).status).toBe(503)
})

it('[LIFE-25] a read that is under way when the link breaks for a moment is answered', async () => {
  await start()
  nodes.bench.delivers = false
  const reading = get()
  await isAsked()
  nodes.bench.network.cut(1, 2)
  nodes.bench.network.heal(1, 2)
  nodes.bench.delivers = true
  expect((await reading).json).toMatchObject({ name: 'typed', serverVersion: 3 })
})

it('[LIFE-11] [LIFE-26] when the owner dies during a read, this node answers with everything that was acknowledged', async () => {
  await start()
  nodes.bench.delivers = false
  const reading = get()
  await isAsked()
  nodes.bench.crash(nodes.owner)
  nodes.bench.delivers = true
  expect((await reading).json).toMatchObject({ name: 'typed', serverVersion: 3 })
  expect(await ownerOf()).toBe(2)
})

it('[LIFE-6] [LIFE-25] a PUT that may have reached the owner before the link broke answers NOT_PERSISTED', async () => {
  await start()
  nodes.bench.delivers = false
  const putting = put({ name: 'put' })
  await isAsked()
  nodes.bench.network.cut(1, 2)
  const { status, json } = await putting
  expect([status, json['errorCode']]).toEqual([503, 'NOT_PERSISTED'])
})

it('[LIFE-25] a PUT that could not be sent to the owner answers UNAVAILABLE, and nothing is written', async () => {
  await start()
  nodes.bench.network.cut(1, 2)
  const { status, json } = await put({ name: 'put' })
  expect([status, json['errorCode']]).toEqual([503, 'UNAVAILABLE'])
  nodes.bench.network.heal(1, 2)
  expect((await get()).json).toMatchObject({ name: 'typed', serverVersion: 3 })
})

it('[TOOL-22] [LIFE-25] an edit with a request id that the owner committed before the link broke is answered and made only once', async () => {
  await start()
  nodes.bench.delivers = false
  const once = { requestId: 'r1', request: 'request 1', digest: 'd' }
  const editing = rename('edited', { once })
  await isAsked()
  nodes.bench.network.deliver(2, 1)
  await until(async () => (await nodes.headOf('doc')).version === 3)
  nodes.bench.network.cut(1, 2)
  expect(await editing).toMatchObject({ kind: 'repeated', version: 3 })
})

it('[LIFE-28] calls at a node succeed while the owner hands the document over to this node', async () => {
  const person = await start()
  const calls = [get(), put({ name: 'put' }), get()]
  const given = nodes.owner.bench.rooms.departures.handOver()
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
  await given
  // The first hand-over fails while a call is under way. When the first hand-over has succeeded, this second one does nothing.
  await nodes.owner.bench.rooms.departures.handOver()
  expect(await ownerOf()).toBe(2)
  await until(() => titleOf(person) === 'put')
  expect((await get()).json).toMatchObject({ name: 'put' })
})

it('[LIFE-28] an owner that is shutting down opens no document for another node, and that node becomes the owner', async () => {
  nodes = await startRestNodes()
  await nodes.call('PUT', '/api/docs/doc', { body: { name: 'doc' } })
  const { key } = await nodes.headOf('doc')
  await nodes.bench.ownership.of(1).acquire(key)
  await nodes.owner.bench.rooms.departures.handOver()
  const entered = await nodes.edge.bench.rooms.enter({
    ...(await nodes.headOf('doc')),
    owner: nodes.bench.ownership.ownerOf(key),
  })
  expect([entered.kind, await ownerOf()]).toEqual(['open', 2])
})
