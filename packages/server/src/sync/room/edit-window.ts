/** A window of this length is that of about 130 edits a second. */
export const LONG_WINDOW_MS = 24

/**
 * Decides how long a room gathers its next edits: 0 ms while the room is quiet, so that a lone edit leaves at once, and longer as the load
 * grows. The load is a count of writes that decays over about a tenth of a second.
 */
export class EditWindow {
  /** Whether acknowledgements wait for the end of the window, which saves a message for many edits. */
  isLong = false
  private load = 0
  private atMs = 0
  private readonly widestMs: number

  constructor(widestMs: number) {
    this.widestMs = widestMs
  }

  /** Counts `writes` that leave now and returns the length of the next window. */
  next(writes: number, nowMs: number): number {
    this.load = this.load * Math.exp((this.atMs - nowMs) / 100) + writes
    this.atMs = nowMs
    const perSecond = this.load * 10
    const windowMs = Math.min(this.widestMs, Math.max(0, Math.floor((perSecond - 40) / 4)))
    this.isLong = windowMs >= LONG_WINDOW_MS
    return windowMs
  }
}
