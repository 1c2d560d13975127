import { describe, expect, it } from 'vitest'
import { SCHEDULE } from '../../kernel/schedule.ts'
import { EditWindow } from './edit-window.ts'

/** The longest window, in ms, that a room opens in the second second of a load of `perSecond` edits a second, which come two at a time. */
function windowAt(perSecond: number): number {
  const window = new EditWindow(SCHEDULE.windowMs)
  let longest = 0
  for (let nowMs = 0; nowMs < 2_000; nowMs += 2_000 / perSecond) {
    const ms = window.next(2, nowMs)
    if (nowMs > 1_000) longest = Math.max(longest, ms)
  }
  return longest
}

describe('EditWindow, how long a room gathers its next edits', () => {
  it('[WS-41] a lone edit leaves at once', () => {
    expect(new EditWindow(SCHEDULE.windowMs).next(1, 1_000)).toBe(0)
  })

  it('[WS-41] the edits of 18 people who type 5 letters a second leave at once; from 100 edits a second on they are gathered for at most 16 ms', () => {
    expect(windowAt(90)).toBe(0)
    expect(windowAt(140)).toBeGreaterThan(0)
    expect(windowAt(400)).toBe(16)
    expect(windowAt(4_000)).toBe(16)
  })
})
