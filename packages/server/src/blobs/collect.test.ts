import { expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import type { DocumentRef } from '../documents/document-store.port.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import { createBlobCollector, removeForgottenUploads } from './collect.ts'
import { hashOf, someBytes } from './testing/blob-bytes.ts'
import { callerOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'
import { directStore } from './testing/direct-store.ts'

const MINUTE_MS = 60_000
const open = blobWorkspaces()
const ann = callerOf()

/**
 * A ledger in which the documents of `behind` have edits that their bodies lack. It releases nothing while one of them is in the workspace `busy`.
 */
const ledgerBehind =
  (behind: () => readonly DocumentRef[]) =>
  (real: BlobLedger): BlobLedger => ({
    ...real,
    unsettled: (_, limit, skip = 0) => Promise.resolve(behind().slice(skip, skip + limit)),
    releaseUnreferenced: async (...args) =>
      behind().some(({ workspaceId }) => workspaceId === 'busy') ? 0 : real.releaseUnreferenced(...args),
  })

it('[BLOB-15] an unreferenced blob is deleted with its bytes when the grace period is over, not earlier', async () => {
  const { upload, collect, ledger, files, time } = await open()
  const hash = await upload(ann, someBytes(100))
  await time.advance(4 * MINUTE_MS)
  await collect()
  expect([files().length, await ledger.find('acme', hash)]).toEqual([1, expect.objectContaining({ hash })])
  await time.advance(2 * MINUTE_MS)
  await collect()
  expect([files(), await ledger.find('acme', hash), await ledger.orphans(9)]).toEqual([[], null, []])
})

it('[BLOB-15] a referenced blob stays, and is deleted a grace period after its last reference', async () => {
  const { upload, collect, reference, documents, ledger, files, time } = await open()
  const hash = await upload(ann, someBytes(100))
  const key = await reference(ann, 'doc', [hash])
  await time.advance(60 * MINUTE_MS)
  await collect()
  expect(files()).toHaveLength(1)
  await documents.remove({ workspaceId: 'acme', id: 'doc' }, key, time.clock.nowMs())
  await time.advance(4 * MINUTE_MS)
  await collect()
  expect(await ledger.find('acme', hash)).not.toBeNull()
  await time.advance(2 * MINUTE_MS)
  await collect()
  expect(files()).toEqual([])
})

it('[BLOB-15] the bytes of a blob are deleted with its last grant of any workspace', async () => {
  const { upload, collect, reference, ledger, files, time } = await open()
  const bytes = someBytes(100)
  const hash = await upload(ann, bytes)
  const other = callerOf({ workspaceId: 'other' })
  await upload(other, bytes)
  await reference(other, 'doc', [hash])
  await time.advance(6 * MINUTE_MS)
  await collect()
  expect([await ledger.find('acme', hash), files().length]).toEqual([null, 1])
})

it('[CFG-8] with a grace period of 0 an unreferenced blob is deleted in the next round', async () => {
  const { upload, collect, files, time } = await open({ graceMs: 0 })
  await upload(ann, someBytes(100))
  await time.advance(1)
  await collect()
  expect(files()).toEqual([])
})

it('[BLOB-15] [LIFE-30] edits that a body lacks are stored before a release; a failure delays only that workspace', async () => {
  const settled: unknown[] = []
  let behind = [
    { workspaceId: 'busy', id: 'typed' },
    { workspaceId: 'broken', id: 'damaged' },
  ]
  const { upload, collect, ledger, time } = await open({
    ledger: ledgerBehind(() => behind),
    settle(document, quietMs) {
      settled.push([document.id, quietMs])
      if (document.workspaceId === 'broken') return Promise.reject(new RelayError('UNAVAILABLE', 'It cannot be loaded.'))
      behind = behind.filter(({ id }) => id !== document.id)
      return Promise.resolve()
    },
  })
  const busy = callerOf({ workspaceId: 'busy' })
  const hash = await upload(busy, someBytes(100))
  await time.advance(6 * MINUTE_MS)
  await collect()
  expect(settled.slice(0, 2)).toEqual([
    ['typed', 40],
    ['damaged', 40],
  ])
  expect(await ledger.find('busy', hash)).toBeNull()
})

it('[BLOB-15] [LIFE-30] sixty documents that cannot be stored delay no blob of another workspace', async () => {
  let behind = Array.from({ length: 60 }, (_, at) => ({ workspaceId: 'broken', id: `damaged-${at}` }))
  behind.push({ workspaceId: 'busy', id: 'typed' })
  const { upload, collect, ledger, time } = await open({
    ledger: ledgerBehind(() => behind),
    settle(document) {
      if (document.workspaceId === 'broken') return Promise.reject(new RelayError('UNAVAILABLE', 'It cannot be loaded.'))
      behind = behind.filter(({ id }) => id !== document.id)
      return Promise.resolve()
    },
  })
  const hash = await upload(callerOf({ workspaceId: 'busy' }), someBytes(100))
  await time.advance(6 * MINUTE_MS)
  await collect()
  expect(await ledger.find('busy', hash)).toBeNull()
})

it('[LIFE-30] one batch of blob collection is limited and reports when there is more', async () => {
  const { upload, store, ledger, files, time } = await open()
  for (let i = 0; i < 60; i++) await upload(ann, someBytes(10, i))
  await time.advance(10 * MINUTE_MS)
  const batch = createBlobCollector({ store, ledger, settle: () => Promise.resolve(), clock: time.clock, graceMs: 0 })
  expect([await batch(), files().length]).toEqual([true, 10])
  expect([await batch(), files().length]).toEqual([false, 0])
})

it('[BLOB-15] the next round of blob collection deletes bytes that could not be deleted', async () => {
  let fails = true
  const { upload, collect, files, time } = await open({
    store: (real) => ({
      ...real,
      remove: (hash) => (fails ? Promise.reject(new RelayError('UNAVAILABLE', 'no disk')) : real.remove(hash)),
    }),
  })
  await upload(ann, someBytes(100))
  await time.advance(10 * MINUTE_MS)
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  fails = false
  await collect()
  expect(files()).toEqual([])
})

it('[BLOB-15] [BLOB-24] a blob whose bytes cannot be removed does not stop the removal of others, also beyond its batch', async () => {
  const bad = new Set<string>()
  const { upload, collect, ledger, files, fileOf, time } = await open({
    store: (real) => ({
      ...real,
      remove: (object) =>
        bad.has(object) ? Promise.reject(new RelayError('UNAVAILABLE', 'no permission')) : real.remove(object),
    }),
  })
  const hash = await upload(ann, someBytes(100))
  const kept = await fileOf(hash)
  bad.add((await ledger.find('acme', hash))?.object ?? '')
  await time.advance(1_000)
  for (let i = 0; i < 60; i++) await upload(ann, someBytes(10, i))
  await time.advance(10 * MINUTE_MS)
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(files()).toEqual([kept])
  bad.clear()
  await collect()
  expect(files()).toEqual([])
})

it('[BLOB-15] blobs whose bytes cannot be removed do not stop the removal of others, also when they fill a batch, and are tried once in a round', async () => {
  const bad = new Set<string>()
  const tried: string[] = []
  const { upload, collect, ledger, files, time } = await open({
    store: (real) => ({
      ...real,
      remove(object) {
        tried.push(object)
        return bad.has(object) ? Promise.reject(new RelayError('UNAVAILABLE', 'no permission')) : real.remove(object)
      },
    }),
  })
  for (let i = 0; i < 60; i++) bad.add((await ledger.find('acme', await upload(ann, someBytes(10, i))))?.object ?? '')
  await time.advance(10 * MINUTE_MS)
  // After this round the 60 blobs are at the head of the list of objects to remove.
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await time.advance(1_000)
  for (let i = 60; i < 80; i++) await upload(ann, someBytes(10, i))
  await time.advance(10 * MINUTE_MS)
  tried.length = 0
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect([files().length, tried.length]).toEqual([60, 80])
  bad.clear()
  await collect()
  expect(files()).toEqual([])
})

it('[BLOB-15] while the blob store does not answer, a round of blob collection calls it once', async () => {
  let asked = 0
  const down = () => Promise.reject(new RelayError('UNAVAILABLE', 'no answer'))
  const { upload, collect, time } = await open({
    store: (real) => ({ ...real, remove: () => (asked++, down()), check: down }),
  })
  for (let i = 0; i < 5; i++) await upload(ann, someBytes(10, i))
  await time.advance(10 * MINUTE_MS)
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(asked).toBe(1)
})

it('[BLOB-12] a staged object that cannot be removed delays no other staged object and no released blob', async () => {
  let direct: ReturnType<typeof directStore> | undefined
  const bad = new Set<string>()
  const { blobs, upload, collect, files, time } = await open({
    store: (real) => {
      direct = directStore(real)
      const { store } = direct
      const removeStaged = (key: string): Promise<void> =>
        bad.has(key)
          ? Promise.reject(new RelayError('UNAVAILABLE', 'no permission'))
          : (store.direct?.removeStaged(key) ?? Promise.resolve())
      return { ...store, direct: store.direct && { ...store.direct, removeStaged } }
    },
  })
  for (const seed of [1, 2]) {
    const bytes = someBytes(100, seed)
    const ticket = await blobs.presigned.uploadUrl(ann, { hash: hashOf(bytes), sizeBytes: 100, mimeType: 'image/png' })
    if (ticket === 'exists') throw new Error('exists')
    direct?.staged.set(ticket.key, bytes)
    if (seed === 1) bad.add(ticket.key)
    await time.advance(1_000)
  }
  await upload(ann, someBytes(10, 3))
  await time.advance(3_600_000 + 86_400_000)
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect([[...(direct?.staged.keys() ?? [])], files()]).toEqual([[...bad], []])
})

it('[BLOB-12] staged objects that cannot be removed do not stop the removal of others, also when they fill a batch', async () => {
  let direct: ReturnType<typeof directStore> | undefined
  const bad = new Set<string>()
  const { blobs, collect, time } = await open({
    store: (real) => {
      direct = directStore(real)
      const { store } = direct
      const removeStaged = (key: string): Promise<void> =>
        bad.has(key)
          ? Promise.reject(new RelayError('UNAVAILABLE', 'no permission'))
          : (store.direct?.removeStaged(key) ?? Promise.resolve())
      return { ...store, direct: store.direct && { ...store.direct, removeStaged } }
    },
  })
  for (let i = 0; i < 55; i++) {
    const bytes = someBytes(10, i)
    const ticket = await blobs.presigned.uploadUrl(ann, { hash: hashOf(bytes), sizeBytes: 10, mimeType: 'image/png' })
    if (ticket === 'exists') throw new Error('exists')
    direct?.staged.set(ticket.key, bytes)
    if (i < 50) bad.add(ticket.key)
    await time.advance(1_000)
  }
  await time.advance(3_600_000 + 86_400_000)
  await expect(collect()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(new Set(direct?.staged.keys())).toEqual(bad)
  bad.clear()
  await collect()
  expect(direct?.staged.size).toBe(0)
})

it('[BLOB-12] staged objects that were never finalized are deleted with their reservation a day after their URL expired', async () => {
  let direct: ReturnType<typeof directStore> | undefined
  const { blobs, collect, ledger, time } = await open({ store: (files) => (direct = directStore(files)).store })
  const bytes = someBytes(100)
  const hash = hashOf(bytes)
  const ticket = await blobs.presigned.uploadUrl(ann, { hash, sizeBytes: 100, mimeType: 'image/png' })
  if (ticket === 'exists') throw new Error('exists')
  direct?.staged.set(ticket.key, bytes)
  await time.advance(3_600_000 + 86_400_000 - 1_000)
  await collect()
  expect(direct?.staged.size).toBe(1)
  await time.advance(2_000)
  await collect()
  expect([direct?.staged.size, await ledger.staged('acme', hash)]).toEqual([0, []])
})

it('[BLOB-12] staged objects are removed although clearing abandoned uploads fails', async () => {
  const { time } = await open()
  let removed = 0
  const clearAbandoned = () => Promise.reject(new RelayError('UNAVAILABLE', 'no permission'))
  const removeStagedBefore = () => Promise.resolve(removed++ === 0 ? 50 : 3)
  const remove = () => removeForgottenUploads({ clearAbandoned }, { removeStagedBefore }, time.clock, 3_600)
  expect(await remove()).toBe(true)
  await expect(remove()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(removed).toBe(2)
})

it('[BLOB-12] objects staged by the URL of an ended upload are deleted at the latest a day after that URL expired', async () => {
  const { time } = await open()
  const asked: [number, number][] = []
  const removeStagedBefore = (beforeMs: number, limit: number) => {
    asked.push([beforeMs, limit])
    return Promise.resolve(asked.length === 1 ? limit : 3)
  }
  let cleared = 0
  const clearAbandoned = () => Promise.resolve(void cleared++)
  const remove = () => removeForgottenUploads({ clearAbandoned }, { removeStagedBefore }, time.clock, 3_600)
  expect([await remove(), await remove(), cleared]).toEqual([true, false, 1])
  expect(asked[0]).toEqual([time.clock.nowMs() - 3_600_000 - 86_400_000, 50])
})
