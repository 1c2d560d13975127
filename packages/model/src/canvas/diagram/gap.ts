import { at } from './at.ts'

const STUB = 20
const LANE = 12

/** The zones of a gap in which a lane may lie: beside the line (column or row) before the gap, in the middle, or beside the line behind it. */
export const [BEFORE, MIDDLE, BEHIND] = [0, 1, 2] as const
export type Zone = 0 | 1 | 2

/** A stretch of an edge along a gap, between two positions of `placeOfZone` or `placeOfLine` on the other axis. */
export interface Stretch {
  low: number
  high: number
  lane: number
}

/** The position of a zone on one axis. Gap 0 has the positions 1 to 3, column or row 0 has 4, gap 1 has 5 to 7, and so on. */
export function placeOfZone(gap: number, zone: Zone): number {
  return 4 * gap + 1 + zone
}

/** The position of the middle of a column or row, on the scale of `placeOfZone`. */
export function placeOfLine(line: number): number {
  return 4 * line + 4
}

/**
 * A gap between two columns or rows, with all stretches along it. The stretch of an end stays in the zone at that end's side of the gap, so that it
 * does not lie on an end that faces it across the gap. [DIAG-15]
 */
export class Gap {
  readonly #zones: readonly [Stretch[], Stretch[], Stretch[]] = [[], [], []]
  readonly #lanes = [0, 0, 0]

  add(zone: Zone, low: number, high: number): Stretch {
    const stretch = { low: Math.min(low, high), high: Math.max(low, high), lane: 0 }
    this.#zones[zone].push(stretch)
    return stretch
  }

  /** The number of stretches in the middle zone that overlap the positions from `low` to `high`. */
  loadBetween(low: number, high: number): number {
    let load = 0
    for (const stretch of this.#zones[MIDDLE]) if (stretch.low <= high && stretch.high >= low) load++
    return load
  }

  /** The number of stretches, in all zones, that pass a position. */
  passing(place: number): number {
    let count = 0
    for (const stretches of this.#zones) for (const { low, high } of stretches) if (low < place && place < high) count++
    return count
  }

  /** Gives every stretch a lane; stretches that do not meet may share one. Returns the width of the gap that all lanes need. */
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

  /** The distance of a stretch from the start of the gap. Call `settle` first. */
  offsetOf(zone: Zone, { lane }: Stretch): number {
    let before = lane
    for (let other = 0; other < zone; other++) before += at(this.#lanes, other)
    return STUB + before * LANE
  }
}
