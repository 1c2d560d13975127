import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchChunks } from '../../auth/operator-fetch.ts'
import { startRevocationPoll } from '../../auth/revocation-poll.ts'
import { openRevocations, type Revocations } from '../../auth/revocations.ts'
import { startFeedReader } from '../../feed/feed-reader.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers, type Timers } from '../../kernel/timers.ts'
import { emptyPostgres } from './testing/emptied-postgres.ts'
import { openFeedStore } from './testing/feed-store.ts'
import { onPostgres } from './testing/on-postgres.ts'

const INTERVAL_MS = 100
/** Timers that run 20 times as fast, so that feeds are read 20 times as often as in a relay. */
const fast: Timers = { after: (delayMs, run) => systemTimers.after(delayMs / 20, run) }

interface Node {
  readonly revocations: Revocations
  stop(): Promise<void>
}

await onPostgres((url) =>
  describe('two nodes with one control plane', () => {
    let opened: AsyncDisposableStack
    /** Entries of the control plane. A cursor is the number of entries that were returned so far. */
    let entries: string[]
    let polls: string[]
    let pollUrl: string
    beforeEach(async () => {
      await emptyPostgres(url)
      opened = new AsyncDisposableStack()
      entries = []
      polls = []
      const server = createServer((request, response) => {
        const since = new URL(request.url ?? '', 'http://x').searchParams.get('since') ?? ''
        polls.push(String(request.headers.authorization))
        const from = since.startsWith('at ') ? Number(since.slice(3)) : 0
        const revocations = entries.slice(from).map((jti) => ({ jti, revoked_at: '2026-06-01T12:00:00Z' }))
        response.end(JSON.stringify({ revocations, next_since: `at ${entries.length}` }))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      pollUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      opened.defer(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))
    })
    afterEach(() => opened.disposeAsync())

    async function startNode(name: string, { leases = true, feeds = true } = {}): Promise<Node> {
      await using own = new AsyncDisposableStack()
      const store = own.use(await openFeedStore(url))
      const place = await store.revocationFeed.begin()
      const options = { store: store.revocations, clock: systemClock, log: silentLogger, hasTransport: true }
      const revocations = await openRevocations(options)
      if (feeds)
        own.use(
          startFeedReader({
            name: 'revocations',
            table: store.revocationFeed,
            place,
            tell: (row) => (row.kind === 'revoked' ? revocations.told([row]) : revocations.toldWhole()),
            clock: systemClock,
            timers: fast,
            log: silentLogger,
          }),
        )
      own.use(
        startRevocationPoll({
          url: pollUrl,
          bearer: name,
          intervalMs: INTERVAL_MS,
          revocations,
          log: silentLogger,
          ...(leases && { turn: () => store.jobLeases.claim('revocation poll', name, INTERVAL_MS + 400) }),
          fetchChunks: (address, headers, signal) => fetchChunks(address, { timeoutMs: 1_000, maxBytes: 1e6, headers, signal }),
        }),
      )
      const resources = own.move()
      opened.defer(() => resources.disposeAsync())
      return { revocations, stop: () => resources.disposeAsync() }
    }
    const knownBy = ({ revocations }: Node) => entries.filter((jti) => revocations.has(jti)).length
    const add = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        entries.push(`jti-${entries.length}`)
        await new Promise((resolve) => setTimeout(resolve, 60))
      }
    }

    it('[AUTH-14] one node polls the control plane for all nodes, and another node polls when the first one ends', async () => {
      const first = await startNode('first')
      await vi.waitFor(() => expect(polls.length).toBeGreaterThan(0))
      const second = await startNode('second')
      await add(10)
      await vi.waitFor(() => expect([knownBy(first), knownBy(second)]).toEqual([10, 10]), { timeout: 3_000 })
      expect(new Set(polls)).toEqual(new Set(['Bearer first']))
      expect(second.revocations.ageSec()).toBeLessThan(1)
      await first.stop()
      await add(5)
      await vi.waitFor(() => expect(knownBy(second)).toBe(15), { timeout: 5_000 })
      expect(polls.at(-1)).toBe('Bearer second')
    })

    it('[AUTH-14] when both nodes poll the control plane, no node misses a revocation that the other fetched', async () => {
      const nodes = [await startNode('first', { leases: false }), await startNode('second', { leases: false })]
      await add(15)
      await vi.waitFor(() => expect(nodes.map(knownBy)).toEqual([15, 15]), { timeout: 3_000 })
      expect(new Set(polls).size).toBe(2)
    })

    it('[AUTH-14] without the feed a node misses revocations that the other node fetched', async () => {
      const off = { leases: false, feeds: false }
      const nodes = [await startNode('first', off), await startNode('second', off)]
      await add(15)
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(Math.min(...nodes.map(knownBy))).toBeLessThan(15)
    })

    it('[AUTH-14] a node that starts later knows all stored revocations at once', async () => {
      const first = await startNode('first')
      await add(3)
      await vi.waitFor(() => expect(knownBy(first)).toBe(3), { timeout: 3_000 })
      expect(knownBy(await startNode('second'))).toBe(3)
    })
  }),
)
