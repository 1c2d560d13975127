import { expect, it } from 'vitest'
import { collected, hashOf, inPieces, someBytes } from './testing/blob-bytes.ts'
import { callerOf, refusalOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'

const open = blobWorkspaces()
const ann = callerOf()

it('[R-5] [BLOB-14] of 64 simultaneous uploads as many are accepted as fit into the quota together', async () => {
  const { upload, ledger, files } = await open()
  const quota = callerOf({ quotaBytes: 100_000 })
  let mostUsed = 0
  let running = true
  const watching = (async () => {
    while (running) {
      mostUsed = Math.max(mostUsed, await ledger.meteredBytes('acme'))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const outcomes = await Promise.all(Array.from({ length: 64 }, (_, i) => refusalOf(upload(quota, someBytes(10_000, i)))))
  running = false
  await watching
  const counts = Map.groupBy(outcomes, (outcome) => outcome)
  expect([counts.get('accepted')?.length, counts.get('STORAGE_QUOTA')?.length]).toEqual([10, 54])
  expect(mostUsed).toBeLessThanOrEqual(100_000)
  expect([await ledger.meteredBytes('acme'), files().length]).toEqual([100_000, 10])
})

it('[R-6] [BLOB-14] growing documents and uploads at the limit together never exceed the quota', async () => {
  const { upload, ledger, documents, reference } = await open()
  const quotaBytes = 50_000
  const quota = callerOf({ quotaBytes })
  const key = await reference(quota, 'doc', [])
  const grow = async (i: number) => {
    const text = JSON.stringify({ pages: ['x'.repeat(3_000 * i)] })
    const body = { bytes: new TextEncoder().encode(text), facts: (await documents.list('acme'))[0]!.facts, blobReferences: [] }
    const state = await documents.state({ workspaceId: 'acme', id: 'doc' })
    if (state.kind !== 'document') throw new Error('no document')
    const expect_ = { kind: 'document', key, version: state.head.version } as const
    const log = { kind: 'cold' } as const
    const ref = { workspaceId: 'acme', id: 'doc' }
    return documents.write({ ref, expect: expect_, set: { body }, bump: true, nowMs: 1, quotaBytes, log })
  }
  for (let round = 1; round <= 10; round++) {
    await Promise.all([
      ...Array.from({ length: 4 }, (_, i) => refusalOf(upload(quota, someBytes(4_000, round * 10 + i)))),
      grow(round),
      grow(round),
    ])
    const total = (await ledger.meteredBytes('acme')) + (await documents.usedBytes('acme'))
    expect(total).toBeLessThanOrEqual(quotaBytes)
  }
  expect((await documents.remove({ workspaceId: 'acme', id: 'doc' }, key, 1)).kind).toBe('removed')
})

it('[R-7] [Q6] 16 uploads of one blob, 8 of them cut, race collections: no grant lacks bytes, no bytes lack a grant', async () => {
  const workspace = await open({ graceMs: 0 })
  const { blobs, ledger, store, collect, time } = workspace
  for (let round = 0; round < 15; round++) {
    const bytes = someBytes(100_000, round % 3)
    const hash = hashOf(bytes)
    let over = false
    const collecting = (async () => {
      while (!over) {
        await collect()
        await time.advance(1)
      }
    })()
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        async function* source() {
          yield* inPieces(bytes.slice(0, 50_000), 10_000)
          if (i % 2 === 1) throw new Error('gave up')
          yield bytes.slice(50_000)
        }
        const upload = { expectedHash: hash, bytes: source(), declaredBytes: 100_000, mimeType: 'image/png', provenance: null }
        await blobs.upload(ann, upload).catch(() => undefined)
      }),
    )
    over = true
    await collecting
    const grant = await ledger.find('acme', hash)
    if (grant !== null) expect(await collected(await store.read(grant.object, null))).toEqual(bytes)
    await time.advance(1)
    await collect()
    expect(await ledger.find('acme', hash)).toBeNull()
  }
  // The collector keeps replaced bytes for one more minute.
  await time.advance(60_000)
  await collect()
  expect(workspace.files()).toEqual([])
})

it('[BLOB-15] [Q6] an upload that ends while its orphaned bytes are being collected keeps its bytes', async () => {
  let afterListing = async (): Promise<void> => {}
  const {
    upload,
    ledger,
    collect,
    time,
    bytes: stored,
  } = await open({
    graceMs: 0,
    ledger: (real) => ({
      ...real,
      async orphans(limit) {
        const hashes = await real.orphans(limit)
        const act = afterListing
        afterListing = async () => {}
        await act()
        return hashes
      },
    }),
  })
  const bytes = someBytes(50_000)
  const hash = await upload(ann, bytes)
  await time.advance(1)
  let uploaded = false
  afterListing = async () => {
    await upload(ann, bytes)
    uploaded = true
  }
  await collect()
  expect([uploaded, await stored(hash), (await ledger.find('acme', hash))?.sizeBytes]).toEqual([true, bytes, 50_000])
})

it('[BLOB-15] [Q6] bytes that are stored but not granted yet are not collected', async () => {
  let beforeGrant = async (): Promise<void> => {}
  const {
    blobs,
    upload,
    ledger,
    collect,
    time,
    bytes: stored,
  } = await open({
    graceMs: 0,
    ledger: (real) => ({ ...real, grant: async (request) => (await beforeGrant(), real.grant(request)) }),
  })
  const bytes = someBytes(50_000)
  const hash = await upload(ann, bytes)
  let collections = 0
  async function* source() {
    yield bytes.slice(0, 100)
    await time.advance(1)
    expect(await ledger.releaseUnreferenced(time.clock.nowMs(), 9, time.clock.nowMs())).toBe(1)
    yield bytes.slice(100)
  }
  beforeGrant = async () => {
    await collect()
    collections++
  }
  await blobs.upload(ann, { expectedHash: hash, bytes: source(), declaredBytes: 50_000, mimeType: null, provenance: null })
  expect([collections, await stored(hash), (await ledger.find('acme', hash))?.sizeBytes]).toEqual([1, bytes, 50_000])
})

it('[BLOB-24] an upload that pauses until its bytes are removed is refused, and a retry is granted', async () => {
  let beforeGrant = async (): Promise<void> => {}
  const {
    upload,
    ledger,
    collect,
    time,
    files,
    bytes: stored,
  } = await open({
    ledger: (real) => ({ ...real, grant: async (request) => (await beforeGrant(), real.grant(request)) }),
  })
  const bytes = someBytes(50_000)
  beforeGrant = async () => {
    beforeGrant = async () => {}
    await time.advance(11 * 60_000)
    await collect()
  }
  expect(await refusalOf(upload(ann, bytes))).toBe('UNAVAILABLE')
  expect([files(), await ledger.find('acme', hashOf(bytes))]).toEqual([[], null])
  expect(await stored(await upload(ann, bytes))).toEqual(bytes)
})
