/**
 * These tests simulate three nodes, six Yjs clients and one to three documents in one process. A seed decides what happens. These parts are the
 * code of the relay: gateway, rooms, logs of rooms, remote rooms, the codec of links, the feed and its consumer, documents over REST, and the
 * life of a node. These parts are in memory and controlled by the seed: time, sockets, links, the hints of the bus, and the database with its
 * owners, locks, transactions and heartbeats.
 *
 * `oracle.ts` checks these invariants during a run and at its end:
 * - I1: every edit that was acknowledged to a client is in the log. This compares Yjs clocks, so a lost deletion is found only by I6.
 * - I2: epochs never fall along the log of a document.
 * - I3: a stored body has the shapes of the log through its sequence, and a snapshot has all content of the log through its sequence.
 * - I4: a read at any node contains every edit that was acknowledged before the read began.
 * - I5: only the owner at that moment changes a document, and the log has no gap.
 * - I6: after the last fault all nodes serve, and all clients have the same content as the log, even without the bus.
 * - I8: each process gets each row of the feed exactly once, if the row commits after its start and more than 2.5 s before its end.
 * - I10: no client gets the answer that a document is deleted or unknown. A simulation deletes no document.
 *
 * Other tests cover the rest:
 * - I7, seats and rates: `seat-rows.test.ts` and `redis-rate-limiter.long.test.ts`.
 * - I9, blobs: `blob-nodes.engine.test.ts`.
 * - Deletions: `feed-over-nodes.test.ts`.
 * - Recovery points: `recovery-store.contract.ts`.
 * - A transaction that is frozen between its update and its commit, PUTs and tools at a live document, presence, and rooms in threads:
 *   `ownership-nodes.test.ts`, `two-nodes.test.ts` and `npm run faults:nodes`.
 * - A database that loses commits: the seeds in `simulation-failover.laws.test.ts`.
 */
import { expect, it } from 'vitest'
import { OWNER } from './fault-plan.ts'
import { playSeeds, told } from './report.ts'
import { simulate } from './simulation.ts'

const PATIENCE_MS = 900_000

it('[LIFE-25] [LIFE-26] the same seed gives the same history', { timeout: PATIENCE_MS }, async () => {
  for (const seed of [3, 4]) {
    const [first, second] = [await simulate({ seed }), await simulate({ seed })]
    expect(first.history.length).toBeGreaterThan(50)
    expect(second.history).toEqual(first.history)
  }
})

it('[LIFE-25] [LIFE-26] another seed gives another history', { timeout: PATIENCE_MS }, async () => {
  expect((await simulate({ seed: 3 })).history).not.toEqual((await simulate({ seed: 4 })).history)
})

it('[LIFE-25] [LIFE-26] [LIFE-27] 250 seeds of faults violate no invariant', { timeout: PATIENCE_MS }, async () => {
  const counts = await playSeeds(1, 250)
  const sum = (of: (each: (typeof counts)[number]) => number): number => counts.reduce((total, each) => total + of(each), 0)
  // Checks that the runs did enough: seeds without events prove nothing.
  expect(sum(({ acknowledged }) => acknowledged)).toBeGreaterThan(2_000)
  expect(sum(({ reads }) => reads)).toBeGreaterThan(1_000)
  expect(sum(({ takeovers }) => takeovers)).toBeGreaterThan(20)
  expect(sum(({ told: rows }) => rows)).toBeGreaterThan(1_000)
})

it('[LIFE-26] [LIFE-27] a pause of the owner for about as long as other nodes wait for it violates no invariant', {
  timeout: PATIENCE_MS,
}, async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const run = await simulate({
      seed,
      faults: [{ atMs: 2_000 + seed * 100, kind: 'pause', node: OWNER, forMs: 3_200 + seed * 50 }],
    })
    expect(run.violation, told(run)).toBeNull()
  }
})
