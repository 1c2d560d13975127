import { Reader } from '@docrelay/protocol/bytes'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import type { Clock } from '../../kernel/clock.ts'
import { startNodes, until } from '../testing/node-bench.ts'
import type { TextEditor } from '../testing/text-editor.ts'

const FRAMES = 50
const NOISY_PEOPLE = 4

/** Creates a clock that advances by 1 ms at each reading. So the test measures work instead of time, and does not depend on the machine. */
function countingClock(): Clock {
  let looks = 0
  return { nowMs: () => Date.now(), monotonicMs: () => ++looks }
}

const ackedOf = ({ client }: TextEditor): number =>
  Math.max(0, ...client.of(TAG.syncAck).map((frame) => new Reader(frame.subarray(1)).varUint()))

it('[WS-12] [G9] [LIFE-25] the owner charges a noisy workspace for its frames from a link, and another workspace is served first', async () => {
  const clock = countingClock()
  await using bench = await startNodes({
    count: 2,
    bench: { settings: { tenancy: { mode: 'shared' } } },
    homes: { clock, processorMs: () => clock.monotonicMs() },
  })
  const [owner, edge] = bench.nodes
  if (owner === undefined || edge === undefined) throw new Error('there are two nodes')
  const spent = new Map<string, number>()
  owner.homes.onMessage((_, message) => {
    if (message.kind === 'spent')
      for (const [workspace, ms] of message.workspaces) spent.set(workspace, (spent.get(workspace) ?? 0) + ms)
  })
  for (const workspace of ['noisy', 'honest']) {
    await bench.create('doc', workspace)
    await owner.editor('doc', { workspace })
  }
  const crowd: TextEditor[] = []
  for (let i = 0; i < NOISY_PEOPLE; i++) crowd.push(await edge.editor('doc', { workspace: 'noisy' }))
  const honest = await edge.editor('doc', { workspace: 'honest' })
  await until(() => [...crowd, honest].every((one) => ackedOf(one) === 1))
  spent.clear()
  // All frames reach the owner together, and the frame of the honest workspace is the last one.
  bench.delivers = false
  for (let i = 0; i < FRAMES; i++) for (const one of crowd) one.text.insert(0, 'n'.repeat(50))
  await until(() => bench.network.waiting(edge.inc, owner.inc) >= NOISY_PEOPLE * FRAMES)
  const waiting = bench.network.waiting(edge.inc, owner.inc)
  honest.text.insert(0, 'h')
  await until(() => bench.network.waiting(edge.inc, owner.inc) > waiting)
  bench.delivers = true
  await until(() => ackedOf(honest) === 2)
  const served = crowd.reduce((sum, one) => sum + ackedOf(one) - 1, 0)
  expect(served).toBeLessThan((NOISY_PEOPLE * FRAMES) / 2)
  // The owner reports the time that each workspace has used to its other homes, so that they charge it too.
  await until(() => (spent.get('noisy') ?? 0) > 50)
  expect(spent.get('honest') ?? 0).toBeLessThan(50)
})
