import { expect, it } from 'vitest'
import { BODY, RoomFixture, put, setShape } from '../testing/room-fixture.ts'

const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 })
const { openRoom, joined, body, headOf, settle, putTo } = at

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string]
const referencesOf = async (head: Parameters<typeof body>[0]) => (await body(head)).blobReferences

it('[BLOB-2] after a live edit the blob references are exactly those of the live content', async () => {
  const { head, room } = await openRoom()
  const ann = await joined(room)
  setShape(ann, 'image', { blobRef: B })
  await settle(room)
  expect(await referencesOf(head)).toEqual([B])
  ann.doc.getMap('shapes:c1').delete('image')
  setShape(ann, 'link', { text: `see blob://${A}` })
  await settle(room)
  expect(await referencesOf(head)).toEqual([A])
  ann.doc.getMap('shapes:c1').delete('link')
  await settle(room)
  expect(await referencesOf(head)).toEqual([])
})

it('[BLOB-2] until the next live edit, the blob references are the list of the PUT and those in the content', async () => {
  const { head, room } = await openRoom()
  const ann = await joined(room)
  setShape(ann, 'image', { blobRef: B })
  const base = await headOf(head)
  await putTo(room, put(base, { ...BODY, blobReferences: [C], cover: { blobRef: A } }, { expectedVersion: base.version }))
  expect(await referencesOf(head)).toEqual([A, B, C])
  setShape(ann, 'more')
  await settle(room)
  expect(await referencesOf(head)).toEqual([A, B])
})

it('[LIFE-12] [BLOB-2] a settle without a change keeps the version and all stored blob references', async () => {
  const { head, room } = await openRoom(at.worker, { ...BODY, blobReferences: [C] })
  const ann = await joined(room)
  setShape(ann, 'passing')
  ann.doc.getMap('shapes:c1').delete('passing')
  expect(await settle(room)).toMatchObject({ version: head.version })
  expect(await referencesOf(head)).toEqual([C])
  expect(await headOf(head)).toMatchObject({ version: head.version })
})
