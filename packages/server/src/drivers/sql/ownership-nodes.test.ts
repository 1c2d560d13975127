import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { describeOwnershipContract } from '../../sync/ownership.contract.ts'
import type { AppendRecord } from '../../sync/update-log.port.ts'
import type { CommitFault } from './commit-faults.ts'
import { openDatabase } from './database.ts'
import type { Database, OwnNode } from './engine.ts'
import type { StorageHost } from './storage-host.ts'
import { type NodeRows, nodeRows } from './testing/nodes-under-test.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openHost } from './testing/store-under-test.ts'
import type { Writer } from './tables.ts'

interface Node extends StorageHost {
  readonly inc: number
  /** While true, transactions stay written but not committed, as in a paused process. */
  hold: boolean
  /** The faults of the next commits; `null` lets a commit succeed. */
  readonly faults: (CommitFault | null)[]
}

await onPostgres((url) => {
  let beside: Database
  let rows: NodeRows
  const opened: AsyncDisposable[] = []
  beforeAll(async () => {
    beside = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
    rows = nodeRows(beside)
  })
  afterAll(() => rows[Symbol.asyncDispose]())

  const openNode = async (): Promise<Node> => {
    const own: OwnNode = { inc: null }
    const node = { hold: false, faults: [] as (CommitFault | null)[] }
    const host = await openHost(url, {
      node: own,
      isCommitHeld: () => node.hold,
      commitFaults: () => node.faults.shift() ?? null,
    })
    own.inc = await rows.register()
    return Object.assign(node, host, { inc: own.inc })
  }

  describeOwnershipContract('PostgreSQL, two nodes', async () => {
    const nodes: Node[] = []
    return {
      ...rows,
      async join() {
        const node = await openNode()
        nodes.push(node)
        return node
      },
      async [Symbol.asyncDispose]() {
        for (const node of nodes) await node[Symbol.asyncDispose]()
      },
    }
  })

  describe('several nodes on one PostgreSQL', () => {
    let [a, b] = [] as unknown as [Node, Node]
    let count = 0
    const join = async (): Promise<Node> => {
      const node = await openNode()
      opened.push(node)
      return node
    }
    const newDocument = async () => {
      ;[a, b] = [await join(), await join()]
      return written(await a.documents.write(creation({ workspaceId: 'w', id: `doc-${count++}` })))
    }
    afterEach(async () => {
      for (const node of [a, b]) node.hold = false
      for (const node of opened.splice(0)) await node[Symbol.asyncDispose]()
    })

    const record = (key: number, afterSeq: number, epoch: number): AppendRecord => ({
      ...{ key, afterSeq, epoch, actor: 'ada', atMs: 5, update: update(1) },
    })
    const append = async (node: Node, key: number, afterSeq: number, epoch: number) =>
      (await node.updates.append([record(key, afterSeq, epoch)]))[0]?.kind
    const lengthOfLog = async (key: number) => (await b.updates.after(key, 0)).length
    /** Returns how many statements wait for a lock in this database. */
    const waiting = async () => {
      const found = await sql<{ n: number }>`
        select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        beside.reader,
      )
      return found.rows[0]?.n
    }
    const untilOneWaits = () => expect.poll(waiting, { interval: 10 }).toBe(1)

    it('[LIFE-26] of two nodes that acquire a document at once one becomes the owner, and the other learns which node owns it', async () => {
      const { key } = await newDocument()
      for (let round = 1; round <= 20; round++) {
        const outcomes = await Promise.all([a, b].map(({ ownership }) => ownership.acquire(key)))
        const winner = outcomes[0]?.kind === 'acquired' ? a : b
        expect(outcomes.toSorted((x, y) => (x.kind < y.kind ? -1 : 1))).toEqual([
          { kind: 'acquired', owner: winner.inc, epoch: round, lastSeq: 0, takeovers: 0 },
          { kind: 'owned', by: { owner: winner.inc, epoch: round } },
        ])
        await winner.ownership.release(key, round)
      }
    })

    it('[LIFE-26] an acquire that waited for another acquire compares the owner again, and returns owned', async () => {
      const { key } = await newDocument()
      a.hold = true
      const first = a.ownership.acquire(key)
      await expect.poll(() => lockedRows(beside)).toBe(1)
      const second = b.ownership.acquire(key)
      await untilOneWaits()
      a.hold = false
      expect(await first).toMatchObject({ kind: 'acquired', epoch: 1 })
      expect(await second).toEqual({ kind: 'owned', by: { owner: a.inc, epoch: 1 } })
    })

    it('[LIFE-26] an append that waited for a takeover is fenced and not stored', async () => {
      const { key } = await newDocument()
      await a.ownership.acquire(key)
      await rows.silence(a.inc, 16_000)
      b.hold = true
      const takeover = b.ownership.acquire(key)
      await expect.poll(() => lockedRows(beside)).toBe(1)
      const late = append(a, key, 0, 1)
      await untilOneWaits()
      b.hold = false
      expect(await takeover).toMatchObject({ kind: 'acquired', epoch: 2 })
      expect(await late).toBe('fenced')
      expect(await lengthOfLog(key)).toBe(0)
    })

    it('[LIFE-26] a takeover that waited for an append begins after the appended record', async () => {
      const { key } = await newDocument()
      await a.ownership.acquire(key)
      await rows.silence(a.inc, 16_000)
      a.hold = true
      const last = append(a, key, 0, 1)
      await expect.poll(() => lockedRows(beside)).toBe(1)
      const takeover = b.ownership.acquire(key)
      await untilOneWaits()
      a.hold = false
      expect(await last).toBe('appended')
      expect(await takeover).toEqual({ kind: 'acquired', owner: b.inc, epoch: 2, lastSeq: 1, takeovers: 1, taken: 'ended' })
    })

    it('[LIFE-26] a node paused between update and commit keeps the next owner waiting for 3 s, and stores nothing', async () => {
      const { key } = await newDocument()
      const tenure = await a.ownership.acquire(key)
      await rows.silence(a.inc, 3500)
      a.hold = true
      const paused = append(a, key, 0, 1)
      paused.catch(() => undefined)
      await expect.poll(() => lockedRows(beside)).toBe(1)
      const beganMs = performance.now()
      expect(await b.ownership.acquire(key, { owner: a.inc, epoch: 1 })).toMatchObject({ kind: 'acquired', lastSeq: 0 })
      expect(performance.now() - beganMs).toBeGreaterThan(2000)
      expect(performance.now() - beganMs).toBeLessThan(4500)
      a.hold = false
      await expect(paused).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
      expect(tenure).toMatchObject({ epoch: 1 })
      expect(await append(a, key, 0, 1)).toBe('fenced')
      expect(await append(b, key, 0, 2)).toBe('appended')
      expect(await lengthOfLog(key)).toBe(1)
    })

    it('[LIFE-26] an acquire whose answer was lost holds against other nodes, and the next acquire begins a new epoch', async () => {
      const { key } = await newDocument()
      a.faults.push('unanswered')
      await expect(a.ownership.acquire(key)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
      expect(await b.ownership.acquire(key)).toEqual({ kind: 'owned', by: { owner: a.inc, epoch: 1 } })
      expect(await a.ownership.acquire(key)).toMatchObject({ kind: 'acquired', epoch: 2 })
      expect(await append(a, key, 0, 1)).toBe('fenced')
    })

    it('[LIFE-26] an append whose answer was lost is in the log that the next owner gets', async () => {
      const { key } = await newDocument()
      await a.ownership.acquire(key)
      a.faults.push('unanswered')
      await expect(append(a, key, 0, 1)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
      await rows.silence(a.inc, 16_000)
      expect(await b.ownership.acquire(key)).toMatchObject({ kind: 'acquired', lastSeq: 1 })
      expect(await append(a, key, 0, 1)).toBe('fenced')
    })

    it('[LIFE-26] an acquire whose connection broke before the commit leaves the document free', async () => {
      const { key } = await newDocument()
      a.faults.push('cut')
      await expect(a.ownership.acquire(key)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
      expect(await b.ownership.acquire(key)).toMatchObject({ kind: 'acquired', epoch: 1 })
    })

    it('[LIFE-26] a list shows a document that another node has changed since the last list', async () => {
      const head = await newDocument()
      await b.heads.stamps('w', null)
      expect((await b.heads.stamps('w', null)).mark).toBeNull()
      await a.ownership.acquire(head.key)
      const owner = { owner: a.inc, epoch: 1 }
      expect((await b.documents.list('w')).find(({ key }) => key === head.key)).toEqual({ ...head, owner })
    })

    it('[LIFE-26] one of several nodes, unlike a single relay, limits the idle time and lock waits of its transactions', async () => {
      const limitsOf = async (db: Database['reader'] | Writer) => {
        const found = await sql<{ idle: string; lock: string }>`
          select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock`.execute(
          db,
        )
        return found.rows[0]
      }
      const limits = ({ reader }: Database) => limitsOf(reader)
      expect(await limits(beside)).toEqual({ idle: '0', lock: '0' })
      const ofNode = await openDatabase(url, { synchronous: 'FULL', node: { inc: null } }, silentLogger)
      opened.push({ [Symbol.asyncDispose]: () => ofNode.close() })
      expect(await limits(ofNode)).toEqual({ idle: '3s', lock: '5s' })
      // These limits are longer while the store is prepared: steps may take long, and so may another node that holds the lock.
      const preparing = ofNode.writer.transaction().execute(async (writer) => {
        await ofNode.engine.lockStore(writer)
        return limitsOf(writer)
      })
      expect(await preparing).toEqual({ idle: '30s', lock: '0' })
      expect(await limits(ofNode)).toEqual({ idle: '3s', lock: '5s' })
    })

    it('[LIFE-7] a change of the end of a log or of its owner updates no index', async () => {
      const { rows: indexes } = await sql<{ name: string }>`
        select indexname as name from pg_indexes where tablename = 'log_heads'`.execute(beside.reader)
      expect(indexes).toEqual([{ name: 'log_heads_pkey' }])
    })

    it('[LIFE-7] the owner columns take no bytes in the row of a document that never had an owner: the row has 64 bytes', async () => {
      const { key } = await newDocument()
      const bytes = async () => {
        const found = await sql<{ n: number }>`select pg_column_size(log_heads) as n from log_heads where key = ${key}`.execute(
          beside.reader,
        )
        return found.rows[0]?.n
      }
      expect(await bytes()).toBe(64)
      await a.ownership.acquire(key)
      expect(await bytes()).toBe(80)
    })
  })
})

/** Returns how many open transactions have changed something. */
async function lockedRows({ reader }: Database): Promise<number | undefined> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_stat_activity
    where datname = current_database() and backend_xid is not null and state = 'idle in transaction'`.execute(reader)
  return rows[0]?.n
}
