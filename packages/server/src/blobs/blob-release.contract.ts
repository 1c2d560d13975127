import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentWrite } from '../documents/document-store.port.ts'
import { bodyOf, change, creation, update, written } from '../documents/testing/document-writes.ts'
import type { GrantRequest } from './blob-ledger.port.ts'
import type { OpenBlobLedger } from './blob-ledger.contract.ts'
import { aGrant, aStream, granted, newHash } from './testing/ledger-requests.ts'
import { onFreshLedger } from './testing/fresh-ledger.ts'

const naming = (...hashes: readonly string[]) => JSON.stringify({ images: hashes.map((blobRef) => ({ blobRef })) })

/** Registers the contract of every driver for references in bodies and recovery points, and for the end of grants. */
export function describeBlobReleaseContract(name: string, open: () => Promise<OpenBlobLedger>): void {
  describe(`BlobLedger, release: ${name}`, () => {
    let store: OpenBlobLedger
    let ws: string
    let hash: string
    onFreshLedger(open, (...given) => ([store, ws, hash] = given))
    const ledger = () => store.blobs
    const create = async (text: string, more: Partial<DocumentWrite> = {}, workspaceId = ws) =>
      written(await store.documents.write(creation({ workspaceId, id: `doc-${randomUUID()}` }, text, more)))
    const write = async (head: DocumentHead, text: string, nowMs: number) =>
      // A write without a new version takes no recovery point.
      written(await store.documents.write(change(head, text, { nowMs, bump: false })))
    const isOrphan = async (of = hash) => (await ledger().orphans(100_000)).includes(of)
    const releaseBefore = (beforeMs: number) => ledger().releaseUnreferenced(beforeMs, 1000, beforeMs + 300_000)

    describe('references', () => {
      it('[BLOB-2] [BLOB-6] a document references a hash when its stored body does, within its workspace', async () => {
        const other = newHash()
        const head = await create(naming(hash, other))
        const later = await create(naming(hash), { nowMs: 2000 })
        await create(naming(hash), {}, `${ws}x`)
        await create('{}')
        expect(await store.documents.referencing(ws, hash)).toEqual([later, head])
        expect(await store.documents.referencing(ws, other)).toEqual([head])
        await write(head, naming(other), 3000)
        await store.documents.remove(later, later.key, 3000)
        expect(await store.documents.referencing(ws, hash)).toEqual([])
        expect(await store.documents.referencing(ws, other)).toHaveLength(1)
      })

      it('[BLOB-2] a write replaces the references of a document, also when they are thousands', async () => {
        const hashes = Array.from({ length: 2500 }, newHash)
        const head = await create(naming(...hashes))
        await granted(ledger(), aGrant(ws, hashes[0] as string))
        await granted(ledger(), aGrant(ws, hashes[2400] as string))
        expect(await store.documents.referencing(ws, hashes[2400] as string)).toEqual([head])
        const shorter = await write(head, naming(...hashes.slice(0, 50)), 5000)
        expect(await store.documents.referencing(ws, hashes[2400] as string)).toEqual([])
        expect(await store.documents.referencing(ws, hashes[0] as string)).toEqual([shorter])
        await releaseBefore(5000)
        expect(await ledger().find(ws, hashes[2400] as string)).toBeNull()
        expect(await ledger().find(ws, hashes[0] as string)).not.toBeNull()
      })

      it('[LIFE-30] of tens of thousands of references in a body only those to blobs of the workspace are stored', async () => {
        await granted(ledger(), aGrant(ws, hash))
        const many = [hash, ...Array.from({ length: 60_000 }, (_, i) => i.toString(16).padStart(64, '0'))].sort()
        const set = { ownerId: 'ada', ownerName: 'Ada', body: { ...bodyOf('{}'), blobReferences: many } }
        const head = await create('', { set })
        expect(await store.documents.referencing(ws, hash)).toEqual([head])
        expect(await store.documents.referencing(ws, many[0] as string)).toEqual([])
        await releaseBefore(1_000_000)
        expect(await ledger().find(ws, hash)).not.toBeNull()
      })

      it('[BLOB-2] a write that does not change the body keeps the references of the document', async () => {
        const head = await create(naming(hash))
        const { body: _, ...set } = { body: null, sharedWith: ['bob'] }
        await store.documents.write(change(head, '', { set, log: { kind: 'none' } }))
        expect(await store.documents.referencing(ws, hash)).toHaveLength(1)
      })
    })

    describe('release', () => {
      it('[BLOB-15] a grant ends one grace period after the upload, with its uploaders, and the blob becomes an orphan', async () => {
        await granted(ledger(), aGrant(ws, hash, { nowMs: 1000 }))
        await releaseBefore(999)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        expect(await isOrphan()).toBe(false)
        await releaseBefore(1000)
        expect(await ledger().find(ws, hash)).toBeNull()
        expect(await ledger().uploadedBy(ws, hash, 'ada')).toBe(false)
        expect(await ledger().meteredBytes(ws)).toBe(0)
        expect(await isOrphan()).toBe(true)
      })

      it('[BLOB-15] a referenced grant stays, and its grace period runs from the last reference', async () => {
        const first = await create(naming(hash))
        await granted(ledger(), aGrant(ws, hash, { nowMs: 1000 }))
        const second = await create(naming(hash), { nowMs: 1500 })
        await releaseBefore(1_000_000)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        await write(first, '{}', 2_000_000)
        await releaseBefore(2_500_000)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        await store.documents.remove(second, second.key, 3_000_000)
        await releaseBefore(2_999_999)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        await releaseBefore(3_000_000)
        expect(await ledger().find(ws, hash)).toBeNull()
      })

      it('[BLOB-15] a reference within the grace period keeps the blob, one of another workspace does not', async () => {
        await granted(ledger(), aGrant(ws, hash))
        await granted(ledger(), aGrant(`${ws}x`, hash))
        await create(naming(hash), { nowMs: 2000 })
        await releaseBefore(9000)
        expect([await ledger().find(ws, hash), await ledger().find(`${ws}x`, hash)]).toEqual([expect.anything(), null])
        expect(await isOrphan()).toBe(false)
      })

      it('[BLOB-15] a caller who learns that a blob exists has the whole grace period to reference it', async () => {
        const byGrant = newHash()
        await granted(ledger(), aGrant(ws, hash, { nowMs: 1000 }))
        await granted(ledger(), aGrant(ws, byGrant, { nowMs: 1000 }))
        await ledger().reserve(aStream(ws, hash), null, 5000)
        await granted(ledger(), aGrant(ws, byGrant, { nowMs: 5000 }))
        await releaseBefore(4999)
        expect([await ledger().find(ws, hash), await ledger().find(ws, byGrant)]).not.toContain(null)
        await releaseBefore(5000)
        expect([await ledger().find(ws, hash), await ledger().find(ws, byGrant)]).toEqual([null, null])
      })

      it('[BLOB-15] a release skips a workspace whose bodies lack edits, and delays no other workspace', async () => {
        const head = await create('{}')
        const other = `ws-${randomUUID()}`
        await granted(ledger(), aGrant(ws, hash, { nowMs: -900 }))
        await granted(ledger(), aGrant(other, hash, { nowMs: -800 }))
        await store.updates.append([{ key: head.key, afterSeq: 0, actor: 'ada', atMs: 5, update: update(1) }])
        expect(await ledger().releaseUnreferenced(-800, 1, 0)).toBe(1)
        expect([await ledger().find(ws, hash), await ledger().find(other, hash)]).toEqual([expect.anything(), null])
        expect(await ledger().unsettled(-901, 10)).toEqual([])
        expect(await ledger().unsettled(-900, 10)).toEqual([{ workspaceId: ws, id: head.id }])
        expect(await ledger().unsettled(-900, 10, 1)).toEqual([])
        await store.documents.write({
          ...change(head, '{}'),
          bump: false,
          log: { kind: 'live', lastSeq: 1, append: [] },
        })
        expect(await ledger().unsettled(-800, 10)).toEqual([])
        await releaseBefore(-800)
        expect(await ledger().find(ws, hash)).toBeNull()
      })

      it('[LIFE-30] one call releases at most `limit` blobs, the longest unreferenced first', async () => {
        const hashes = [newHash(), newHash(), newHash()] as const
        for (const [i, of] of hashes.entries()) await granted(ledger(), aGrant(ws, of, { nowMs: -5000 + i }))
        expect(await ledger().releaseUnreferenced(-4000, 2, 0)).toBe(2)
        const found = await Promise.all(hashes.map(async (of) => (await ledger().find(ws, of)) !== null))
        expect(found).toEqual([false, false, true])
        expect(await ledger().releaseUnreferenced(-4000, 2, 0)).toBe(1)
        expect(await ledger().releaseUnreferenced(-4000, 2, 0)).toBe(0)
      })
    })

    describe('recovery points', () => {
      /** Makes a document whose former blob is referenced only by its recovery point. */
      const retained = async () => {
        const head = await create(naming(hash))
        await granted(ledger(), aGrant(ws, hash))
        const emptied = written(
          await store.documents.write(change(head, '{}', { nowMs: 10_000, capture: { reason: 'zeroing' } })),
        )
        await releaseBefore(10_000)
        return emptied
      }

      it('[BLOB-16] a blob that only recovery points reference is readable and not metered, and counts again with the next reference', async () => {
        const head = await retained()
        expect(await ledger().find(ws, hash)).not.toBeNull()
        expect(await ledger().meteredBytes(ws)).toBe(0)
        await releaseBefore(1_000_000)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        await write(head, naming(hash), 20_000)
        expect(await ledger().meteredBytes(ws)).toBe(100)
      })

      it('[BLOB-16] [BLOB-14] a growing save that references a blob held only by recovery points counts its bytes', async () => {
        const head = await retained()
        const text = naming(hash)
        const save = (quotaBytes: number) => store.documents.write(change(head, text, { nowMs: 20_000, quotaBytes }))
        expect(await save(text.length + 99)).toEqual({
          kind: 'over-quota',
          usedBytes: head.sizeBytes,
          addedBytes: text.length - head.sizeBytes + 100,
        })
        expect(await save(text.length + 100)).toMatchObject({ kind: 'written' })
        expect(await ledger().meteredBytes(ws)).toBe(100)
      })

      it('[BLOB-16] [LIFE-23] a blob held only by recovery points is released with the document and its points, after its own grace period', async () => {
        const head = await retained()
        await store.documents.remove(head, head.key, 50_000)
        await releaseBefore(49_999)
        expect(await ledger().find(ws, hash)).not.toBeNull()
        await releaseBefore(50_000)
        expect(await ledger().find(ws, hash)).toBeNull()
        expect(await isOrphan()).toBe(true)
      })

      it('[BLOB-16] [LIFE-21] a blob held only by recovery points is released when its last point is dropped', async () => {
        let head = await retained()
        for (let i = 0; i < 25; i++) {
          const capture = { capture: { reason: 'zeroing' } } as const
          head = written(await store.documents.write(change(head, `{"n":${i}}`, { nowMs: 60_000 + i, ...capture })))
        }
        await releaseBefore(70_000)
        expect(await ledger().find(ws, hash)).toBeNull()
      })
    })

    describe('orphans', () => {
      it('[Q6] the hash of an ended upload becomes an orphan unless another upload or grant has it', async () => {
        const [one, two] = [aStream(ws, hash), aStream(`${ws}x`, hash)]
        await ledger().reserve(one, null, 1000)
        await ledger().reserve(two, null, 1000)
        expect(await isOrphan()).toBe(false)
        await ledger().release(one.id)
        expect(await isOrphan()).toBe(false)
        expect(await ledger().strike(hash, 1000)).toBe('held')
        await ledger().release(two.id)
        expect(await isOrphan()).toBe(true)
        await granted(ledger(), aGrant(ws, hash))
        expect(await isOrphan()).toBe(false)
        expect(await ledger().strike(hash, 1000)).toBe('held')
        await releaseBefore(1000)
        expect(await isOrphan()).toBe(true)
        expect(await ledger().strike(hash, 1000)).toBe('struck')
        expect(await isOrphan()).toBe(false)
        expect(await ledger().strike(hash, 1000)).toBe('held')
      })

      it('[Q6] a released blob is no orphan as long as another workspace holds it', async () => {
        await granted(ledger(), aGrant(ws, hash, { nowMs: 1000 }))
        await granted(ledger(), aGrant(`${ws}x`, hash, { nowMs: 2000 }))
        await releaseBefore(1000)
        expect([await ledger().find(ws, hash), await isOrphan()]).toEqual([null, false])
        await releaseBefore(2000)
        expect(await isOrphan()).toBe(true)
      })

      it('[Q2] the hash of an upload that was never ended is an orphan after the deadline', async () => {
        const upload = aStream(ws, hash, { expiresAtMs: 5000 })
        await ledger().reserve(upload, null, 1000)
        await ledger().releaseUnreferenced(-1_000_000, 1000, 4999)
        expect(await isOrphan()).toBe(false)
        await ledger().releaseUnreferenced(-1_000_000, 1000, 5000)
        expect(await isOrphan()).toBe(true)
      })
    })

    describe('objects', () => {
      const nameOf = (digits: string, of = hash) => `${of}.${digits.padStart(8, '0')}`
      /** Returns the struck objects with the hash of this test. */
      const struck = async (nowMs: number) => (await ledger().struck(nowMs, 100_000)).filter((object) => object.startsWith(hash))
      const grantAs = async (object: string, more: Partial<GrantRequest> = {}) => {
        await ledger().announce(object, 600_000)
        return ledger().grant(aGrant(ws, hash, { object, ...more }))
      }

      it('[BLOB-24] grants in every workspace name the newest object of the hash, also after a restart', async () => {
        const other = `${ws}x`
        expect(await grantAs(nameOf('1'))).toMatchObject({ grant: { object: nameOf('1') } })
        expect(await grantAs(nameOf('2'), { workspaceId: other })).toMatchObject({ grant: { object: nameOf('2') } })
        await store.reopen()
        expect(await ledger().find(ws, hash)).toMatchObject({ object: nameOf('2') })
        expect(await ledger().find(other, hash)).toMatchObject({ object: nameOf('2') })
      })

      it('[BLOB-24] a grant of an object that was not announced, or for another hash, changes nothing', async () => {
        const stranger = nameOf('3', newHash())
        await ledger().announce(stranger, 600_000)
        for (const object of [nameOf('4'), stranger]) {
          expect(await ledger().grant(aGrant(ws, hash, { object }))).toEqual({ kind: 'struck' })
        }
        expect(await ledger().find(ws, hash)).toBeNull()
        expect(await ledger().uploadedBy(ws, hash, 'ada')).toBe(false)
      })

      it('[BLOB-24] a replaced object may be removed after its time, or at once when a third object is granted', async () => {
        await grantAs(nameOf('1'))
        await grantAs(nameOf('2'), { nowMs: 2000, replacedUntilMs: 9000 })
        expect(await struck(8999)).toEqual([])
        expect(await struck(9000)).toEqual([nameOf('1')])
        await grantAs(nameOf('3'), { nowMs: 3000, replacedUntilMs: 9500 })
        expect(await struck(3000)).toEqual([nameOf('1')])
        await ledger().forget(nameOf('1'))
        await ledger().forget(nameOf('3'))
        expect(await struck(9500)).toEqual([nameOf('2')])
        expect(await ledger().find(ws, hash)).toMatchObject({ object: nameOf('3') })
      })

      it('[BLOB-24] [Q6] the object of an orphan is struck before its bytes are removed, and a later upload uses another object', async () => {
        await grantAs(nameOf('1'))
        await releaseBefore(1000)
        expect(await struck(1000)).toEqual([])
        expect(await ledger().strike(hash, 5000)).toBe('struck')
        expect(await struck(5000)).toEqual([nameOf('1')])
        await grantAs(nameOf('2'), { nowMs: 5000 })
        expect(await struck(5000)).toEqual([nameOf('1')])
        expect(await ledger().find(ws, hash)).toMatchObject({ object: nameOf('2') })
      })

      it('[BLOB-24] an announced object that is not granted in time is struck, and is never granted afterwards', async () => {
        await ledger().announce(nameOf('1'), 5000)
        await ledger().releaseUnreferenced(-1_000_000, 1000, 4999)
        expect(await struck(4999)).toEqual([])
        await ledger().releaseUnreferenced(-1_000_000, 1000, 5000)
        expect(await struck(5000)).toEqual([nameOf('1')])
        expect(await ledger().grant(aGrant(ws, hash, { object: nameOf('1') }))).toEqual({ kind: 'struck' })
        await ledger().forget(nameOf('1'))
        expect(await ledger().grant(aGrant(ws, hash, { object: nameOf('1') }))).toEqual({ kind: 'struck' })
        expect([await ledger().find(ws, hash), await struck(5000)]).toEqual([null, []])
      })

      it('[BLOB-15] [BLOB-24] `struck` can pass over the first objects of its list and returns all others', async () => {
        for (const digits of ['1', '2', '3']) await ledger().announce(nameOf(digits), 5000)
        await ledger().releaseUnreferenced(-1_000_000, 1000, 5000)
        const all = await ledger().struck(5000, 100_000)
        expect(all.length).toBeGreaterThanOrEqual(3)
        expect(await ledger().struck(5000, 2, 1)).toEqual(all.slice(1, 3))
        expect(await ledger().struck(5000, 100_000, all.length)).toEqual([])
      })

      it('[BLOB-24] bytes that an older release may have left under the hash alone are struck like any other object', async () => {
        const upload = aStream(ws, hash)
        await ledger().reserve(upload, null, 1000)
        await ledger().release(upload.id)
        expect(await ledger().strike(hash, 1000)).toBe('struck')
        expect(await struck(1000)).toEqual([hash])
        await ledger().forget(hash)
        expect(await struck(1000)).toEqual([])
      })
    })
  })
}
