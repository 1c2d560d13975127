import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { describeBlobStoreContract } from '../blobs/blob-store.contract.ts'
import { collected, hashOf, inPieces, keepBytes, receiveBytes, someBytes } from '../blobs/testing/blob-bytes.ts'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { type FsBlobs, openFsBlobs } from './fs-blobs.ts'
import { patience } from '../kernel/testing/patience.ts'

const GIB = 1_073_741_824
const open = (root: string, maxTempBytes = 2 * GIB) =>
  openFsBlobs({ root, maxTempBytes, random: systemRandom, log: silentLogger })
const filesUnder = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const folders: string[] = []
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'relay-blobs-'))
  folders.push(path)
  return path
}
const opened = async (): Promise<{ root: string; store: FsBlobs }> => {
  const root = join(folder(), 'blobs')
  return { root, store: await open(root) }
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

describeBlobStoreContract('files', async () => {
  const root = mkdtempSync(join(tmpdir(), 'relay-blobs-'))
  let store = await open(root)
  return {
    get store() {
      return store
    },
    everything: async () => filesUnder(root),
    async reopen() {
      store = await open(root)
    },
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true })
    },
  }
})

it('[BLOB-3] blob files are named by their hash and readable only by the service', async () => {
  const { root, store } = await opened()
  const bytes = someBytes(10)
  const hash = hashOf(bytes)
  await keepBytes(store, bytes)
  const path = join(root, hash.slice(0, 2), hash.slice(2))
  const modes = [root, join(root, 'tmp'), join(root, hash.slice(0, 2)), path].map((name) => statSync(name).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600])
  expect(filesUnder(root)).toEqual([path])
})

it('[BLOB-19] a failing disk answers UNAVAILABLE and never a missing blob', async () => {
  const { root, store } = await opened()
  const bytes = someBytes(10)
  const hash = hashOf(bytes)
  mkdirSync(join(root, hash.slice(0, 2)))
  mkdirSync(join(root, hash.slice(0, 2), hash.slice(2)))
  await expect(store.read(hash, null).then(collected)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(keepBytes(store, bytes)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  rmSync(join(root, hash.slice(0, 2)), { recursive: true })
  writeFileSync(join(root, hash.slice(0, 2)), 'no folder')
  const actions = [() => store.size(hash), () => store.read(hash, null), () => store.remove(hash), () => keepBytes(store, bytes)]
  for (const action of actions) await expect(action()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(filesUnder(join(root, 'tmp'))).toEqual([])
})

it('[BLOB-3] an entry of the upload folder that cannot be removed does not stop the removal of others', async () => {
  const { root, store } = await opened()
  mkdirSync(join(root, 'tmp', 'lost+found'))
  for (const name of ['a', 'z']) writeFileSync(join(root, 'tmp', name), 'half an upload')
  await expect(store.clearAbandoned()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(readdirSync(join(root, 'tmp'))).toEqual(['lost+found'])
})

it('[OPS-2] the check of the blob store finds a folder that cannot be written to', async () => {
  const { root, store } = await opened()
  rmSync(join(root, 'tmp'), { recursive: true })
  await expect(store.check()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(receiveBytes(store, someBytes(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('[BLOB-3] a blob folder that cannot be created is reported with its path and error code', async () => {
  const file = join(folder(), 'file')
  writeFileSync(file, 'no folder')
  await expect(open(join(file, 'blobs'))).rejects.toThrow(/^the folder of the blobs cannot be made at .*blobs.tmp: ENOTDIR$/)
  const deep = join(folder(), 'a', 'b', 'c')
  await keepBytes(await open(deep), someBytes(10))
  expect(filesUnder(deep)).toHaveLength(1)
})

it('[BLOB-3] uploading a blob again repairs its truncated file', async () => {
  const { root, store } = await opened()
  const bytes = someBytes(1_000)
  const hash = await keepBytes(store, bytes)
  writeFileSync(join(root, hash.slice(0, 2), hash.slice(2)), bytes.subarray(0, 500))
  await keepBytes(store, bytes)
  expect(await collected(await store.read(hash, null))).toEqual(bytes)
})

it('[BLOB-7] reads of blobs that stop, fail or finish leave no file open', async () => {
  const { root, store } = await opened()
  const hash = await keepBytes(store, someBytes(1_000_000))
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)
      } catch {
        return false
      }
    }).length
  for (let i = 0; i < 20; i++) {
    const iterator = (await store.read(hash, null))?.[Symbol.asyncIterator]()
    if (i % 2 === 0) await iterator?.next()
    await iterator?.return?.()
    await collected(await store.read(hash, { start: 5, end: 600_000 }))
  }
  // The last file is closed in the background.
  await expect.poll(openFiles, { timeout: patience(5_000) }).toBe(0)
})

it('[X34] running uploads share a limit of disk space, and each frees its part when it ends', async () => {
  const store = await open(join(folder(), 'blobs'), 10_000)
  for (let i = 0; i < 5; i++) {
    const first = await receiveBytes(store, someBytes(6_000, i))
    await expect(receiveBytes(store, someBytes(6_000, 100 + i))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await (i % 2 === 0 ? first.discard() : first.keep(first.hash, 'image/png'))
  }
  await expect(store.receive(inPieces(someBytes(9_000)), () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  await (await receiveBytes(store, someBytes(10_000))).discard()
})

it('[X34] the free space of the blob volume can be queried', async () => {
  const { store } = await opened()
  const { availableBytes, totalBytes } = await store.space()
  expect(availableBytes).toBeGreaterThan(0)
  expect(totalBytes).toBeGreaterThanOrEqual(availableBytes)
})

it('[BLOB-3] after its folder was removed, an upload fails at most once before the folder is created again', async () => {
  const { root, store } = await opened()
  const bytes = someBytes(10)
  const hash = await keepBytes(store, bytes)
  rmSync(join(root, hash.slice(0, 2)), { recursive: true })
  await expect(keepBytes(store, bytes)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await keepBytes(store, bytes)
  expect(await store.read(hash, null).then(collected)).toEqual(bytes)
})
