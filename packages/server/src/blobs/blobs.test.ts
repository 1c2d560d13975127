import { expect, it } from 'vitest'
import { writeFileSync } from 'node:fs'
import { collected, hashOf, someBytes } from './testing/blob-bytes.ts'
import { callerOf, refusalOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'

const open = blobWorkspaces()
const ann = callerOf()

it('[BLOB-6] every role of a workspace finds its blobs, and other workspaces do not', async () => {
  const { blobs, upload } = await open()
  const hash = await upload(ann, someBytes(10))
  const find = (access: typeof ann) => refusalOf(blobs.find(access, hash))
  expect(await find(callerOf({ sub: 'vic', role: 'viewer' }))).toBe('accepted')
  expect(await find(callerOf({ sub: 'eve', role: 'owner', workspaceId: 'other' }))).toBe('NOT_FOUND')
  expect(await refusalOf(blobs.find(ann, hashOf(someBytes(11))))).toBe('NOT_FOUND')
})

it('[BLOB-6] with private blobs only the uploader, the workspace owner and readers of a referencing document find a blob', async () => {
  const readers = { mayRead: (access: typeof ann) => Promise.resolve(access.sub === 'reader') }
  const { blobs, upload } = await open({ settings: { enforcePrivateBlobs: true }, deps: { readers } })
  const hash = await upload(ann, someBytes(10))
  const find = (given: Parameters<typeof callerOf>[0]) => refusalOf(blobs.find(callerOf(given), hash))
  expect(
    await Promise.all([
      find({ sub: 'ann' }),
      find({ sub: 'olga', role: 'owner' }),
      find({ sub: 'reader', role: 'viewer' }),
      find({ sub: 'bob' }),
      find({ sub: 'vic', role: 'viewer' }),
    ]),
  ).toEqual(['accepted', 'accepted', 'accepted', 'NOT_FOUND', 'NOT_FOUND'])
  await upload(callerOf({ sub: 'bob' }), someBytes(10))
  expect(await find({ sub: 'bob' })).toBe('accepted')
})

it('[BLOB-7] reading returns the bytes, or the requested range', async () => {
  const { blobs, upload } = await open()
  const bytes = someBytes(1_000)
  const delivery = await blobs.deliver(await blobs.find(ann, await upload(ann, bytes)))
  if (delivery.kind !== 'stream') throw new Error('no stream')
  expect(await collected(await delivery.open(null))).toEqual(bytes)
  expect(await collected(await delivery.open({ start: 10, end: 19 }))).toEqual(bytes.slice(10, 20))
})

it('[BLOB-3] [BLOB-8] a blob without all its bytes is not served whole, and a new upload repairs it', async () => {
  const { blobs, upload, files, store } = await open()
  const bytes = someBytes(1_000)
  const hash = await upload(ann, bytes)
  const found = () => blobs.find(ann, hash)
  const confirmed = async () => refusalOf(blobs.confirm(await found()))
  const served = async () => {
    const delivery = await blobs.deliver(await found())
    if (delivery.kind !== 'stream') throw new Error('no stream')
    return (await collected(await delivery.open(null)))?.byteLength
  }
  // A response of the recorded length is cut where the stored bytes end. It never ends as if it were complete.
  writeFileSync(files()[0] as string, bytes.slice(0, 10))
  expect([await served(), await confirmed()]).toEqual([10, 'NOT_FOUND'])
  await upload(ann, bytes)
  expect([await served(), await confirmed()]).toEqual([1_000, 'accepted'])
  await store.remove((await found()).object)
  expect([await refusalOf(served()), await confirmed()]).toEqual(['NOT_FOUND', 'NOT_FOUND'])
})
