import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RevocationStore } from '../auth/revocations.port.ts'
import type { DocumentHead, DocumentRef, DocumentStore } from '../documents/document-store.port.ts'
import { bodyOf, change, creation, update, written } from '../documents/testing/document-writes.ts'
import type { RecoveryStore } from '../recovery/recovery-store.port.ts'
import type { ChangeFeed, ChangeRow } from './change-feed.port.ts'
import { FeedMark } from './feed-mark.ts'
import type { FeedPlace } from './feed-table.port.ts'
import type { JobLeases } from './job-leases.port.ts'
import type { RevocationFeed } from './revocation-feed.port.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A store that was opened for several nodes. */
export interface OpenFeedStore extends AsyncDisposable {
  readonly documents: DocumentStore
  readonly recovery: RecoveryStore
  readonly revocations: RevocationStore
  readonly changeFeed: ChangeFeed
  readonly revocationFeed: RevocationFeed
  readonly jobLeases: JobLeases
  /** Adds a row to the change feed: a row of a kind that only a newer release knows, or a damaged row. */
  addForeign(row: { readonly kind: string; readonly payload: string }): Promise<void>
}

/** Registers the contract of every driver of `ChangeFeed`, `RevocationFeed` and `JobLeases`. */
export function describeFeedStoreContract(name: string, open: () => Promise<OpenFeedStore>): void {
  describe(`feeds: ${name}`, () => {
    let store: OpenFeedStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    const newRef = (): DocumentRef => ({ workspaceId: `ws \0 \ud800 ${randomUUID()}`, id: `doc-${randomUUID()}` })
    const create = async (ref = newRef(), more = {}): Promise<DocumentHead> =>
      written(await store.documents.write(creation(ref, '{}', { told: { actor: 'ada' }, ...more })))
    const rowsSince = async (place: FeedPlace): Promise<readonly ChangeRow[]> => {
      const mark = new FeedMark(place, 0)
      return mark.take(await store.changeFeed.read(mark.request(1_000, 0)), 0, 0)
    }
    /** Returns the rows of the commits that `work` makes. */
    const told = async (work: () => Promise<unknown>): Promise<readonly ChangeRow[]> => {
      const place = await store.changeFeed.begin()
      await work()
      return rowsSince(place)
    }
    const beside = (head: DocumentHead, set: object) =>
      store.documents.write({ ...change(head, ''), set, log: { kind: 'none' }, told: { actor: 'bob' } })

    it('[FEED-2] [WS-52] rows of a creation and a change of the body hold kind, author, version and the document after the change', async () => {
      const ref = newRef()
      let created: DocumentHead | undefined
      let changed: DocumentHead | undefined
      const rows = await told(async () => {
        created = await create(ref, { told: { actor: 'odd \0 \ud800 \\' } })
        changed = written(await store.documents.write(change(created, '{"n":1}', { told: { actor: 'bob' } })))
      })
      const { workspaceId, id: docId } = ref
      const named = {
        workspaceId,
        docId,
        key: created?.key,
        isOwn: true,
        atMs: expect.any(Number),
        id: expect.any(Number),
        seq: 0,
      }
      expect(rows).toEqual([
        { ...named, kind: 'created', actor: 'odd \0 \ud800 \\', version: 1, head: created, isSharingChanged: false },
        { ...named, kind: 'updated', actor: 'bob', version: 2, head: changed, isSharingChanged: false },
      ])
      expect(Math.abs((rows[0]?.atMs ?? 0) - Date.now())).toBeLessThan(60_000)
    })

    it('[FEED-2] [PERM-2] a change of only owner or shares has the kind shared, a change of the collection the kind updated', async () => {
      const head = await create()
      const shares = [{ userId: 'bob', permission: 'view' }]
      const rows = await told(async () => {
        const shared = written(await beside(head, { sharedWith: shares }))
        const moved = written(await beside(shared, { collectionId: 'c1' }))
        const owned = written(await beside(moved, { ownerId: 'eve', ownerName: 'Eve', sharedWith: [] }))
        const put = change(owned, '{}', { told: { actor: 'eve' } })
        written(await store.documents.write({ ...put, set: { ...put.set, sharedWith: shares } }))
      })
      expect(rows).toMatchObject([
        { kind: 'shared', isSharingChanged: true, head: { sharedWith: shares } },
        { kind: 'updated', isSharingChanged: false, head: { collectionId: 'c1' } },
        { kind: 'shared', isSharingChanged: true, head: { ownerId: 'eve', sharedWith: [] } },
        { kind: 'updated', isSharingChanged: true, head: { sharedWith: shares } },
      ])
    })

    it('[FEED-2] [LIFE-12] a materialisation has a row of kind edited when it raises the version, and else no row', async () => {
      const head = await create()
      const saved = { actor: 'bob', isMaterialisation: true } as const
      const log = { kind: 'live', lastSeq: 0, append: [{ actor: 'bob', update: update(1) }] } as const
      const rows = await told(async () => {
        const first = written(await store.documents.write(change(head, '{"n":1}', { log, told: saved })))
        const again = { log: { kind: 'live', lastSeq: 1, append: [] }, bump: false, told: saved } as const
        written(await store.documents.write(change(first, '{"n":2}', again)))
      })
      expect(rows).toEqual([
        expect.objectContaining({ kind: 'edited', docId: head.id, key: head.key, actor: 'bob', version: 2, seq: 1 }),
      ])
      expect(rows[0]).not.toHaveProperty('head')
    })

    it('[WS-53] a row holds the end of the log after the records of its change', async () => {
      const head = await create()
      const log = { kind: 'live', lastSeq: 0, append: [1, 2].map((n) => ({ actor: 'bob', update: update(n) })) } as const
      const rows = await told(() => store.documents.write(change(head, '{"n":1}', { log, told: { actor: 'bob' } })))
      expect(rows).toMatchObject([{ kind: 'updated', seq: 2 }])
    })

    it('[WS-51] [FEED-2] the row of a deletion holds the document as it was, and the tombstone', async () => {
      const head = written(await beside(await create(), { sharedWith: [{ userId: 'bob', permission: 'view' }] }))
      let removed: Awaited<ReturnType<DocumentStore['remove']>> | undefined
      const rows = await told(async () => {
        removed = await store.documents.remove(head, head.key, 5_000, 'ada')
      })
      const tombstone = removed?.kind === 'removed' ? removed.tombstone : null
      expect(tombstone).toMatchObject({ lastServerVersion: 2 })
      expect(rows).toMatchObject([{ kind: 'deleted', actor: 'ada', version: 2, before: head, tombstone }])
    })

    it('[WS-52] a restore writes a row of the deleted source, and then a row of the new document', async () => {
      const head = written(await store.documents.write(change(await create(), '{"n":1}', { capture: { reason: 'zeroing' } })))
      const newRef = { workspaceId: head.workspaceId, id: `doc-${randomUUID()}` }
      const rows = await told(async () => {
        const outcome = await store.recovery.restore({
          source: head,
          newRef,
          body: bodyOf('{"n":0}'),
          nowMs: 6_000,
          actor: 'ada',
        })
        expect(outcome.kind).toBe('restored')
      })
      expect(rows).toMatchObject([
        { kind: 'deleted', docId: head.id, actor: 'ada', tombstone: { successor: newRef.id } },
        { kind: 'created', docId: newRef.id, actor: 'ada', restoredFrom: head.id, head: { id: newRef.id } },
      ])
    })

    it('[FEED-2] a write that is refused, repeated or not to be announced leaves no row', async () => {
      const head = await create()
      const once = { request: randomUUID(), digest: 'd', answer: '{}', sinceMs: 0 }
      const first = written(await store.documents.write(change(head, '{"n":1}', { once, told: { actor: 'ada' } })))
      const rows = await told(async () => {
        expect((await store.documents.write(change(head, '{"n":2}', { told: { actor: 'ada' } }))).kind).toBe('conflict')
        expect((await store.documents.write(change(first, '{"n":3}', { once, told: { actor: 'ada' } }))).kind).toBe('repeated')
        const large = change(first, '{"n":123456789}', { quotaBytes: 1, told: { actor: 'ada' } })
        expect((await store.documents.write(large)).kind).toBe('over-quota')
        expect((await store.documents.remove(head, head.key + 1_000_000, 1, 'ada')).kind).toBe('gone')
        written(
          await store.documents.write({
            ...change(first, ''),
            set: {},
            bump: false,
            log: { kind: 'live', lastSeq: 0, append: [] },
          }),
        )
      })
      expect(rows).toEqual([])
    })

    it('[LIFE-29] a row of a kind from a newer release, or a damaged row, is read as unknown and hides no other row', async () => {
      let head: DocumentHead | undefined
      const rows = await told(async () => {
        await store.addForeign({ kind: 'renamed', payload: '{"docId":"d","version":1}' })
        await store.addForeign({ kind: 'updated', payload: '{"docId":"d","version":1}' })
        await store.addForeign({ kind: 'deleted', payload: '{"docId' })
        head = await create()
      })
      expect(rows.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown', 'created'])
      expect(rows[3]).toMatchObject({ docId: head?.id })
    })

    it('[FEED-3] [LIFE-30] the oldest rows are removed first, in bounded batches: rows past their age, and rows above the bound of bytes', async () => {
      const head = await create()
      const all: FeedPlace = { top: 0, gaps: [], recent: [] }
      const keepsAll = { keptMs: Number.MAX_SAFE_INTEGER * DAY_MS, mostBytes: null, limit: 1_000 }
      expect(await store.changeFeed.purge(keepsAll)).toBe(false)
      const before = await rowsSince(all)
      expect(before.length).toBeGreaterThan(10)
      // The row was written less than a minute ago by the clock of the database, which alone decides the age of a row.
      expect(await store.changeFeed.purge({ ...keepsAll, keptMs: 60_000 })).toBe(false)
      expect(await rowsSince(all)).toHaveLength(before.length)
      expect(await store.changeFeed.purge({ ...keepsAll, keptMs: -HOUR_MS, limit: 3 })).toBe(true)
      expect((await rowsSince(all)).map(({ id }) => id)).toEqual(before.slice(3).map(({ id }) => id))
      while (await store.changeFeed.purge({ ...keepsAll, keptMs: -HOUR_MS })) continue
      expect(await rowsSince(all)).toEqual([])
      for (let n = 0; n < 20; n++)
        await beside(written(await store.documents.write(change(await stored(head), '{}'))), { collectionId: `c${n}` })
      while (await store.changeFeed.purge({ ...keepsAll, mostBytes: 1_000_000 })) continue
      expect(await rowsSince(all)).toHaveLength(20)
      while (await store.changeFeed.purge({ ...keepsAll, mostBytes: 1_000 })) continue
      expect((await rowsSince(all)).length).toBeLessThan(3)
    })

    it('[WS-51] [LIFE-27] a starting reader gets all later rows and no earlier ones, also after a purge', async () => {
      await create()
      expect(await told(async () => undefined)).toEqual([])
      await store.changeFeed.purge({ keptMs: -HOUR_MS, mostBytes: null, limit: 1_000 })
      expect(await told(() => create())).toHaveLength(1)
      const place = await store.changeFeed.begin()
      expect((await store.changeFeed.read({ above: place.top, gaps: [], limit: 1, asksOpen: true })).lastId).toBe(place.top)
    })

    it('[LIFE-5] a read returns the time of the row it starts above, so that a reader notices when this row was replaced or is missing', async () => {
      await create()
      await create()
      const { top, recent } = await store.changeFeed.begin()
      const [before, newest] = recent.slice(-2)
      expect(newest?.id).toBe(top)
      const look = async (above: number) =>
        (await store.changeFeed.read({ above, gaps: [], limit: 10, asksOpen: false })).aboveAtMs
      expect([await look(top), await look(before?.id ?? 0), await look(top + 1)]).toEqual([newest?.atMs, before?.atMs, null])
    })

    it('[AUTH-14] [AUTH-15] the feed holds revocations with their times, and each push or poll that was completed', async () => {
      const { top } = await store.revocationFeed.begin()
      const entries = [1, 2].map((n) => ({ jti: `odd \\ ${n} ${randomUUID()}`, revokedAtMs: n * 1000 }))
      await store.revocations.add(entries, { keep: 1_000 })
      await store.revocations.add([], { keep: 1_000, cursor: 'c', isWhole: true })
      const { rows } = await store.revocationFeed.read({ above: top, gaps: [], limit: 10, asksOpen: false })
      expect(rows).toMatchObject([...entries.map((entry) => ({ kind: 'revoked', ...entry })), { kind: 'heard' }])
      while (await store.revocationFeed.purge({ keptMs: -HOUR_MS, mostBytes: null, limit: 100 })) continue
      expect((await store.revocationFeed.read({ above: 0, gaps: [], limit: 10, asksOpen: false })).rows).toEqual([])
    })

    it('[LIFE-30] one holder at a time has the lease of a job, until the lease expires or is released', async () => {
      const job = `job ${randomUUID()}`
      const { claim, release } = store.jobLeases
      expect(await claim(job, 'a', 60_000)).toEqual({ isMine: true, leftMs: 60_000 })
      expect(await claim(job, 'a', 50_000)).toEqual({ isMine: true, leftMs: 50_000 })
      const refused = await claim(job, 'b', 60_000)
      expect(refused.isMine).toBe(false)
      expect(refused.leftMs).toBeGreaterThan(30_000)
      expect(refused.leftMs).toBeLessThanOrEqual(50_000)
      expect((await claim(`${job}!`, 'b', 60_000)).isMine).toBe(true)
      await release(job, 'b')
      expect((await claim(job, 'b', 1_000)).isMine).toBe(false)
      await release(job, 'a')
      expect((await claim(job, 'b', 50)).isMine).toBe(true)
      await new Promise((resolve) => setTimeout(resolve, 80))
      expect((await claim(job, 'a', 1_000)).isMine).toBe(true)
    })

    async function stored(head: DocumentRef): Promise<DocumentHead> {
      const state = await store.documents.state(head)
      if (state.kind !== 'document') throw new Error('not stored')
      return state.head
    }
  })
}
