import type { RoomHost } from './room-host.ts'
import { Load } from '../../kernel/load.ts'
import { LOAD_MEMORY_MS, roomWindowMs } from '../../kernel/schedule.ts'

/** Decides how long a room gathers edits before it applies them: 0 ms while few edits come, and longer as more come. */
export class EditWindow {
  private readonly load = new Load(LOAD_MEMORY_MS)
  private readonly widestMs: number

  constructor(widestMs: number) {
    this.widestMs = widestMs
  }

  /** Counts `writes` that leave now and returns the length of the next window. */
  next(writes: number, nowMs: number): number {
    this.load.add(writes, nowMs)
    return roomWindowMs(this.load.perSecond(nowMs), this.widestMs)
  }
}

/** The window of one room: while it is open, edits are gathered. */
export class OpenWindow {
  private readonly host: Pick<RoomHost, 'beats' | 'clock'>
  private readonly window: EditWindow
  private readonly ended: () => void
  private cancel: (() => void) | null = null

  /** @param ended called at the end of each window, when the gathered edits may be applied */
  constructor(host: Pick<RoomHost, 'beats' | 'clock' | 'options'>, ended: () => void) {
    this.host = host
    this.window = new EditWindow(host.options.windowMs)
    this.ended = ended
  }

  get isOpen(): boolean {
    return this.cancel !== null
  }

  /**
   * Replaces the open window by the next window when `writes` edits leave. Calls `ended` at once when the next window has 0 ms, because
   * edits may have been gathered in the replaced window.
   */
  next(writes: number): void {
    this.close()
    const windowMs = this.window.next(writes, this.host.clock.monotonicMs())
    if (windowMs === 0) return this.ended()
    this.cancel = this.host.beats.after(windowMs, () => {
      this.cancel = null
      this.ended()
    })
  }

  close(): void {
    this.cancel?.()
    this.cancel = null
  }
}
