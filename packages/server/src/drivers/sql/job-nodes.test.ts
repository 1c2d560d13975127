import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { emptyPostgres } from './testing/emptied-postgres.ts'
import { openFeedStore } from './testing/feed-store.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openHost, temporaryStores } from './testing/store-under-test.ts'

const newStore = temporaryStores()

await onPostgres((url) =>
  describe('maintenance jobs on several nodes', () => {
    it('[LIFE-30] a job does nothing while another node runs the same job, but runs beside other jobs', async () => {
      await using store = await openFeedStore(url)
      const ref = { workspaceId: 'w', id: randomUUID() }
      const { key } = written(await store.documents.write(creation(ref)))
      await store.documents.remove(ref, key, 1_000)
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      await other.query('begin')
      await other.query(`select pg_advisory_xact_lock(hashtext('tombstones'), 10)`)
      expect(await store.documents.purgeTombstones(2_000, 10)).toBe(0)
      expect(await store.documents.purgeRemembered(2_000, 10)).toBe(0)
      expect((await store.documents.state(ref)).kind).toBe('tombstone')
      await other.query('commit')
      await other.end()
      expect(await store.documents.purgeTombstones(2_000, 10)).toBe(1)
    })

    it('[LIFE-30] a document whose body lacks edits is left to its owner while the lease of the owner lasts', async () => {
      await emptyPostgres(url)
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      const register = async (leaseMs: number): Promise<number> => {
        const { rows } = await other.query<{ inc: string }>(
          `insert into nodes (node_id, mode, link_url, program, state, beat, lease_until_ms, robbed)
           values ($1, 'cluster', null, 'test', 'up', 1, (extract(epoch from clock_timestamp()) * 1000)::bigint + $2, 0) returning inc`,
          [randomUUID(), leaseMs],
        )
        return Number(rows[0]?.inc)
      }
      const [own, living, dead] = [await register(15_000), await register(15_000), await register(-1)]
      await using store = await openFeedStore(url, () => undefined, { inc: own })
      const behind = async (owner: number | null): Promise<string> => {
        const { id, key } = written(await store.documents.write(creation({ workspaceId: 'w', id: randomUUID() })))
        await store.updates.append([{ key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
        await other.query('update log_heads set owner = $1, epoch = 1 where key = $2', [owner, key])
        return id
      }
      const [cold, mine, , orphan] = [await behind(null), await behind(own), await behind(living), await behind(dead)]
      const { documents } = await store.documents.behind(0, 100)
      expect(documents.map(({ id }) => id)).toEqual([cold, mine, orphan])
      await other.end()
    })

    it('[LIFE-30] [WS-61] while another node gives lineages, this node skips no document without a lineage', async () => {
      await emptyPostgres(url)
      await using store = await openFeedStore(url)
      const { key } = written(await store.documents.write(creation({ workspaceId: 'w', id: randomUUID() })))
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      await other.query('update documents set lineage = null, lineage_crc32 = null where key = $1', [key])
      await other.query('begin')
      await other.query(`select pg_advisory_xact_lock(hashtext('lineages'), 10)`)
      expect(await store.documents.giveLineages(0, 10)).toEqual({ lastKey: 0, more: false })
      await other.query('commit')
      expect(await store.documents.giveLineages(0, 10)).toEqual({ lastKey: key, more: false })
      const { rows } = await other.query<{ lineage: string | null }>('select lineage from documents where key = $1', [key])
      expect(rows).toEqual([{ lineage: expect.any(String) }])
      await other.end()
    })

    it('[LIFE-30] a single relay takes no lock of a job', async () => {
      await using store = await openHost(url)
      const ref = { workspaceId: 'w', id: randomUUID() }
      const { key } = written(await store.documents.write(creation(ref)))
      await store.documents.remove(ref, key, 1_000)
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      await other.query(`select pg_advisory_lock(hashtext('tombstones'), 10)`)
      expect(await store.documents.purgeTombstones(2_000, 10)).toBe(1)
      await other.end()
    })
  }),
)

it('[FEED-2] a single relay writes no feed row', async () => {
  await using store = await openHost(newStore().url)
  const ref = { workspaceId: 'w', id: 'd' }
  const told = { actor: 'ada' }
  const { key } = written(await store.documents.write(creation(ref, '{}', { told })))
  await store.documents.remove(ref, key, 1_000, 'ada')
  await store.revocations.add([{ jti: 'j', revokedAtMs: 1 }], { keep: 10, isWhole: true })
  expect(await store.changeFeed.begin()).toEqual({ top: 0, gaps: [], recent: [] })
  const all = { above: 0, gaps: [], limit: 10, asksOpen: false }
  expect(await store.changeFeed.read(all)).toMatchObject({ rows: [], lastId: 0 })
  expect(await store.revocationFeed.read(all)).toMatchObject({ rows: [], lastId: 0 })
})
