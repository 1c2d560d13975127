import { expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { Write } from './room-edits.ts'
import { newMember } from './room-members.ts'
import { Rejoins } from './room-rejoins.ts'

const member = (connection: number) =>
  newMember({ connection, join: 1, sub: 'ada', canWrite: true, maxDocBytes: null, knowsLineage: true })
const write = (ordinal: number, isStep2 = false): Write => ({
  ordinal,
  update: Uint8Array.of(ordinal),
  isStep2,
  readOnly: false,
  refusal: null,
})

/**
 * A `Rejoins` with a clock of its own. `taken` lists the writes that it passes on, such as `1: 4` for ordinal 4 of connection 1, with
 * the ordinal that the write settles if that differs. `end of` marks a write without content.
 */
function rejoins() {
  const { timers, advance } = manualTime()
  const taken: string[] = []
  const host = { after: (ms: number, work: () => void) => timers.after(ms, work) }
  const made = new Rejoins(host, ({ connection }, { ordinal, settles, update }) => {
    const settling = settles === undefined ? '' : ` settles ${settles}`
    taken.push(`${connection}: ${update.length === 1 ? ordinal : `end of ${ordinal}`}${settling}`)
  })
  return { made, taken, advance }
}

it('[LIFE-6] messages of a connection that is joined again are applied after its step2, and the step2 is settled after them', () => {
  const { made, taken } = rejoins()
  const [ann, bob] = [member(1), member(2)]
  made.began(ann, 5)
  expect([write(4), write(5, true), write(6)].map((each) => made.takes(ann, each))).toEqual([true, true, true])
  expect(made.takes(bob, write(1))).toBe(false)
  expect(made.ordinals()).toEqual([[ann, 6]])
  expect(taken).toEqual([])
  expect(made.takes(ann, write(7, true))).toBe(true)
  expect(taken).toEqual(['1: 7 settles 0', '1: 4', '1: 5', '1: 6', '1: end of 7'])
  expect(made.takes(ann, write(8))).toBe(false)
})

it('[LIFE-6] a step2 is passed on unchanged when no message waits for it', () => {
  const { made, taken } = rejoins()
  const ann = member(1)
  made.began(ann, 0)
  expect(made.takes(ann, write(1, true))).toBe(true)
  expect(taken).toEqual(['1: 1'])
})

it('[LIFE-6] messages wait at most 5 s for a step2, and are discarded when their connection leaves', async () => {
  const { made, taken, advance } = rejoins()
  const [ann, bob, cid] = [member(1), member(2), member(3)]
  for (const each of [ann, bob, cid]) {
    made.began(each, 1)
    made.asked(each)
    made.takes(each, write(1))
  }
  made.end(bob)
  expect(taken).toEqual(['2: 1'])
  made.forget(cid)
  await advance(4_999)
  expect(taken).toEqual(['2: 1'])
  await advance(1)
  expect(taken).toEqual(['2: 1', '1: 1'])
  expect(made.takes(ann, write(2))).toBe(false)
})

it('[LIFE-6] [WS-32] the 5 s for a step2 begin when the connection is first asked for it, and a later question does not restart them', async () => {
  const { made, taken, advance } = rejoins()
  const ann = member(1)
  made.began(ann, 1)
  made.takes(ann, write(1))
  await advance(60_000)
  expect(taken).toEqual([])
  made.asked(ann)
  await advance(3_000)
  made.asked(ann)
  await advance(1_999)
  expect(taken).toEqual([])
  await advance(1)
  expect(taken).toEqual(['1: 1'])
})
