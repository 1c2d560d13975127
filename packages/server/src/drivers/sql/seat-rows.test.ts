import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { describeSeatsContract } from '../../access/seats.contract.ts'
import type { SeatLimits, SeatOutcome, Seats } from '../../access/seats.port.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { waitingTimers } from '../../kernel/timers.ts'
import { DEFAULT_RECOVERY_RING } from './recovery-ring.ts'
import { openStorageHost } from './storage-host.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from './testing/postgres-under-test.ts'

const probe = await openPostgresUnderTest()
if (typeof probe === 'string') process.stderr.write(`skipped: ${probe}\n`)

interface Node {
  readonly inc: number
  readonly seats: Seats
  /** Ends the heartbeats and connections of the node, as kill -9 does. The row of the node stays. */
  kill(): Promise<void>
}

describe.skipIf(typeof probe === 'string')('seats of several nodes on one PostgreSQL', () => {
  const server = probe as PostgresUnderTest
  const nodes: Node[] = []
  let client: pg.Client
  let names = 0
  let workspace = ''

  const startNode = async (): Promise<Node> => {
    const host = await openStorageHost({
      url: server.url,
      node: { inc: null },
      commitDelayMs: 4,
      recovery: DEFAULT_RECOVERY_RING,
      log: silentLogger,
      clock: systemClock,
      timers: waitingTimers,
      random: systemRandom,
      hooks: { synchronous: 'FULL', ackBeforeCommit: false, commitHoldMs: 0, answerHoldMs: 0 },
      onFatal() {},
      onLoss() {},
    })
    const registered = await host.nodes.register({ nodeId: `n${++names}`, linkUrl: 'ws://10.0.0.1:1', program: '1' })
    if (registered.kind === 'taken') throw new Error(registered.reason)
    const { inc } = registered
    const pulse = () => void host.nodes.pulse(inc, systemClock.monotonicMs())
    pulse()
    const pulsing = setInterval(pulse, 200)
    let killed: PromiseLike<void> | null = null
    const node: Node = {
      inc,
      seats: host.seats,
      async kill() {
        clearInterval(pulsing)
        await (killed ??= host[Symbol.asyncDispose]())
      },
    }
    nodes.push(node)
    return node
  }
  /** Ends the lease of a killed node, whose seats otherwise count for up to 15 s. */
  const endLease = ({ inc }: Node) => client.query('update nodes set lease_until_ms = 0 where inc = $1', [inc])
  /** Empties the table, as a crash of the server does with an unlogged table. */
  const emptyTable = () => client.query('truncate seats')
  const takeMany = (
    takers: readonly Node[],
    count: number,
    limits: SeatLimits,
    editor = true,
  ): Promise<(SeatOutcome | 'unavailable')[]> =>
    Promise.all(
      Array.from({ length: count }, (_, i) => {
        const { inc, seats } = takers[i % takers.length] as Node
        const seat = { workspaceId: workspace, connectionId: `${inc}:${++names}`, editor }
        return seats.take(seat, limits).catch(() => 'unavailable' as const)
      }),
    )
  const taken = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'taken').length

  beforeAll(async () => {
    client = new pg.Client({ connectionString: server.url })
    await client.connect()
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) {
      await node.kill()
      await client.query('delete from nodes where inc = $1', [node.inc])
    }
  })
  afterAll(async () => {
    await client.end()
    await server[Symbol.asyncDispose]()
  })
  const three = async (): Promise<[Node, Node, Node]> => {
    workspace = `w${++names}`
    return [await startNode(), await startNode(), await startNode()]
  }

  describeSeatsContract('PostgreSQL', async () => (await startNode()).seats)

  it('[WS-17] of 60 AUTHs on three nodes 25 get a seat, 2 of them as editor, and each node returns the same count', async () => {
    const all = await three()
    const outcomes = await takeMany(all, 60, { connections: 25, editors: 2 })
    expect(taken(outcomes)).toBe(2)
    expect(outcomes.filter((outcome) => outcome === 'editor-limit')).toHaveLength(58)
    expect(taken(await takeMany(all, 60, { connections: 25, editors: 2 }, false))).toBe(23)
    expect(await Promise.all(all.map(({ seats }) => seats.connections(workspace)))).toEqual([25, 25, 25])
    expect(await Promise.all(all.map(({ seats }) => seats.editors(workspace)))).toEqual([2, 2, 2])
  })

  it('[WS-17] seats of a killed node count until its lease ends, and at no time are more than 25 held', async () => {
    const [a, b, c] = await three()
    const limits = { connections: 25, editors: null }
    const dying = takeMany([a, b, c], 60, limits)
    await new Promise((resolve) => setTimeout(resolve, 3))
    await c.kill()
    await dying
    await takeMany([a, b], 60, limits)
    expect(await a.seats.connections(workspace)).toBe(25)
    const { rows } = await client.query('select count(*)::int as held from seats where inc = $1 and workspace_id <> $2', [
      c.inc,
      '',
    ])
    const { held } = rows[0] as { held: number }
    expect(taken(await takeMany([a, b], 30, limits))).toBe(0)
    await endLease(c)
    expect(taken(await takeMany([a, b], 60, limits))).toBe(held)
    expect(await b.seats.connections(workspace)).toBe(25)
  })

  it('[WS-17] after a crash of the server empties the table, no seat is given before all nodes have written their seats again', async () => {
    const all = await three()
    const limits = { connections: 25, editors: null }
    expect(taken(await takeMany(all, 25, limits))).toBe(25)
    for (let round = 0; round < 5; round++) {
      await emptyTable()
      expect(taken(await takeMany(all.slice(0, 1), 20, limits))).toBe(0)
      expect(await all[1].seats.connections(workspace)).toBe(25)
    }
  })

  it('[WS-17] the seats that a node held before a crash are released one by one after it', async () => {
    const [a, b] = await three()
    const seat = (connectionId: string) => ({ workspaceId: workspace, connectionId, editor: true })
    const limits = { connections: 2, editors: null }
    await a.seats.take(seat('x'), limits)
    await a.seats.take(seat('y'), limits)
    await emptyTable()
    await a.seats.release(workspace, 'x')
    expect(await b.seats.take(seat('z'), limits)).toBe('taken')
    expect(await b.seats.take(seat('more'), limits)).toBe('connection-limit')
  })

  it('[WS-17] while a living node cannot write its seats, seats with a limit are refused after 2 s, and seats without one are given at once', async () => {
    const [a, b] = await three()
    await a.kill()
    await emptyTable()
    const beganMs = performance.now()
    const [free] = await takeMany([b], 1, { connections: null, editors: null })
    expect(free).toBe('taken')
    expect(performance.now() - beganMs).toBeLessThan(1_500)
    expect(await takeMany([b], 3, { connections: 25, editors: null })).toEqual(Array(3).fill('unavailable'))
    expect(performance.now() - beganMs).toBeGreaterThan(1_900)
    await endLease(a)
    expect(await takeMany([b], 1, { connections: 25, editors: null })).toEqual(['taken'])
  })

  it('[WS-17] a connection that closes while its wish waits for another node gets no seat', async () => {
    const [a, b] = await three()
    const limits = { connections: 25, editors: 2 }
    const seat = (editor: boolean) => ({ workspaceId: workspace, connectionId: 'x', editor })
    expect(await a.seats.take(seat(false), limits)).toBe('taken')
    await b.kill()
    await client.query('delete from seats where inc = $1', [b.inc])
    const change = a.seats.change(seat(true), limits).catch(() => 'unavailable' as const)
    // An answer for another connection shows that the first wish was processed and is still waiting.
    await a.seats.take({ workspaceId: workspace, connectionId: 'y', editor: false }, { connections: null, editors: null })
    await a.seats.release(workspace, 'x')
    await endLease(b)
    expect(await change).toBe('unavailable')
    expect(await a.seats.connections(workspace)).toBe(1)
  })

  it('[WS-17] a node whose lease is over gives no seat', async () => {
    const [a] = await three()
    await client.query('delete from nodes where inc = $1', [a.inc])
    expect(await takeMany([a], 1, { connections: 25, editors: null })).toEqual(['unavailable'])
  })

  it('[WS-17] a release of a seat that the database did not store is repeated until it is stored', async () => {
    const [a, b] = await three()
    const seat = { workspaceId: workspace, connectionId: 'x', editor: true }
    await a.seats.take(seat, { connections: 1, editors: null })
    await client.query('alter table seats rename to seats_away')
    await expect(a.seats.release(workspace, 'x')).rejects.toThrow('the seats cannot be counted')
    await client.query('alter table seats_away rename to seats')
    await expect.poll(() => b.seats.connections(workspace), { timeout: 5_000 }).toBe(0)
    expect(await b.seats.take(seat, { connections: 1, editors: null })).toBe('taken')
  })

  it('[WS-17] rows of a node without a row in `nodes` are not counted', async () => {
    const [a, b] = await three()
    await takeMany([a], 3, { connections: 25, editors: null })
    await client.query('delete from nodes where inc = $1', [a.inc])
    expect(await b.seats.connections(workspace)).toBe(0)
  })
})
