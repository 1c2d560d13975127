import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentStore } from '../documents/document-store.port.ts'
import { creation, written } from '../documents/testing/document-writes.ts'
import type { ShareLink, ShareLinkStore } from './share-link-store.port.ts'

export interface OpenShareLinkStore extends AsyncDisposable {
  readonly shareLinks: ShareLinkStore
  readonly documents: DocumentStore
  /** Closes and reopens the store, as a restart does. */
  reopen(): Promise<void>
}

/** Registers the tests that every driver of `ShareLinkStore` passes. */
export function describeShareLinkStoreContract(name: string, open: () => Promise<OpenShareLinkStore>): void {
  describe(`ShareLinkStore: ${name}`, () => {
    let store: OpenShareLinkStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    const create = async (workspaceId: string = randomUUID()): Promise<DocumentHead> =>
      written(await store.documents.write(creation({ workspaceId, id: `doc-${randomUUID()}` })))
    const linkOf = (more: Partial<ShareLink> = {}): ShareLink & { tokenHash: string } => ({
      id: `link-${randomUUID()}`,
      createdAtMs: 1000,
      createdBy: 'ada',
      expiresAtMs: 5000,
      ...more,
      tokenHash: randomUUID(),
    })
    const issue = async (head: DocumentHead, more: Partial<ShareLink> = {}, maxLive = 50) => {
      const link = linkOf(more)
      return { link, outcome: await store.shareLinks.issue({ ...link, key: head.key, maxLive }) }
    }
    const find = (head: DocumentHead, tokenHash: string, nowMs = 2000, workspaceId = head.workspaceId) =>
      store.shareLinks.find(workspaceId, tokenHash, nowMs)
    const listed = async (head: DocumentHead, nowMs = 2000) => store.shareLinks.list(head.key, nowMs)

    it('[SHARE-3] [SHARE-4] an issued link is listed and found in its workspace, also after a restart', async () => {
      const head = await create(`ws \0 ${randomUUID()}`)
      const { link, outcome } = await issue(head, { createdBy: 'odd \0 \ud800 \\' })
      expect(outcome).toBe('issued')
      await store.reopen()
      const { tokenHash, ...shown } = link
      expect(await listed(head)).toEqual([shown])
      expect(await find(head, tokenHash)).toEqual({
        ref: { workspaceId: head.workspaceId, id: head.id },
        key: head.key,
        linkId: link.id,
      })
      expect(await find(head, tokenHash, 2000, 'other')).toBe(null)
      expect(await find(head, 'wrong')).toBe(null)
    })

    it('[SHARE-3] links are listed newest first, and of one document only', async () => {
      const [head, other] = [await create(), await create()]
      const made = [(await issue(head)).link, (await issue(head, { createdAtMs: 3000 })).link]
      await issue(other)
      expect((await listed(head)).map(({ id }) => id)).toEqual([made[1]?.id, made[0]?.id])
    })

    it('[SHARE-3] [SHARE-4] from its expiry on a link is neither listed nor found', async () => {
      const head = await create()
      const { link } = await issue(head, { expiresAtMs: 5000 })
      expect([(await listed(head, 4999)).length, (await listed(head, 5000)).length]).toEqual([1, 0])
      expect((await find(head, link.tokenHash, 4999))?.linkId).toBe(link.id)
      expect(await find(head, link.tokenHash, 5000)).toBe(null)
    })

    it('[SHARE-1] the limit of live links is checked in the transaction that adds one', async () => {
      const head = await create()
      expect((await issue(head, { createdAtMs: 500, expiresAtMs: 1000 }, 3)).outcome).toBe('issued')
      const outcomes = await Promise.all(Array.from({ length: 8 }, async () => (await issue(head, {}, 3)).outcome))
      expect(outcomes.filter((outcome) => outcome === 'issued')).toHaveLength(3)
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(5)
      expect(await listed(head)).toHaveLength(3)
    })

    it('[SHARE-3] revoking ends one link of a document and no other', async () => {
      const [head, other] = [await create(), await create()]
      const [{ link }, { link: kept }] = [await issue(head), await issue(head)]
      expect(await store.shareLinks.revoke(other.key, link.id, 2000)).toBe('unknown')
      expect(await store.shareLinks.revoke(head.key, 'nope \0', 2000)).toBe('unknown')
      expect(await store.shareLinks.revoke(head.key, link.id, 2000)).toBe('revoked')
      expect(await store.shareLinks.revoke(head.key, link.id, 2000)).toBe('unknown')
      expect(await find(head, link.tokenHash)).toBe(null)
      expect((await listed(head)).map(({ id }) => id)).toEqual([kept.id])
      expect(await store.shareLinks.revoke(head.key, kept.id, kept.expiresAtMs)).toBe('unknown')
    })

    it('[SHARE-5] [LIFE-23] links end with their document and do not return when it is recreated', async () => {
      const head = await create()
      const { link } = await issue(head)
      const ref = { workspaceId: head.workspaceId, id: head.id }
      expect(await store.documents.remove(ref, head.key, 3000)).toMatchObject({ kind: 'removed' })
      expect(await find(head, link.tokenHash)).toBe(null)
      expect((await issue(head)).outcome).toBe('gone')
      const again = written(
        await store.documents.write(creation(ref, '{}', { expect: { kind: 'tombstone', lastServerVersion: 1 } })),
      )
      expect([await listed(again), await find(again, link.tokenHash)]).toEqual([[], null])
    })

    it('[SHARE-5] a link issued while its document is deleted does not remain', async () => {
      for (let round = 0; round < 5; round++) {
        const head = await create()
        const ref = { workspaceId: head.workspaceId, id: head.id }
        const [issued, removed] = await Promise.all([issue(head), store.documents.remove(ref, head.key, 3000)])
        expect(removed.kind).toBe('removed')
        expect(['issued', 'gone']).toContain(issued.outcome)
        expect(await find(head, issued.link.tokenHash)).toBe(null)
      }
    })

    it('[LIFE-30] expired links are purged oldest first, a batch at a time', async () => {
      while ((await store.shareLinks.purgeExpired(10_000, 100)) > 0);
      const head = await create()
      for (const expiresAtMs of [1100, 1200, 1300]) await issue(head, { expiresAtMs })
      expect(await store.shareLinks.purgeExpired(1200, 1)).toBe(1)
      expect((await listed(head, 1000)).map((link) => link.expiresAtMs).sort()).toEqual([1200, 1300])
      expect(await store.shareLinks.purgeExpired(1200, 10)).toBe(1)
      expect(await store.shareLinks.purgeExpired(1200, 10)).toBe(0)
      expect((await listed(head, 1000)).map((link) => link.expiresAtMs)).toEqual([1300])
    })
  })
}
