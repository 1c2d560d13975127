import { afterAll, beforeAll, describe, expect, it, vitest } from 'vitest'
import { change, written } from '../documents/testing/document-writes.ts'
import { type Answer, noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { RecoveryStore } from './recovery-store.port.ts'

let relay: RestRelay
/** The calls that the live side received, in order. */
const live: string[] = []
const whenSettled = new Map<string, () => Promise<unknown>>()
/** Functions by document id; each runs between the last check of its document and the restore. */
const beforeRestore = new Map<string, () => Promise<unknown>>()
const spoiled = new Set<string>()

beforeAll(async () => {
  relay = await startRestRelay({
    residents: {
      ...noResidents,
      async settle(ref) {
        live.push(`settle ${ref.id}`)
        await whenSettled.get(ref.id)?.()
      },
      async drop(ref) {
        live.push(`drop ${ref.id}`)
        if (ref.id === 'stuck') throw new Error('the worker is gone')
        return []
      },
      encode: async (ref) => (ref.id === 'gone' ? null : { version: 300, update: Uint8Array.of(1, 2, 3) }),
    },
    // Calls `beforeRestore`, and returns points of `spoiled` with damage that their checksum does not reveal.
    recovery: (real: RecoveryStore): RecoveryStore => ({
      ...real,
      async restore(request) {
        await beforeRestore.get(request.source.id)?.()
        return real.restore(request)
      },
      async read(key, pointId) {
        const point = await real.read(key, pointId)
        return point.kind === 'point' && spoiled.has(pointId) ? { ...point, body: Buffer.from('{"name":"x"') } : point
      },
    }),
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const ben = { sub: 'ben', role: 'member' }
const vi = { sub: 'vi', role: 'member' }
const SHARES = [
  { userId: 'ben', permission: 'edit' },
  { userId: 'vi', permission: 'view' },
]
const LIST_FORM = { pages: [{ id: 'c', name: 'C', shapes: [{ id: 's', type: 'text' }] }], richTextPages: [] }
const KEYED_FORM = {
  pages: { c: { id: 'c', name: 'C', shapes: { s: { id: 's', type: 'text' } }, shapeOrder: ['s'] } },
  pageOrder: ['c'],
  richTextPages: { pages: {}, pageOrder: [] },
}

const call = (method: string, path: string, as: object = ann, body?: unknown): Promise<Answer> =>
  relay.call(method, `/api/docs/${path}`, { as, ...(body !== undefined && { body }) })
const put = (id: string, body: object) => call('PUT', id, ann, body)
const capture = (id: string, as = ann) => call('POST', `${id}/recovery/capture`, as)
const pointsOf = async (id: string): Promise<readonly Record<string, unknown>[]> =>
  (await call('GET', `${id}/recovery`)).json.recoveryPoints as Record<string, unknown>[]
const newest = async (id: string): Promise<string> => String((await pointsOf(id))[0]?.id)
const read = (id: string, pointId: string, as = ann) => call('GET', `${id}/recovery/${pointId}`, as)
const restore = (id: string, pointId: string, as = ann) => call('POST', `${id}/recovery/${pointId}/restore`, as)
/** Creates a document with one point whose content is exactly this body, and changes the document afterwards. */
async function withPoint(id: string, body: object): Promise<string> {
  await put(id, { sharedWith: SHARES, collectionId: 'col', ...body })
  expect((await capture(id)).json).toEqual({ captured: true })
  await put(id, { name: 'Later' })
  return newest(id)
}

describe('listing and capturing', () => {
  it('[REST-26] [LIFE-20] points are listed newest first, and a state equal to the newest point makes no new one', async () => {
    const before = Date.now()
    await put('listed', { name: 'One' })
    expect((await call('GET', 'listed/recovery')).json).toEqual({ recoveryPoints: [] })
    expect((await capture('listed')).json).toEqual({ captured: true })
    expect((await capture('listed')).json).toEqual({ captured: false })
    await put('listed', { name: 'Two' })
    expect((await capture('listed')).json).toEqual({ captured: true })
    const answer = await call('GET', 'listed/recovery')
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    const points = answer.json.recoveryPoints as { id: string; createdAt: number; serverVersion: number; sizeBytes: number }[]
    expect(points).toMatchObject([{ serverVersion: 2, reason: 'demand' }, { serverVersion: 1 }])
    for (const { id, createdAt, serverVersion, sizeBytes } of points) {
      expect(id).toBe(`${createdAt}-v${serverVersion}`)
      expect(createdAt).toBeGreaterThanOrEqual(before)
      expect(sizeBytes).toBeGreaterThan(10)
    }
  })

  it('[LIFE-19] [LIFE-18] REST writes make points before the first change and before a document is emptied', async () => {
    await put('cold', LIST_FORM)
    await put('cold', { ...LIST_FORM, name: 'More' })
    expect(await pointsOf('cold')).toHaveLength(1)
    await put('cold', { ...LIST_FORM, name: 'Even more' })
    expect(await pointsOf('cold')).toHaveLength(1)
    await put('cold', { pages: [] })
    expect(await pointsOf('cold')).toMatchObject([{ serverVersion: 3 }, { serverVersion: 1 }])
    expect((await read('cold', await newest('cold'))).json).toMatchObject({ name: 'Even more', serverVersion: 3 })
  })

  it('[LIFE-10] [LIFE-19] [OPS-7] a capture stores the live document first, and is audited', async () => {
    await put('resident', { name: 'Before' })
    whenSettled.set('resident', () => put('resident', { name: 'Live' }))
    await capture('resident')
    whenSettled.delete('resident')
    const pointId = await newest('resident')
    expect((await read('resident', pointId)).json).toMatchObject({ name: 'Live' })
    expect(relay.logLines).toContainEqual(
      expect.objectContaining({ event: 'document.captured', audit: true, docId: 'resident', sub: 'ann', pointId }),
    )
  })
})

describe('reading a point', () => {
  it.each([
    ['list', LIST_FORM],
    ['keyed', KEYED_FORM],
  ])('[REST-26] [BODY-2] [BODY-7] a point in %s form has title, body and shares of its time', async (form, pages) => {
    const id = `read-${form}`
    const body = { name: 'Then', title: 'Then', ...pages, odd: { __proto__: null, deep: [1, { a: null }] }, createdAt: 5 }
    const pointId = await withPoint(id, body)
    await call('PUT', `${id}/collection`, ann, { collectionId: 'moved' })
    const answer = await read(id, pointId)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    expect(answer.json).toEqual({
      ...JSON.parse(JSON.stringify(body)),
      ...{ id, version: 1, serverVersion: 1, ownerId: 'ann', ownerName: 'ann', isRelayDocument: true },
      ...{ collectionId: 'col', sharedWith: SHARES },
    })
    expect((await call('GET', id)).json).toMatchObject({ name: 'Later', serverVersion: 3 })
  })

  it('[CFG-2] for editor clients a point and the document restored from it have the `version` of the point', async () => {
    await using editor = await startRestRelay({ editorClient: true })
    const request = (method: string, path: string, body?: object) =>
      editor.call(method, `/api/docs/${path}`, { as: ann, ...(body && { body }) })
    await request('PUT', 'own', { version: 7 })
    await request('PUT', 'own', { version: 8, name: 'Later' })
    const [point] = (await request('GET', 'own/recovery')).json.recoveryPoints as { id: string }[]
    expect((await request('GET', `own/recovery/${point?.id}`)).json).toMatchObject({ version: 7, serverVersion: 1 })
    const { newDocId } = (await request('POST', `own/recovery/${point?.id}/restore`)).json
    expect((await request('GET', String(newDocId))).json).toMatchObject({ version: 7, serverVersion: 1 })
  })

  it('[PERM-7] at level view a point shows only the share of the caller', async () => {
    const pointId = await withPoint('shown', { name: 'Shown' })
    expect((await read('shown', pointId, ben)).json.sharedWith).toEqual(SHARES)
    expect((await read('shown', pointId, vi)).json.sharedWith).toEqual([SHARES[1]])
  })

  it.each(['x', '1', '1-v', '-v1', '1-v0', '01-v1', '1-v1x', 'v1-1', '1-v-1', '9999999999999999-v1', '1.5-v1'])(
    '[REST-26] the malformed id %s answers 400',
    async (pointId) => {
      for (const answer of [await read('any', pointId), await restore('any', pointId)]) {
        expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_ID', 'pointId'])
      }
    },
  )

  it('[REST-6] unknown points, unknown documents and foreign workspaces answer 404', async () => {
    const pointId = await withPoint('known', { name: 'Known' })
    await put('other', { name: 'Other' })
    for (const answer of [await read('known', '5-v1'), await restore('known', '5-v1'), await read('other', pointId)]) {
      expect([answer.status, answer.json.errorCode]).toEqual([404, 'NOT_FOUND'])
    }
    const foreign = { ...ann, workspace: 'elsewhere' }
    const unknown = (await read('never', pointId)).json
    for (const as of [ann, foreign]) {
      const [id, path] = as === ann ? ['never', 'never'] : ['known', 'known']
      for (const answer of [
        await call('GET', `${path}/recovery`, as),
        await capture(id, as),
        await read(id, pointId, as),
        await restore(id, pointId, as),
      ]) {
        expect([answer.status, answer.json]).toEqual([404, unknown])
      }
    }
  })

  it('[REST-26] reading a point that cannot be decoded answers 422, and restoring it changes nothing', async () => {
    const pointId = await withPoint('spoiled', { name: 'Good' })
    spoiled.add(pointId)
    for (const answer of [await read('spoiled', pointId), await restore('spoiled', pointId)]) {
      expect([answer.status, answer.json.errorCode, answer.json.pointId]).toEqual([422, 'POINT_UNREADABLE', pointId])
    }
    spoiled.delete(pointId)
    expect((await call('GET', 'spoiled')).json).toMatchObject({ name: 'Later' })
  })

  it('[C1] a point of more than 1 MiB is decoded and restored like a short one', async () => {
    const shapes = Array.from({ length: 20_000 }, (_, i) => ({ id: `s${i}`, type: 'text', text: `shape number ${i}`, x: i }))
    const pointId = await withPoint('long', { pages: [{ id: 'c', shapes }] })
    const shown = await read('long', pointId)
    expect(shown.text.length).toBeGreaterThan(1_048_576)
    const { newDocId } = (await restore('long', pointId)).json
    const pagesOf = (answer: Answer) => answer.json.pages as { shapes: unknown[] }[]
    expect(pagesOf(await call('GET', String(newDocId)))[0]?.shapes).toEqual(shapes)
    expect(pagesOf(shown)[0]?.shapes).toEqual(shapes)
  })
})

describe('restoring', () => {
  it.each([
    ['list', LIST_FORM],
    ['keyed', KEYED_FORM],
  ])('[REST-27] [LIFE-22] [BODY-2] a restore in %s form makes a new document that replaces the source', async (form, pages) => {
    const id = `back-${form}`
    const pointId = await withPoint(id, { name: 'Plan', title: 'Plan', ...pages, odd: { kept: true } })
    const points = (await pointsOf(id)).length
    const answer = await restore(id, pointId)
    expect(answer.status).toBe(200)
    const newDocId = String(answer.json.newDocId)
    expect(answer.json).toEqual({ newDocId, serverVersion: 1 })
    expect(newDocId).toMatch(/^doc-[A-Za-z0-9]{12}$/)
    expect((await call('GET', newDocId)).json).toEqual({
      ...JSON.parse(JSON.stringify(pages)),
      ...{ id: newDocId, name: 'Plan (Restored)', title: 'Plan (Restored)', odd: { kept: true }, restoredFrom: id },
      ...{ version: 1, serverVersion: 1, ownerId: 'ann', ownerName: 'ann', isRelayDocument: true },
      ...{ collectionId: 'col', sharedWith: SHARES },
    })
    expect(await call('GET', id)).toMatchObject({ status: 404, json: { errorCode: 'NOT_FOUND', successor: newDocId } })
    expect((await put(id, {})).json).toMatchObject({ errorCode: 'TOMBSTONED', lastServerVersion: 2 })
    const ring = await pointsOf(newDocId)
    expect(ring).toHaveLength(points + 1)
    // A point from before the restore has the id of its present document.
    expect((await read(newDocId, pointId)).json).toMatchObject({ id: newDocId, name: 'Plan', serverVersion: 1 })
    expect((await read(newDocId, String(ring[0]?.id))).json).toMatchObject({ id: newDocId, name: 'Later', serverVersion: 2 })
  })

  it.each([
    [{}, { name: 'Untitled Document (Restored)' }],
    [{ name: 'N' }, { name: 'N (Restored)' }],
    [{ title: 'T' }, { title: 'T (Restored)' }],
  ])('[LIFE-22] [BODY-10] a restored document with %j gets the title %j', async (body, wanted) => {
    const id = `titled-${Object.keys(body).join('') || 'none'}`
    const pointId = await withPoint(id, body)
    const { name, title } = (await call('GET', String((await restore(id, pointId)).json.newDocId))).json
    expect({ name, title }).toEqual({ name: undefined, title: undefined, ...wanted })
  })

  it('[WS-52] [WS-54] [OPS-7] a restore drops the live copy, then sends the deletion and creation events, and is audited', async () => {
    const pointId = await withPoint('told', { name: 'Told' })
    relay.events.length = 0
    const { newDocId } = (await restore('told', pointId)).json
    expect(live.at(-1)).toBe('drop told')
    expect(relay.events).toMatchObject([
      { kind: 'deleted', actor: 'ann', before: { id: 'told', version: 2 }, tombstone: { id: 'told', lastServerVersion: 2 } },
      { kind: 'created', actor: 'ann', head: { id: newDocId, version: 1, facts: { title: 'Told (Restored)' } } },
    ])
    expect(relay.logLines).toContainEqual(
      expect.objectContaining({ event: 'document.restored', audit: true, docId: 'told', sub: 'ann', pointId, newDocId }),
    )
  })

  it('[OPS-8] a failing live copy does not undo a stored restore', async () => {
    const pointId = await withPoint('stuck', { name: 'Stuck' })
    expect((await restore('stuck', pointId)).status).toBe(200)
    expect(relay.events.slice(-2).map(({ kind }) => kind)).toEqual(['deleted', 'created'])
  })

  it('[LIFE-10] [LIFE-22] a change during a restore is captured too, and the restore is tried again', async () => {
    const pointId = await withPoint('racing', { name: 'Old' })
    let races = 3
    beforeRestore.set('racing', async () => {
      if (races-- <= 0) return
      // Writes as another process does: within one process, writes of a document wait for each other.
      const state = await relay.storage.documents.state({ workspaceId: 'default', id: 'racing' })
      if (state.kind !== 'document') throw new Error(state.kind)
      written(await relay.storage.documents.write(change(state.head, JSON.stringify({ name: `Race ${races}`, ...LIST_FORM }))))
    })
    const { newDocId } = (await restore('racing', pointId)).json
    const ring = await pointsOf(String(newDocId))
    expect((await read(String(newDocId), String(ring[0]?.id))).json.name).toBe('Race 0')
  })

  it('[LIFE-8] [LIFE-22] a restore waits for earlier writes of its document and delays later ones', async () => {
    const pointId = await withPoint('busy', { name: 'Old' })
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const turns = vitest.spyOn(relay.documents, 'inTurn')
    const before = relay.documents.inTurn({ workspaceId: 'default', id: 'busy' }, () => gate.promise)
    const restored = restore('busy', pointId).then(({ status }) => order.push(`restored ${status}`))
    await vitest.waitFor(() => expect(turns).toHaveBeenCalledTimes(2), 10_000)
    turns.mockRestore()
    const late = put('busy', { name: 'Late' }).then(({ status }) => order.push(`put ${status}`))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(order).toEqual([])
    gate.resolve()
    await Promise.all([before, restored, late])
    expect(order.sort()).toEqual(['put 410', 'restored 200'])
  })

  it('[LIFE-22] a restore succeeds over quota', async () => {
    await using small = await startRestRelay({ limits: { storageQuotaBytes: 3_000 } })
    const as = ann
    await small.call('PUT', '/api/docs/full', { as, body: { text: 'x'.repeat(2_500) } })
    await small.call('PUT', '/api/docs/full', { as, body: { text: '' } })
    await small.call('PUT', '/api/docs/other', { as, body: { text: 'x'.repeat(2_500) } })
    const points = await small.call('GET', '/api/docs/full/recovery', { as })
    const [point] = points.json.recoveryPoints as { id: string }[]
    expect((await small.call('POST', `/api/docs/full/recovery/${point?.id}/restore`, { as })).status).toBe(200)
    expect(await small.storage.documents.usedBytes('default')).toBeGreaterThan(5_000)
    const refused = await small.call('PUT', '/api/docs/third', { as, body: { text: 'x' } })
    expect(refused.json.errorCode).toBe('STORAGE_QUOTA')
  })

  it('[LIFE-22] R-4: of many simultaneous restores of one document one succeeds', async () => {
    const pointId = await withPoint('once', { name: 'Once' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => restore('once', pointId)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404, 404, 404])
    const titles = (await relay.call('GET', '/api/docs?q=Once', { as: ann })).list.map(({ title }) => title)
    expect(titles).toEqual(['Once (Restored)'])
  })
})

describe('rights', () => {
  const mia = { sub: 'mia', role: 'member' }
  const viewer = { sub: 'ann', role: 'viewer' }
  const boss = { sub: 'boss', role: 'owner' }
  const code = async (answer: Promise<Answer>) => (await answer).json.errorCode ?? (await answer).status

  it('[PERM-3] [PERM-4] level view reads points, level edit captures, level owner restores', async () => {
    const pointId = await withPoint('guarded', { name: 'G' })
    const outcomes = async (as: typeof ann) => [
      await code(call('GET', 'guarded/recovery', as)),
      await code(read('guarded', pointId, as)),
      await code(capture('guarded', as)),
    ]
    expect(await outcomes(ann)).toEqual([200, 200, 200])
    expect(await outcomes(ben)).toEqual([200, 200, 200])
    expect(await outcomes(boss)).toEqual([200, 200, 200])
    for (const as of [vi, viewer]) expect(await outcomes(as)).toEqual([200, 200, 'EDIT_FORBIDDEN'])
    expect(await outcomes(mia)).toEqual(['VIEW_FORBIDDEN', 'VIEW_FORBIDDEN', 'VIEW_FORBIDDEN'])
    const refusals = [ben, vi, viewer, mia].map((as) => code(restore('guarded', pointId, as)))
    expect(await Promise.all(refusals)).toEqual(['OWNER_REQUIRED', 'OWNER_REQUIRED', 'EDIT_FORBIDDEN', 'VIEW_FORBIDDEN'])
    const message = (await restore('guarded', pointId, ben)).json.error
    expect(message).toMatch(/^ERR_EDIT_FORBIDDEN: /)
    expect(await code(restore('guarded', pointId, boss))).toBe(200)
  })

  it('[LIFE-22] a workspace owner may restore a document of another owner', async () => {
    const pointId = await withPoint('owned', { name: 'O' })
    const { newDocId } = (await restore('owned', pointId, boss)).json
    expect((await call('GET', String(newDocId))).json).toMatchObject({ ownerId: 'ann', sharedWith: SHARES })
  })
})

describe('the live form of a document', () => {
  it('[REST-31] the live form is the magic bytes, the format, the version and one update', async () => {
    await put('form', { name: 'F', sharedWith: SHARES })
    const answer = await call('GET', 'form/ydoc', vi)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    expect(answer.headers.get('etag')).toBeNull()
    const expected = [0x44, 0x53, 0x4b, 0x59, 1, 0, 0, 0, 0x2c, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3]
    expect([...answer.bytes]).toEqual(expected)
    expect((await call('GET', 'form/ydoc', { sub: 'mia', role: 'member' })).json.errorCode).toBe('VIEW_FORBIDDEN')
    expect((await call('GET', 'never/ydoc')).json.errorCode).toBe('NOT_FOUND')
    await put('gone', {})
    expect((await call('GET', 'gone/ydoc')).json.errorCode).toBe('NOT_FOUND')
  })
})

describe('members of a document outside its body', () => {
  it('[LIFE-20] a document is captured again after a change of its collection alone', async () => {
    const id = 'beside-collection'
    await put(id, { name: 'Same' })
    await capture(id)
    await call('PUT', `${id}/collection`, ann, { collectionId: 'moved' })
    expect((await capture(id)).json).toEqual({ captured: true })
    expect((await capture(id)).json).toEqual({ captured: false })
  })

  it('[LIFE-20] a document is captured again after a change of its shares alone', async () => {
    const id = 'beside-shares'
    await put(id, { name: 'Same', sharedWith: [] })
    await capture(id)
    await put(id, { name: 'Same', sharedWith: SHARES })
    expect((await capture(id)).json).toEqual({ captured: true })
  })

  it('[REST-26] a point shows the shares of its time, and a restore keeps the current ones', async () => {
    const id = 'beside-restore'
    const earlier = [{ userId: 'zoe', permission: 'view' }]
    await put(id, { name: 'Then', sharedWith: earlier })
    await capture(id)
    const pointId = await newest(id)
    await put(id, { name: 'Now', sharedWith: SHARES })
    expect((await read(id, pointId)).json).toMatchObject({ name: 'Then', sharedWith: earlier })
    const restored = await call('POST', `${id}/recovery/${pointId}/restore`)
    expect((await call('GET', (restored.json as { newDocId: string }).newDocId)).json).toMatchObject({ sharedWith: SHARES })
  })
})
