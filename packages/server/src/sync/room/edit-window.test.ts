import { describe, expect, it } from 'vitest'
import { SCHEDULE } from '../../kernel/schedule.ts'
import { Beats } from '../../kernel/beats.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { EditWindow, OpenWindow } from './edit-window.ts'
import { ROOM_OPTIONS } from './room-host.ts'

/** Returns the longest window, in ms, that a room opens after one second of `perSecond` edits a second, which arrive in pairs. */
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

  it('[WS-41] 90 edits a second, as 18 people type them, leave at once; above 100 a second edits are gathered for at most 16 ms', () => {
    expect(windowAt(90)).toBe(0)
    expect(windowAt(140)).toBeGreaterThan(0)
    expect(windowAt(400)).toBe(16)
    expect(windowAt(4_000)).toBe(16)
  })
})

it('[WS-41] the edits gathered in a window leave at once when the next window has 0 ms', async () => {
  const { clock, timers, pause, advance } = manualTime()
  let ended = 0
  const window = new OpenWindow(
    { beats: new Beats({ clock, timers, run: (work) => work() }), clock, options: ROOM_OPTIONS },
    () => ended++,
  )
  window.next(40)
  expect([window.isOpen, ended]).toEqual([true, 0])
  pause(1_000)
  window.next(1)
  expect([window.isOpen, ended]).toEqual([false, 1])
  window.next(40)
  await advance(100)
  expect([window.isOpen, ended]).toEqual([false, 2])
})
