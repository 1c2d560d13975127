import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { patience } from '../../../kernel/testing/patience.ts'
import { isKept, playNodes } from './play-nodes.ts'

const NOTHING = {
  missing: [],
  foreignAppends: [],
  staleReads: [],
  wrongEvents: [],
  faults: [{ differences: [], badAnswers: [], wrong: [] }],
}

/** Fault runs end and empty their Redis, so they need one of their own. */
const isMissing = spawnSync('redis-server', ['--version']).status !== 0
if (isMissing) process.stderr.write('skipped: the program redis-server is missing\n')

it.skipIf(isMissing)(
  '[LIFE-1] [LIFE-25] [LIFE-26] broken links, a frozen owner and a killed node lose nothing acknowledged, and all replicas become equal',
  { timeout: patience(50_000) },
  async () => {
    const run = { faults: ['one-after-another'], seed: 1, sabotaged: false }
    const played = await playNodes(run)
    expect(played).toMatchObject(NOTHING)
    expect([played.losses.typed.checked, played.losses.saved.checked, played.losses.tools.checked].every((n) => n > 10)).toBe(
      true,
    )
    expect(isKept(run, played)).toBe(true)
  },
)
