import { TAG } from '@docrelay/protocol/frames'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { mcpSession } from '../mcp-session.ts'
import { type RelayUnderTest, until } from '../relay-under-test.ts'
import { metric, openWire, pause, type WireClient } from '../wire-client.ts'
import { linked, startNodesUnderTest } from './nodes-under-test.ts'
import { onNodes } from './on-nodes.ts'

const CAP = 25
const EDITORS = 2
const BURST = 40
const PER_SEC = 1
/** The part of the write bucket that agents leave to people while people write. */
const PEOPLES = BURST / 2

interface SignIn {
  readonly relay: RelayUnderTest
  readonly client: WireClient
  /** The error of AUTH; `null` when the connection has a seat. */
  readonly error: unknown
}

const started = await startNodesUnderTest({
  count: 2,
  mcp: 'public',
  env: {
    RELAY_TENANCY_MODE: 'shared',
    RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: String(CAP),
    RELAY_WRITES_PER_SEC: String(PER_SEC),
    RELAY_WRITES_BURST: String(BURST),
    RELAY_READS_PER_SEC: '0',
  },
})

onNodes(started, ({ relays, bus, url }) =>
  describe('limits of a workspace over two nodes', () => {
    const [a, b] = relays as [RelayUnderTest, RelayUnderTest]

    const usageAt = (relay: RelayUnderTest, workspace: string) => relay.rest({ workspace, role: 'owner' }).usage()

    it(
      '[WS-17] of 60 people on two nodes 25 get a seat, 2 of them as editors; seats of a killed node are free after its lease',
      async () => {
        const entry = { id: 'seats', editor_limit: EDITORS }
        async function signIn(relay: RelayUnderTest, role: string): Promise<SignIn> {
          const client = await openWire(relay)
          client.auth(relay.token({ wsp: [{ ...entry, role }] }))
          const { success, error } = await client.nextJson(TAG.authResponse)
          return { relay, client, error: success === true ? null : error }
        }
        const many = async (count: number, relay: RelayUnderTest, role: string) =>
          (await Promise.all(Array.from({ length: count }, () => signIn(relay, role)))).filter(({ error }) => error === null)
        const editors = await Promise.all([many(10, a, 'member'), many(10, b, 'member')])
        const viewers = await Promise.all([many(20, a, 'viewer'), many(20, b, 'viewer')])
        const seated = [...editors, ...viewers].flat()
        expect([editors.flat().length, seated.length]).toEqual([EDITORS, CAP])
        for (const relay of relays)
          expect(await usageAt(relay, 'seats')).toMatchObject({ connections: CAP, activeEditors: EDITORS })

        await b.kill()
        const dead = seated.filter(({ relay }) => relay === b).length
        const deadEditors = editors[1]?.length ?? 0
        expect(await many(10, a, 'viewer')).toEqual([])
        await endLease('node-2')
        const editorsAfter = await many(10, a, 'member')
        const viewersAfter = await many(30, a, 'viewer')
        expect([editorsAfter.length, viewersAfter.length]).toEqual([deadEditors, dead - deadEditors])
        expect(await usageAt(a, 'seats')).toMatchObject({ connections: CAP, activeEditors: EDITORS })

        await b.restart()
        await linked(relays)
        expect(await many(5, b, 'viewer')).toEqual([])
        const alive = [...seated.filter(({ relay }) => relay === a), ...editorsAfter, ...viewersAfter]
        expect(alive).toHaveLength(CAP)
        alive[0]?.client.socket.close()
        await until('a seat to be free', async () => (await usageAt(b, 'seats')).connections === CAP - 1)
        expect(await many(5, b, 'viewer')).toHaveLength(1)
      },
      patience(60_000),
    )

    /** Ends the lease of a killed node, which otherwise lasts up to 15 s. */
    async function endLease(nodeId: string): Promise<void> {
      const database = new pg.Client({ connectionString: url })
      await database.connect()
      const { rowCount } = await database.query('update nodes set lease_until_ms = 0 where node_id = $1', [nodeId])
      await database.end()
      expect(rowCount).toBe(1)
    }

    describe.skipIf(bus.own === null)('with a Redis of their own', () => {
      const redis = bus.own as NonNullable<typeof bus.own>
      const busIsUp = () =>
        until('the bus to be up', async () =>
          (await Promise.all(relays.map((relay) => metric(relay, 'relay_bus_up')))).every((up) => up === 1),
        )

      it('[AG-86] while a person writes at one node, agents at the other leave people their tokens, which people can use up', async () => {
        // Moves the moment from which buckets fill far into the past, so that they are full although the nodes have just started.
        await redis.run('SET bus:since -1000000')
        const member = { workspace: 'shares', sub: 'ann', role: 'member' }
        await a.rest(member).putDocument('doc', { name: 'doc' })
        const ann = await (await openWire(a)).enter(a.token(member), 'doc', ['ack'])
        let written = 0
        const write = () => ann.write(ann.put(`field-${++written}`))
        await write()
        const agent = await mcpAgent(b.mcpUrl, b.token({ ...member, sub: 'bot', role: 'owner' }))
        const before = written
        const typing = setInterval(() => void write(), 1_000)
        const calls = await Promise.allSettled(
          Array.from({ length: BURST }, (_, i) => agent.call('rename_document', { docId: 'doc', name: `Name ${i}` })),
        )
        clearInterval(typing)
        const refused = calls.filter((call) => call.status === 'rejected')
        expect(refused.length).toBeGreaterThan(0)
        for (const { reason } of refused) expect(String(reason)).toContain('ERR_RATE_LIMIT')
        const { writes } = await usageAt(b, 'shares')
        const left = writes?.left ?? 0
        expect(left).toBeGreaterThanOrEqual(PEOPLES - (written - before))
        // One of Ann's writes may have been under way when `left` was reported.
        await Promise.all(Array.from({ length: left - 1 }, write))
        expect(ann.errors()).toEqual([])
      })

      it(
        '[LIFE-27] [AG-87] while Redis ends, returns and is emptied, calls are answered, sessions go on, and writes stay within limits',
        async () => {
          const member = { workspace: 'outage', sub: 'ann', role: 'owner' }
          const beganMs = performance.now()
          await a.rest(member).putDocument('doc', { name: 'doc' })
          const agents = await Promise.all(relays.map((relay) => mcpAgent(relay.mcpUrl, relay.token(member))))
          let turns = 0
          const session = await mcpSession(() => (turns++ % 2 === 0 ? a : b).mcpUrl, a.token(member), 'Client')
          const failures: string[] = []
          let [goesOn, reads, writes] = [true, 0, 0]
          const reading = (async () => {
            while (goesOn) {
              const { name } = await session('get_document', { docId: 'doc' })
              if (name === undefined) failures.push('a read without a document')
              reads++
            }
          })()
          const writing = agents.map(async (agent, i) => {
            while (goesOn) {
              const answer = await agent.call('rename_document', { docId: 'doc', name: `Name ${i}.${writes}` }).catch(String)
              if (typeof answer !== 'string') writes++
              else if (!answer.includes('ERR_RATE_LIMIT')) failures.push(answer)
              await pause(20)
            }
          })
          const readsMore = (count: number) => {
            const from = reads
            return until(`${count} reads more`, () => reads >= from + count || failures.length > 0, 30_000)
          }
          await readsMore(4)
          await redis.kill('SIGKILL')
          await readsMore(8)
          const during = writes
          await until('a write without Redis', () => writes > during || failures.length > 0, 30_000)
          await redis.restart()
          await busIsUp()
          await readsMore(4)
          await redis.run('FLUSHALL')
          await readsMore(8)
          goesOn = false
          await Promise.all([reading, ...writing])
          expect(failures).toEqual([])
          expect(writes).toBeLessThanOrEqual(BURST + (PER_SEC * (performance.now() - beganMs)) / 1000)
        },
        patience(60_000),
      )
    })
  }),
)
