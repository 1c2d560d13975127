import type { SyncClient } from '@docrelay/client/sync/sync-client'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { setShape } from '../live-documents.ts'
import { type RelayUnderTest, saved, until } from '../relay-under-test.ts'
import { metric } from '../wire-client.ts'
import { type NodesUnderTest, startNodesUnderTest } from './nodes-under-test.ts'

const nodes = await startNodesUnderTest({ count: 1 })
if (typeof nodes === 'string') process.stderr.write(`skipped: ${nodes}\n`)

const FULL = { name: 'doc', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] }
const sizeOf = ({ doc }: SyncClient) => doc.getMap('shapes:canvas').size

describe.skipIf(typeof nodes === 'string')('nodes of which one has a bad connection to the database, and one is killed', () => {
  const { relays, url, add } = nodes as NodesUnderTest
  const b = relays[0] as RelayUnderTest
  afterAll(() => (nodes as NodesUnderTest)[Symbol.asyncDispose](), patience(20_000))

  it(
    '[LIFE-6] [LIFE-25] nobody is disconnected and all is saved while every twelfth commit of the owner fails or loses its answer',
    async () => {
      await b.rest().putDocument('kept', FULL)
      const a = await add({ RELAY_TEST_HOOKS: '1', RELAY_TEST_COMMIT_FAULTS: '5:0.08' })
      const ann = a.sync('kept')
      await saved(ann)
      const bob = b.sync('kept')
      await saved(bob)
      let closes = 0
      for (const client of [ann, bob]) client.on('state', ({ closed }) => void (closed !== null && closes++))
      let typed = 0
      while (((await metric(a, 'relay_append_failures_total')) ?? 0) < 3) {
        for (const [client, who] of [
          [ann, 'a'],
          [bob, 'b'],
        ] as const)
          setShape(client, `${who}${typed}`)
        typed++
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await saved(ann, bob)
      await until('both to be equal', () => [ann, bob].every((client) => sizeOf(client) === 2 * typed))
      const eve = b.sync('kept')
      await saved(eve)
      expect([sizeOf(eve), closes]).toEqual([2 * typed, 0])
      for (const client of [ann, bob, eve]) client.destroy()
      await a.kill()
    },
    patience(60_000),
  )

  it(
    '[LIFE-26] no node opens a document whose last five owners ended, and other documents are opened',
    async () => {
      for (const id of ['bad', 'good']) await b.rest().putDocument(id, FULL)
      const a = await add()
      const owned = ['bad', 'good'].map((id) => a.sync(id))
      await saved(...owned)
      const [bad, good] = ['bad', 'good'].map((id) => b.sync(id)) as [SyncClient, SyncClient]
      await saved(bad, good)
      const database = new pg.Client({ connectionString: url })
      await database.connect()
      await database.query(`insert into takeovers (key, times, taken_at_ms)
        select key, 4, (extract(epoch from clock_timestamp()) * 1000)::bigint - 6000 from documents where id = 'bad'`)
      const closed: unknown[] = []
      bad.on('state', ({ closed: close }) => void (close !== null && closed.push(close)))
      await a.kill()
      setShape(good, 'still')
      await saved(good)
      await until('the bad document to be refused', () => closed.length > 0)
      const { rows } = await database.query(`select d.id, n.node_id, t.times from log_heads h
        join documents d using (key) join nodes n on n.inc = h.owner left join takeovers t using (key) where d.id in ('bad', 'good') order by 1`)
      await database.end()
      expect(rows).toEqual([
        { id: 'bad', node_id: 'node-1', times: '5' },
        { id: 'good', node_id: 'node-1', times: '1' },
      ])
      expect(good.state.saved).toBe('saved')
    },
    patience(60_000),
  )
})
