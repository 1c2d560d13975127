import { at } from './at.ts'

const STUB = 20
const LANE = 12

/** On which side of a gap a lane is: on the side of the column or row before it, in the middle, or on the other side. */
export const [BEFORE, MIDDLE, BEHIND] = [0, 1, 2] as const
export type Zone = 0 | 1 | 2

/** A way along a gap from one place to another; places are those of `placeOfZone` and `placeOfLine` on the other axis. */
export interface Stretch {
  low: number
  high: number
  lane: number
}

/** Where a zone of a gap is among all columns or rows, their gaps and the zones of these. */
export function placeOfZone(gap: number, zone: Zone): number {
  return 4 * gap + 1 + zone
}

/** The same of the middle of a column or row. */
export function placeOfLine(line: number): number {
  return 4 * line + 4
}

/**
 * A gap between two columns or rows with all ways along it. Ways of ends at its one side stay on that side, so that no end lies on another one that
 * faces it across the gap. [DIAG-15]
 */
export class Gap {
  readonly #zones: readonly [Stretch[], Stretch[], Stretch[]] = [[], [], []]
  readonly #lanes = [0, 0, 0]

  add(zone: Zone, low: number, high: number): Stretch {
    const stretch = { low: Math.min(low, high), high: Math.max(low, high), lane: 0 }
    this.#zones[zone].push(stretch)
    return stretch
  }

  /** How many ways along the middle pass some part of a stretch. */
  loadBetween(low: number, high: number): number {
    let load = 0
    for (const stretch of this.#zones[MIDDLE]) if (stretch.low <= high && stretch.high >= low) load++
    return load
  }

  /** How many ways along the gap pass a place. */
  passing(place: number): number {
    let count = 0
    for (const stretches of this.#zones) for (const { low, high } of stretches) if (low < place && place < high) count++
    return count
  }

  /** Gives every stretch a lane; stretches that do not meet may have the same one. Returns how much room all lanes take. */
  settle(): number {
    this.#zones.forEach((stretches, zone) => {
      const ends: number[] = []
      for (const stretch of stretches.toSorted((a, b) => a.low - b.low)) {
        const free = ends.findIndex((end) => end < stretch.low)
        stretch.lane = free === -1 ? ends.length : free
        ends[stretch.lane] = stretch.high
      }
      this.#lanes[zone] = ends.length
    })
    const count = this.#lanes.reduce((sum, lanes) => sum + lanes, 0)
    return count === 0 ? 0 : 2 * STUB + (count - 1) * LANE
  }

  /** How far behind the start of the gap a settled stretch runs. */
  offsetOf(zone: Zone, { lane }: Stretch): number {
    let before = lane
    for (let other = 0; other < zone; other++) before += at(this.#lanes, other)
    return STUB + before * LANE
  }
}
