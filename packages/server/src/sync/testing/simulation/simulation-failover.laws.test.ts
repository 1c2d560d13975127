import { expect, it } from 'vitest'
import { OWNER } from './fault-plan.ts'
import { told } from './report.ts'
import { simulate } from './simulation.ts'

/** In 105 the owner of a document has nothing to append after the failover, and learns of the loss when it stores the body. */
const SEEDS = [...Array.from({ length: 60 }, (_, i) => i + 1), 105]

it('[LIFE-25] [LIFE-26] after a failover of the database that lost commits, all clients have what the log has, and everything that they hold is in it', {
  timeout: 900_000,
}, async () => {
  let lost = 0
  for (const seed of SEEDS) {
    const atMs = 1_500 + (seed % 60) * 70
    const run = await simulate({
      seed,
      faults: [
        // Nodes open the document again one after the other, when others have written by then.
        ...[
          ['a', 'b'],
          ['b', 'c'],
          ['a', 'c'],
        ].map(([a = '', b = '']) => ({ atMs: atMs - 100, kind: 'slow-link', a, b, forMs: 4_000, mostMs: 400 }) as const),
        { atMs, kind: 'failover', records: 1 + (seed % 9), forMs: 100 + 40 * (seed % 60) },
        // In a third of the runs another node owns the documents next.
        ...(seed % 3 === 0 ? [{ atMs: atMs + 50, kind: 'crash', node: OWNER, forMs: 2_000 } as const] : []),
      ],
    })
    expect(run.violation, told(run)).toBeNull()
    lost += run.history.filter((line) => line.includes(' lost ')).length
  }
  expect(lost).toBeGreaterThan(30)
})
