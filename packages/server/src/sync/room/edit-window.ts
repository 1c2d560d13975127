import { Load } from '../../kernel/load.ts'
import { LOAD_MEMORY_MS, roomWindowMs } from '../../kernel/schedule.ts'

/** Decides how long a room gathers its next edits: not at all while few come, so that an edit leaves at once, and longer as more come. */
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
