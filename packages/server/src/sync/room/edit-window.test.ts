import { describe, expect, it } from 'vitest'
import { EditWindow } from './edit-window.ts'

/** A window after two seconds of `perSecond` edits a second, which arrive two at a time. */
function windowAt(perSecond: number): EditWindow {
  const window = new EditWindow(32)
  for (let nowMs = 0; nowMs < 2_000; nowMs += 2_000 / perSecond) window.next(2, nowMs)
  return window
}

describe('EditWindow, how long a room gathers its next edits', () => {
  it('[WS-41] a lone edit leaves at once', () => {
    const window = new EditWindow(32)
    expect(window.next(1, 1_000)).toBe(0)
    expect(window.isLong).toBe(false)
  })

  it('[WS-41] acknowledgements wait for the end of the window at 200 edits a second, and not when 20 people type 5 letters a second', () => {
    expect(windowAt(100).isLong).toBe(false)
    expect(windowAt(200).isLong).toBe(true)
  })
})
