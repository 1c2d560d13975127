import { describe, expect, it } from 'vitest'
import { SCHEDULE } from '../../kernel/schedule.ts'
import { Beats } from '../../kernel/beats.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { EditWindow, OpenWindow } from './edit-window.ts'
import { ROOM_OPTIONS } from './room-host.ts'

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

it('[WS-41] a window that gives way to none has ended, so that what was gathered in it leaves', async () => {
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
