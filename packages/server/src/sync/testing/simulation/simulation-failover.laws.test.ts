import { expect, it } from 'vitest'
import { type Fault, OWNER } from './fault-plan.ts'
import { told } from './report.ts'
import { simulate } from './simulation.ts'

const PATIENCE_MS = 900_000
/** In seed 105 the owner of a document has nothing to append after the failover, and notices the loss when it stores the body. */
const SEEDS = [...Array.from({ length: 60 }, (_, i) => i + 1), 105]

it('[LIFE-25] [LIFE-26] after a failover of the database that lost commits, all clients and the log have the same content', {
  timeout: PATIENCE_MS,
}, async () => {
  let lost = 0
  for (const seed of SEEDS) {
    const atMs = 1_500 + (seed % 60) * 70
    const run = await simulate({
      seed,
      faults: [
        ...slowLinks(atMs - 100),
        { atMs, kind: 'failover', records: 1 + (seed % 9), forMs: 100 + 40 * (seed % 60) },
        // In a third of the runs the owner crashes, so that another node owns the documents next.
        ...(seed % 3 === 0 ? [{ atMs: atMs + 50, kind: 'crash', node: OWNER, forMs: 2_000 } as const] : []),
      ],
    })
    expect(run.violation, told(run)).toBeNull()
    lost += run.history.filter((line) => / log of \d+ lost /.test(line)).length
  }
  expect(lost).toBeGreaterThan(30)
})

/** In seed 162 the node whose tenure is lost has nothing to write afterwards, and notices by the feed that another node stores the document. */
const AFTER_TAKEOVER = [...Array.from({ length: 30 }, (_, i) => i + 1), 162]

it('[LIFE-26] after a failover that lost acquisitions, a node without its tenure continues at the owner, even when both have the same epoch', {
  timeout: PATIENCE_MS,
}, async () => {
  let lost = 0
  for (const seed of AFTER_TAKEOVER) {
    const atMs = 500 + (seed % 30) * 70
    const run = await simulate({
      seed,
      faults: [
        { atMs, kind: seed % 2 === 1 ? 'crash' : 'pause', node: OWNER, forMs: 5_000 },
        ...slowLinks(atMs + 2_000),
        { atMs: atMs + 3_000 + (seed % 41) * 40, kind: 'failover', records: seed % 9, forMs: 100 + 40 * (seed % 20) },
      ],
    })
    expect(run.violation, told(run)).toBeNull()
    lost += run.history.filter((line) => line.includes('lost the acquisition')).length
  }
  expect(lost).toBeGreaterThan(3)
})

/**
 * Seeds that have found defects. In seed 140 the former and the new owner of an edge had the same epoch. In seed 753 a body was not stored
 * again, because its timer had run out while its first write failed.
 */
const BESIDE_OTHERS = [140, 753]

it('[LIFE-10] [LIFE-25] [LIFE-26] a failover of the database together with the faults of a seed violates no invariant', {
  timeout: PATIENCE_MS,
}, async () => {
  for (const seed of BESIDE_OTHERS) {
    const { faults } = await simulate({ seed })
    const atMs = 800 + ((seed * 7_919) % 7_000)
    const failover = { atMs, kind: 'failover', records: seed % 11, forMs: 50 + ((seed * 31) % 2_500) } as const
    const run = await simulate({ seed, faults: [...faults, failover] })
    expect(run.violation, told(run)).toBeNull()
  }
})

/** Returns slow links, so that nodes open a document again one after the other, and some of them after others have written. */
function slowLinks(atMs: number): readonly Fault[] {
  const pairs = [
    ['a', 'b'],
    ['b', 'c'],
    ['a', 'c'],
  ] as const
  return pairs.map(([a, b]) => ({ atMs, kind: 'slow-link', a, b, forMs: 4_000, mostMs: 400 }))
}
