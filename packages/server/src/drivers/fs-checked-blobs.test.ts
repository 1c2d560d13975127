import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collected, hashOf, keepBytes, someBytes } from '../blobs/testing/blob-bytes.ts'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { type FsBlobs, openFsBlobs } from './fs-blobs.ts'
import { checkedBlobs } from './fs-checked-blobs.ts'

const SIZE = 600_000
const BYTES = someBytes(SIZE)
const HASH = hashOf(BYTES)

let root: string
let files: FsBlobs
let found: string[]
let reads: number
let store: FsBlobs
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'relay-checked-'))
  files = await openFsBlobs({ root, maxTempBytes: 10_000_000, random: systemRandom, log: silentLogger })
  await open()
  await upload()
})
afterEach(() => rmSync(root, { recursive: true }))

/** Opens the store again, as a start does. */
async function open(): Promise<void> {
  found = []
  reads = 0
  const counted: FsBlobs = {
    ...files,
    read: (hash, range) => {
      reads++
      return files.read(hash, range)
    },
  }
  store = checkedBlobs(counted, { onDamaged: (hash) => found.push(hash) })
}

async function upload(): Promise<void> {
  const received = await store.receive(
    (async function* () {
      yield BYTES
    })(),
    () => undefined,
  )
  await received.keep(received.hash, 'image/png')
}

const path = () => join(root, HASH.slice(0, 2), HASH.slice(2))
function flip(at: number): void {
  const bytes = readFileSync(path())
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path(), bytes)
}
const whole = async () => collected(await store.read(HASH, null))
const range = async (start: number, end: number) => collected(await store.read(HASH, { start, end }))
const REFUSED = { code: 'BLOB_STORE_ERROR', details: { reason: 'damaged' } }

describe.each([
  ['whole', () => whole()],
  ['as a range that is not damaged', () => range(0, 9)],
  ['as its size', () => store.size(HASH)],
])('a damaged blob that is read %s', (_, read) => {
  it.each([
    ['a flipped bit', () => flip(SIZE - 1)],
    ['a missing end', () => truncateSync(path(), SIZE - 1)],
    ['no bytes left', () => truncateSync(path(), 0)],
  ])('[BLOB-23] a blob with %s is refused at the first read after a start and at each later read', async (_, damage) => {
    damage()
    await open()
    await expect(read()).rejects.toMatchObject(REFUSED)
    await expect(read()).rejects.toMatchObject(REFUSED)
    expect(found).toEqual([HASH])
    expect(readdirSync(join(root, HASH.slice(0, 2)))).toEqual([`${HASH.slice(2)}.damaged`])
  })

  it('[BLOB-23] a blob that changed after it was checked is refused', async () => {
    await whole()
    flip(3)
    await expect(read()).rejects.toMatchObject(REFUSED)
  })

  it('[BLOB-23] [BLOB-24] a damaged blob is readable from a new object, and removing the old object removes its moved bytes', async () => {
    flip(3)
    await expect(read()).rejects.toMatchObject(REFUSED)
    const other = await keepBytes(store, BYTES, `${HASH}.0a0b0c0d`)
    expect(await collected(await store.read(other, null))).toEqual(BYTES)
    await store.remove(HASH)
    expect(readdirSync(join(root, HASH.slice(0, 2)))).toEqual([other.slice(2)])
  })
})

it('[BLOB-23] a blob file is read whole once for its check, and then only the requested part', async () => {
  await open()
  expect(await range(10, 19)).toEqual(BYTES.slice(10, 20))
  expect(reads).toBe(2)
  expect(await range(0, SIZE - 1)).toEqual(BYTES)
  expect(await whole()).toEqual(BYTES)
  expect(reads).toBe(4)
})

it('[BLOB-23] simultaneous readers of a blob share one check of its bytes', async () => {
  await open()
  await Promise.all([range(0, 1), range(2, 3), whole(), store.size(HASH)])
  expect(reads).toBe(4)
})

it('[BLOB-23] a download ends with an error when its bytes change after the check', async () => {
  await whole()
  const wrong = Uint8Array.from(BYTES)
  wrong[SIZE - 300_000] = (wrong[SIZE - 300_000] ?? 0) ^ 1
  // The disk returns wrong bytes although inode, size and time of the file are unchanged.
  const lying: FsBlobs = {
    ...files,
    read: async () =>
      (async function* () {
        for (let at = 0; at < SIZE; at += 100_000) yield wrong.subarray(at, at + 100_000)
      })(),
  }
  let checks = 0
  const served = checkedBlobs(
    { ...lying, read: (hash, asked) => (checks++ === 0 ? files.read(hash, asked) : lying.read(hash, asked)) },
    { onDamaged: (hash) => found.push(hash) },
  )
  const received: number[] = []
  const download = async () => {
    for await (const piece of (await served.read(HASH, null)) ?? []) received.push(piece.byteLength)
  }
  await expect(download()).rejects.toMatchObject(REFUSED)
  expect(received.reduce((sum, bytes) => sum + bytes, 0)).toBe(SIZE - 100_000)
})

it('[BLOB-23] a new upload that comes between the check and the moving aside of damaged bytes is kept', async () => {
  const identity = await files.aside.identity(HASH)
  await upload()
  expect(await files.aside.put(HASH, identity ?? '')).toBe(false)
  expect(await whole()).toEqual(BYTES)
})

it('[BLOB-8] a missing blob file is reported as absent, not as damaged', async () => {
  await store.remove(HASH)
  expect(await store.size(HASH)).toBeNull()
  expect(await store.read(HASH, null)).toBeNull()
  expect(found).toEqual([])
})

it('[BLOB-23] an empty blob passes its check', async () => {
  const received = await store.receive((async function* () {})(), () => undefined)
  await received.keep(received.hash, 'image/png')
  expect(await collected(await store.read(received.hash, null))).toEqual(new Uint8Array(0))
})
