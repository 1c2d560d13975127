import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from '../documents/document-store.contract.ts'
import { change, creation, written } from '../documents/testing/document-writes.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import { aGrant, aPresigned, aStream, granted, newHash } from './testing/ledger-requests.ts'
import { onFreshLedger } from './testing/fresh-ledger.ts'

export interface OpenBlobLedger extends OpenDocumentStore {
  readonly blobs: BlobLedger
}

/** Registers the contract of every driver of `BlobLedger`, together with the `DocumentStore` that counts against the same quota. */
export function describeBlobLedgerContract(name: string, open: () => Promise<OpenBlobLedger>): void {
  describe(`BlobLedger: ${name}`, () => {
    let store: OpenBlobLedger
    let ws: string
    let hash: string
    onFreshLedger(open, (...given) => ([store, ws, hash] = given))
    const ledger = () => store.blobs
    const create = async (text: string) =>
      written(await store.documents.write(creation({ workspaceId: ws, id: `doc-${randomUUID()}` }, text)))

    describe('grants', () => {
      it('[BLOB-5] a grant records size, type and uploader of a blob for its workspace, and survives a restart', async () => {
        const odd = 'a\\b\0\ud800'
        const request = aGrant(`${ws}${odd}`, hash, { mimeType: 'text/x-odd', sub: odd, sizeBytes: 2 ** 40 })
        const grant = { workspaceId: `${ws}${odd}`, hash, sizeBytes: 2 ** 40, mimeType: 'text/x-odd', createdAtMs: 1000 }
        expect(await granted(ledger(), request)).toMatchObject({ kind: 'granted', grant, added: true })
        await store.reopen()
        expect(await ledger().find(`${ws}${odd}`, hash)).toMatchObject(grant)
        expect(await ledger().find(ws, hash)).toBeNull()
        expect(await ledger().uploadedBy(`${ws}${odd}`, hash, odd)).toBe(true)
        expect(await ledger().uploadedBy(`${ws}${odd}`, hash, 'ada')).toBe(false)
        expect(await ledger().uploadedBy(ws, hash, odd)).toBe(false)
      })

      it('[BLOB-5] [Q3] a second upload of a held blob adds only its uploader, whatever the quota', async () => {
        const first = await granted(ledger(), aGrant(ws, hash))
        const again = await granted(
          ledger(),
          aGrant(ws, hash, { sub: 'bob', sizeBytes: 7, mimeType: 'x/y', quotaBytes: 1, nowMs: 2000 }),
        )
        expect(first).toMatchObject({ kind: 'granted', added: true })
        expect(again).toEqual({ ...first, grant: { ...(await ledger().find(ws, hash)) }, added: false })
        expect(again).toMatchObject({ grant: { sizeBytes: 100, mimeType: 'image/png', createdAtMs: 1000 } })
        expect(await ledger().meteredBytes(ws)).toBe(100)
        expect([await ledger().uploadedBy(ws, hash, 'ada'), await ledger().uploadedBy(ws, hash, 'bob')]).toEqual([true, true])
      })

      it('[BLOB-5] each workspace records size and type of its own upload of a blob', async () => {
        const other = `ws-${randomUUID()}`
        await granted(ledger(), aGrant(ws, hash))
        await granted(ledger(), aGrant(other, hash, { mimeType: 'image/gif', nowMs: 7000 }))
        expect(await ledger().find(other, hash)).toMatchObject({ mimeType: 'image/gif', createdAtMs: 7000 })
        expect(await ledger().find(ws, hash)).toMatchObject({ mimeType: 'image/png', createdAtMs: 1000 })
        expect([await ledger().meteredBytes(ws), await ledger().meteredBytes(other)]).toEqual([100, 100])
      })
    })

    describe('quota', () => {
      it('[BLOB-14] [Q1] documents, blobs and reservations share one quota, and a refusal changes nothing', async () => {
        await create('x'.repeat(30))
        await granted(ledger(), aGrant(ws, newHash(), { sizeBytes: 40 }))
        const upload = aStream(ws, hash, { bytes: 20 })
        expect(await ledger().reserve(upload, 90, 1000)).toEqual({ kind: 'admitted' })
        const other = newHash()
        expect(await ledger().reserve(aStream(ws, other, { bytes: 1 }), 90, 1000)).toEqual({
          kind: 'over-quota',
          usedBytes: 90,
          addedBytes: 1,
        })
        expect(await granted(ledger(), aGrant(ws, other, { sizeBytes: 1, quotaBytes: 90 }))).toMatchObject({ kind: 'over-quota' })
        expect(await ledger().find(ws, other)).toBeNull()
        const write = creation({ workspaceId: ws, id: 'more' }, '1', { quotaBytes: 90 })
        expect(await store.documents.write(write)).toEqual({ kind: 'over-quota', usedBytes: 90, addedBytes: 1 })
        expect(await store.documents.write({ ...write, quotaBytes: 91 })).toMatchObject({ kind: 'written' })
        // The reservation of an upload does not count against the grant of that upload.
        const request = aGrant(ws, hash, { reservationId: upload.id, sizeBytes: 20, quotaBytes: 91 })
        expect(await granted(ledger(), { ...request, sizeBytes: 21 })).toEqual({
          kind: 'over-quota',
          usedBytes: 71,
          addedBytes: 21,
        })
        expect(await granted(ledger(), request)).toMatchObject({ kind: 'granted', added: true })
        expect((await ledger().meteredBytes(ws)) + (await store.documents.usedBytes(ws))).toBe(91)
      })

      it('[Q2] a reservation counts against the quota until its deadline or its end, can grow, and is no usage', async () => {
        const upload = aStream(ws, null, { bytes: 10, expiresAtMs: 3000 })
        const probe = (bytes: number, nowMs: number) => ledger().reserve(aStream(ws, null, { bytes }), 100, nowMs)
        await ledger().reserve(upload, 100, 1000)
        expect(await ledger().reserve({ ...upload, bytes: 100, expiresAtMs: 4000 }, 100, 1000)).toEqual({ kind: 'admitted' })
        expect(await ledger().reserve({ ...upload, bytes: 101 }, 100, 1000)).toMatchObject({ kind: 'over-quota', usedBytes: 0 })
        expect(await probe(1, 3999)).toMatchObject({ kind: 'over-quota', usedBytes: 100 })
        expect(await ledger().meteredBytes(ws)).toBe(0)
        expect(await probe(1, 4000)).toEqual({ kind: 'admitted' })
        await ledger().release(upload.id)
        await ledger().release(upload.id)
        expect(await probe(99, 1000)).toEqual({ kind: 'admitted' })
      })

      it('[REST-12] a workspace has a limited number of streams at once, also for blobs it holds, and an ended or expired stream frees its place', async () => {
        await granted(ledger(), aGrant(ws, hash))
        const stream = (of: string | null, expiresAtMs = 5000) =>
          aStream(ws, of, { expiresAtMs, upload: { kind: 'stream', most: 2 } })
        const [first, second, third] = [stream(hash, 3000), stream(null), stream(newHash())]
        const take = (upload: typeof first, nowMs = 1000) => ledger().reserve(upload, null, nowMs)
        expect((await take(first)).kind).toBe('held')
        expect((await take(second)).kind).toBe('admitted')
        expect(await take(third)).toEqual({ kind: 'too-many' })
        // A stream that has a place may grow. Upload URLs need no place. Other workspaces have their own places.
        expect(await take({ ...second, bytes: 200 })).toEqual({ kind: 'admitted' })
        expect(await ledger().reserve(aPresigned(ws, newHash()), null, 1000)).toEqual({ kind: 'admitted' })
        expect(await take({ ...third, id: `${third.id}x`, workspaceId: `${ws}x` })).toEqual({ kind: 'admitted' })
        await ledger().release(second.id)
        expect(await take(third)).toEqual({ kind: 'admitted' })
        expect(await take(second)).toEqual({ kind: 'too-many' })
        expect(await take(second, 3000)).toEqual({ kind: 'admitted' })
      })

      it('[REST-12] of streams that begin at the same moment exactly the allowed number is admitted', async () => {
        const begin = () => ledger().reserve(aStream(ws, newHash(), { upload: { kind: 'stream', most: 3 } }), null, 1000)
        const kinds = (await Promise.all(Array.from({ length: 12 }, begin))).map(({ kind }) => kind)
        expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(3)
        expect(kinds.filter((kind) => kind === 'too-many')).toHaveLength(9)
      })

      it('[Q2] an upload URL and a POST for the same bytes count once, before and after the grant', async () => {
        const ticket = aPresigned(ws, hash, { bytes: 60 })
        const post = aStream(ws, hash, { bytes: 60 })
        expect(await ledger().reserve(ticket, 100, 1000)).toEqual({ kind: 'admitted' })
        expect(await ledger().reserve(post, 100, 1000)).toEqual({ kind: 'admitted' })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 41 }), 100, 1000)).toMatchObject({ usedBytes: 60 })
        const request = aGrant(ws, hash, { reservationId: post.id, sizeBytes: 60, quotaBytes: 100 })
        expect(await granted(ledger(), request)).toMatchObject({ kind: 'granted', added: true })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 41 }), 100, 1000)).toMatchObject({ usedBytes: 60 })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 40 }), 100, 1000)).toEqual({ kind: 'admitted' })
      })

      it('[Q2] each upload URL of one hash counts, since each is its own object, also when the blob is held', async () => {
        expect(await ledger().reserve(aPresigned(ws, hash, { bytes: 60 }), 100, 1000)).toEqual({ kind: 'admitted' })
        const second = aPresigned(ws, hash, { bytes: 41 })
        expect(await ledger().reserve(second, 100, 1000)).toEqual({ kind: 'over-quota', usedBytes: 60, addedBytes: 41 })
        const request = aGrant(ws, hash, { sizeBytes: 41, quotaBytes: 100 })
        expect(await granted(ledger(), request)).toEqual({ kind: 'over-quota', usedBytes: 60, addedBytes: 41 })
        expect(await granted(ledger(), { ...request, sizeBytes: 40 })).toMatchObject({ kind: 'granted' })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 1 }), 100, 1000)).toMatchObject({ usedBytes: 100 })
      })

      it('[Q2] a POST longer than the upload URL of its hash counts only the additional bytes', async () => {
        await ledger().reserve(aPresigned(ws, hash, { bytes: 60 }), 100, 1000)
        const post = aStream(ws, hash, { bytes: 101 })
        expect(await ledger().reserve(post, 100, 1000)).toEqual({ kind: 'over-quota', usedBytes: 60, addedBytes: 41 })
        expect(await ledger().reserve({ ...post, bytes: 100 }, 100, 1000)).toEqual({ kind: 'admitted' })
      })

      it('[BLOB-10] an upload that repairs a held blob is recorded, counts nothing and needs no free quota', async () => {
        await granted(ledger(), aGrant(ws, hash))
        const healing = { ...aPresigned(ws, hash, { bytes: 100 }), heals: true } as const
        expect(await ledger().reserve(healing, 1, 1000)).toEqual({ kind: 'admitted' })
        expect(await ledger().staged(ws, hash)).toMatchObject([{ id: healing.id, bytes: 100 }])
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 1 }), 100, 1000)).toMatchObject({ usedBytes: 100 })
        expect(await ledger().reserve({ ...healing, id: `${healing.id}x`, bytes: 101 }, 100, 1000)).toMatchObject({
          kind: 'over-quota',
        })
      })

      it('[Q3] an upload of a held hash reserves nothing, and a request without bytes is never refused', async () => {
        await granted(ledger(), aGrant(ws, hash))
        expect(await ledger().reserve(aStream(ws, hash), 1, 1000)).toMatchObject({
          kind: 'held',
          grant: { hash, sizeBytes: 100 },
        })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 0 }), 1, 1000)).toEqual({ kind: 'admitted' })
        expect(await granted(ledger(), aGrant(ws, newHash(), { sizeBytes: 0, quotaBytes: 1 }))).toMatchObject({ added: true })
        expect(await ledger().reserve(aStream(ws, newHash(), { bytes: 1 }), 100, 1000)).toMatchObject({ usedBytes: 100 })
      })

      it('[LIFE-16] equal, smaller and live saves pass above the quota', async () => {
        const head = await create('x'.repeat(50))
        await granted(ledger(), aGrant(ws, hash, { sizeBytes: 50 }))
        const gated = (text: string) => store.documents.write(change(head, text, { quotaBytes: 60 }))
        expect(await gated('x'.repeat(51))).toMatchObject({ kind: 'over-quota', usedBytes: 100, addedBytes: 1 })
        expect(await gated('y'.repeat(50))).toMatchObject({ kind: 'written' })
      })

      it('[R-5] of 64 simultaneous uploads only as many are granted as fit into the quota together', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 64 }, async (_, i) => {
            const upload = aStream(ws, newHash(), { bytes: 10 })
            if (i % 2 === 0) {
              const admission = await ledger().reserve(upload, 205, 1000)
              if (admission.kind !== 'admitted') return admission.kind
            }
            const outcome = await granted(
              ledger(),
              aGrant(ws, upload.hash as string, { reservationId: upload.id, sizeBytes: 10, quotaBytes: 205 }),
            )
            if (outcome.kind !== 'granted') await ledger().release(upload.id)
            expect(await ledger().meteredBytes(ws)).toBeLessThanOrEqual(205)
            return outcome.kind
          }),
        )
        expect(outcomes.filter((kind) => kind === 'granted')).toHaveLength(20)
        expect(await ledger().meteredBytes(ws)).toBe(200)
      })

      it('[R-6] growing saves, uploads and finalizes at the limit together stay within the quota, and deletions always pass', async () => {
        const quotaBytes = 500
        const heads = await Promise.all(Array.from({ length: 6 }, () => create('x'.repeat(20))))
        await Promise.all([
          ...heads.map((head, i) =>
            store.documents.write(change(head, 'y'.repeat(60 + i), { quotaBytes, nowMs: 2000 })).then(async (outcome) => {
              if (i % 3 === 0) expect(await store.documents.remove(head, head.key, 3000)).toMatchObject({ kind: 'removed' })
              else expect(['written', 'over-quota']).toContain(outcome.kind)
            }),
          ),
          ...Array.from({ length: 12 }, async () => {
            const upload = aPresigned(ws, newHash(), { bytes: 40 })
            const admission = await ledger().reserve(upload, quotaBytes, 1000)
            if (admission.kind === 'admitted')
              await granted(ledger(), aGrant(ws, upload.hash as string, { reservationId: upload.id, sizeBytes: 45, quotaBytes }))
          }),
        ])
        const used = (await ledger().meteredBytes(ws)) + (await store.documents.usedBytes(ws))
        expect(used).toBeLessThanOrEqual(quotaBytes)
        expect(used).toBeGreaterThan(quotaBytes / 2)
      })
    })

    describe('staged uploads', () => {
      it('[BLOB-12] staged uploads of one hash are found newest first, and survive a restart', async () => {
        const old = aPresigned(ws, hash, { expiresAtMs: 100, bytes: 1 })
        const young = aPresigned(ws, hash, { expiresAtMs: 200, bytes: 2 })
        for (const upload of [old, young, aPresigned(ws, newHash()), aStream(ws, hash)]) {
          await ledger().reserve(upload, null, 50)
        }
        await store.reopen()
        expect(await ledger().staged(ws, hash)).toEqual([
          { id: young.id, workspaceId: ws, hash, bytes: 2, sub: 'ada' },
          { id: old.id, workspaceId: ws, hash, bytes: 1, sub: 'ada' },
        ])
        expect(await ledger().staged(`${ws}x`, hash)).toEqual([])
      })

      it('[BLOB-12] overdue staged uploads are returned oldest first up to a limit, until they are released or granted', async () => {
        const removeAtMs = (at: number) => ({ upload: { kind: 'presigned', sub: 'ada', removeAtMs: at } }) as const
        const uploads = [aPresigned(ws, newHash(), removeAtMs(-20)), aPresigned(ws, newHash(), removeAtMs(-30))] as const
        for (const upload of [...uploads, aPresigned(ws, newHash(), removeAtMs(-9))]) await ledger().reserve(upload, null, -50)
        const overdue = async (limit = 10, skip = 0) => (await ledger().overdueStaged(-10, limit, skip)).map(({ id }) => id)
        expect(await overdue()).toEqual([uploads[1].id, uploads[0].id])
        expect(await overdue(1)).toEqual([uploads[1].id])
        expect([await overdue(1, 1), await overdue(10, 2)]).toEqual([[uploads[0].id], []])
        await ledger().release(uploads[1].id)
        await granted(ledger(), aGrant(ws, uploads[0].hash as string, { reservationId: uploads[0].id }))
        expect(await overdue()).toEqual([])
      })
    })
  })
}
