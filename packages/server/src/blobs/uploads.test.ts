import { expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import type { BlobStore } from './blob-store.port.ts'
import { hashOf, inPieces, someBytes } from './testing/blob-bytes.ts'
import { callerOf, refusalOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'

const MIB = 1_048_576
const open = blobWorkspaces()
const ann = callerOf()
/** Yields the first byte at once and the rest only after `letGo` is called. */
function held(bytes: Uint8Array): { readonly source: AsyncIterable<Uint8Array>; letGo(): void } {
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  async function* source() {
    yield bytes.slice(0, 1)
    await gate
    yield bytes.slice(1)
  }
  return { source: source(), letGo }
}
/** An upload of unknown length. */
const streamed = (expectedHash: string | null, bytes: AsyncIterable<Uint8Array>) => ({
  expectedHash,
  bytes,
  declaredBytes: null,
  mimeType: null,
  provenance: null,
})

it('[BLOB-3] bytes, record and grant exist when the upload resolves', async () => {
  const { upload, ledger, bytes: stored } = await open()
  const bytes = someBytes(200_000)
  const hash = await upload(ann, bytes, { mimeType: 'Image/PNG; x=1' })
  expect(await ledger.find('acme', hash)).toMatchObject({ hash, sizeBytes: 200_000, mimeType: 'image/png' })
  expect([await stored(hash), await ledger.meteredBytes('acme'), await ledger.uploadedBy('acme', hash, 'ann')]).toEqual([
    bytes,
    200_000,
    true,
  ])
})

it('[BLOB-3] [X35] bytes of another hash are refused and leave nothing', async () => {
  const { upload, ledger, files } = await open()
  const asked = hashOf(someBytes(1))
  const refused = upload(ann, someBytes(500_000), { hash: asked })
  await expect(refused).rejects.toMatchObject({
    code: 'HASH_MISMATCH',
    details: { expected: asked, actual: hashOf(someBytes(500_000)) },
  })
  expect([files(), await ledger.find('acme', asked), await ledger.orphans(9)]).toEqual([[], null, [asked]])
})

it('[BLOB-3] an upload that ends early leaves no bytes, and its reservation ends', async () => {
  const { blobs, ledger, files, upload } = await open()
  const quota = callerOf({ quotaBytes: 1_000 })
  async function* source() {
    yield someBytes(600)
    throw new RelayError('BAD_REQUEST', 'The request body ended early.')
  }
  for (let i = 0; i < 3; i++) {
    const cut = blobs.upload(quota, { ...streamed(hashOf(someBytes(900)), source()), declaredBytes: 900 })
    expect(await refusalOf(cut)).toBe('BAD_REQUEST')
  }
  expect(files()).toEqual([])
  expect(await refusalOf(upload(quota, someBytes(1_000, 7)))).toBe('accepted')
  expect(await ledger.meteredBytes('acme')).toBe(1_000)
})

it('[PERM-3] viewers cannot upload', async () => {
  const { upload } = await open()
  expect(await refusalOf(upload(callerOf({ role: 'viewer' }), someBytes(1)))).toBe('EDIT_FORBIDDEN')
  expect(await refusalOf(upload(callerOf({ role: 'owner' }), someBytes(1)))).toBe('accepted')
})

it('[REST-14] a blob above max_blob_bytes is refused for its announced size, or for its received bytes', async () => {
  const { upload, blobs, files, refusals } = await open({ settings: { maxBlobBytes: 100_000 } })
  await expect(upload(ann, someBytes(100_001))).rejects.toMatchObject({
    code: 'BLOB_TOO_LARGE',
    details: { sizeBytes: 100_001, maxBytes: 100_000 },
  })
  const bytes = someBytes(300_000)
  expect(await refusalOf(blobs.upload(ann, streamed(hashOf(bytes), inPieces(bytes))))).toBe('BLOB_TOO_LARGE')
  expect(await refusalOf(upload(ann, someBytes(100_000)))).toBe('accepted')
  expect([files().length, refusals]).toEqual([1, ['blob_size', 'blob_size']])
})

it('[Q2] [REST-14 STORAGE_QUOTA] an upload over quota is refused before its bytes are read', async () => {
  const { upload, blobs, refusals } = await open()
  const quota = callerOf({ quotaBytes: 1_000 })
  await upload(quota, someBytes(600, 1))
  let taken = 0
  async function* source() {
    taken += 1
    yield someBytes(401, 2)
  }
  const refused = blobs.upload(quota, { ...streamed(hashOf(someBytes(401, 2)), source()), declaredBytes: 401 })
  await expect(refused).rejects.toMatchObject({
    code: 'STORAGE_QUOTA',
    details: { usedBytes: 600, addedBytes: 401, quotaBytes: 1_000, source: 'claim' },
  })
  expect([taken, refusals]).toEqual([0, ['storage']])
  expect(await refusalOf(upload(quota, someBytes(400, 3)))).toBe('accepted')
})

it('[Q2] an upload without a length reserves step by step, and its last step may be smaller', async () => {
  const steps: number[] = []
  const { blobs } = await open({
    ledger: (real) => ({
      ...real,
      async reserve(reservation, quotaBytes, nowMs) {
        const admission = await real.reserve(reservation, quotaBytes, nowMs)
        if (admission.kind === 'admitted') steps.push(reservation.bytes)
        return admission
      },
    }),
  })
  const quota = callerOf({ quotaBytes: 2.5 * MIB })
  const fits = someBytes(2.4 * MIB, 1)
  await blobs.upload(quota, streamed(hashOf(fits), inPieces(fits, 400_000)))
  expect(steps).toEqual([0, MIB, 2 * MIB, 2_400_000, fits.byteLength])
  const second = someBytes(200_000, 2)
  expect(await refusalOf(blobs.upload(quota, streamed(hashOf(second), inPieces(second))))).toBe('STORAGE_QUOTA')
})

it('[Q2] the reservation of an upload is renewed while bytes arrive', async () => {
  const deadlines: number[] = []
  const { blobs, time } = await open({
    ledger: (real) => ({
      ...real,
      reserve(reservation, quotaBytes, nowMs) {
        deadlines.push(reservation.expiresAtMs)
        return real.reserve(reservation, quotaBytes, nowMs)
      },
    }),
  })
  const bytes = someBytes(40)
  async function* source() {
    for (const byte of bytes) {
      await time.advance(60_000)
      yield Uint8Array.of(byte)
    }
  }
  await blobs.upload(ann, { ...streamed(hashOf(bytes), source()), declaredBytes: 40 })
  expect(deadlines.length).toBeGreaterThan(20)
  expect(Math.max(...deadlines)).toBeGreaterThan(time.clock.nowMs())
})

it('[Q3] [interface Limits rule 4] uploading a held blob is accepted over quota, adds nothing and needs the right bytes', async () => {
  const { upload, ledger } = await open()
  const bytes = someBytes(1_000)
  const hash = await upload(ann, bytes)
  const over = callerOf({ sub: 'bob', quotaBytes: 10 })
  expect(await refusalOf(upload(over, bytes))).toBe('accepted')
  expect(await refusalOf(upload(over, someBytes(1_000, 2), { hash }))).toBe('HASH_MISMATCH')
  expect([await ledger.meteredBytes('acme'), await ledger.uploadedBy('acme', hash, 'bob')]).toEqual([1_000, true])
})

it('[BLOB-5] a blob record belongs to its workspace, and the record of the first upload stays', async () => {
  const { upload, ledger, files, collect, time } = await open()
  const bytes = someBytes(100)
  const hash = await upload(ann, bytes, { mimeType: 'image/png' })
  await upload(ann, bytes, { mimeType: 'image/gif' })
  const other = callerOf({ workspaceId: 'other', quotaBytes: 99 })
  expect(await refusalOf(upload(other, bytes))).toBe('STORAGE_QUOTA')
  await upload(callerOf({ workspaceId: 'other' }), bytes, { mimeType: 'text/html' })
  expect((await ledger.find('acme', hash))?.mimeType).toBe('image/png')
  expect((await ledger.find('other', hash))?.mimeType).toBe('application/octet-stream')
  await time.advance(60_000)
  await collect()
  expect(files()).toHaveLength(1)
})

it('[REST-12] a workspace has a limited number of simultaneous uploads, and each frees its place however it ends', async () => {
  const { blobs, upload } = await open({ settings: { maxConcurrentUploads: 2 } })
  for (let round = 0; round < 3; round++) {
    const [first, second] = [held(someBytes(10, round)), held(someBytes(20, round))]
    const running = [
      blobs.upload(ann, streamed(hashOf(someBytes(10, round)), first.source)),
      refusalOf(blobs.upload(ann, streamed(hashOf(someBytes(99)), second.source))),
    ]
    await expect(upload(ann, someBytes(30, round))).rejects.toMatchObject({
      code: 'TOO_MANY_UPLOADS',
      details: { retryAfterMs: 1_000 },
    })
    expect(await refusalOf(upload(callerOf({ workspaceId: 'other' }), someBytes(30, round)))).toBe('accepted')
    first.letGo()
    second.letGo()
    await Promise.all(running)
  }
})

it('[X34] an upload to a full disk is refused before its bytes are read', async () => {
  const full = new RelayError('UNAVAILABLE', 'The disk is nearly full.')
  const { upload, files } = await open({ deps: { checkSpace: () => Promise.reject(full) } })
  expect([await refusalOf(upload(ann, someBytes(1))), files()]).toEqual(['UNAVAILABLE', []])
})

it('[BLOB-17] bytes that were fetched from a URL are named by their hash and keep their source', async () => {
  const granted: Parameters<BlobLedger['grant']>[0][] = []
  const { blobs, ledger } = await open({
    ledger: (real) => ({
      ...real,
      grant(request) {
        granted.push(request)
        return real.grant(request)
      },
    }),
  })
  const bytes = someBytes(3_000)
  const provenance = { source: 'scanner', tags: ['a', 'b'] }
  const fetched = { expectedHash: null, bytes: inPieces(bytes), declaredBytes: null, mimeType: 'image/png', provenance }
  expect(await blobs.upload(ann, fetched)).toMatchObject({ hash: hashOf(bytes), sizeBytes: 3_000, mimeType: 'image/png' })
  expect(granted[0]?.provenance).toEqual(provenance)
  expect(await ledger.meteredBytes('acme')).toBe(3_000)
})

it('[BLOB-3] after a failure at any step of an upload a retry succeeds, and leftover bytes are collected', async () => {
  let fail: 'keep' | 'grant' | 'release' | 'none' = 'none'
  const failing = (step: typeof fail) =>
    fail === step ? Promise.reject(new RelayError('UNAVAILABLE', `no ${step}`)) : Promise.resolve()
  const { upload, ledger, files, collect, time } = await open({
    store: (real): BlobStore => ({
      ...real,
      async receive(source, onBytes) {
        const received = await real.receive(source, onBytes)
        return { ...received, keep: (...given) => failing('keep').then(() => received.keep(...given)) }
      },
    }),
    ledger: (real) => ({
      ...real,
      grant: (request) => failing('grant').then(() => real.grant(request)),
      release: (id) => failing('release').then(() => real.release(id)),
    }),
  })
  const quota = callerOf({ quotaBytes: 1_000 })
  for (const step of ['keep', 'grant'] as const) {
    fail = step
    expect(await refusalOf(upload(quota, someBytes(1_000, 1)))).toBe('UNAVAILABLE')
    expect(await ledger.meteredBytes('acme')).toBe(0)
    fail = 'none'
    // A grant that failed may still have been stored, so its bytes stay until the object counts as abandoned.
    await time.advance(10 * 60_000)
    await collect()
    expect(files()).toEqual([])
  }
  fail = 'release'
  expect(await refusalOf(upload(quota, someBytes(900, 1), { hash: hashOf(someBytes(1)) }))).toBe('HASH_MISMATCH')
  fail = 'none'
  await time.advance(4 * 60_000)
  expect(await refusalOf(upload(quota, someBytes(1_000, 1)))).toBe('accepted')
})
