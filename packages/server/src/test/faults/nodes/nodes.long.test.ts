import { expect, it } from 'vitest'
import { isKept, playNodes } from './play-nodes.ts'

const NOTHING = { missing: [], foreignAppends: [], differences: [], staleReads: [], badAnswers: [] }

it('[LIFE-1] [LIFE-25] [LIFE-26] two nodes of which the links break, the owner sleeps for 5 s and the other is killed lose nothing that was acknowledged, and show the same to everybody', async () => {
  const played = await playNodes({ fault: 'one-after-another', seed: 1, sabotaged: false })
  expect(played).toMatchObject(NOTHING)
  expect([played.losses.typed.checked, played.losses.saved.checked, played.losses.tools.checked].every((n) => n > 10)).toBe(true)
  expect(isKept(played)).toBe(true)
})

it('[LIFE-26] a run whose appends do not compare the epoch finds that a node which slept writes into the log of a document that another one owns', async () => {
  const played = await playNodes({ fault: 'freeze-briefly', seed: 1, sabotaged: true })
  expect(played.foreignAppends.length).toBeGreaterThan(0)
  expect(isKept(played)).toBe(false)
})
