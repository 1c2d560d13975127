import { at } from '../at.ts'
import { isAbove, mayShare, overlap, type Run } from './channel.ts'
import { LANE, STUB } from './part.ts'

/** A label on a run: the stretch of the run that it covers, and its size along the direction of the layers (`along`). */
export interface LabelOnRun {
  readonly left: number
  readonly right: number
  readonly along: number
}

/** A label on a stretch of a piece that crosses the channel. The piece may have runs before and behind the label. */
export interface LabelAcross {
  readonly upperPin: number
  readonly lowerPin: number
  readonly left: number
  readonly right: number
  /** The runs of the same piece that lie before the label, and those behind it. */
  readonly before: ReadonlySet<Run>
  readonly behind: ReadonlySet<Run>
  readonly way: Way | null
}

/** The way of an edge whose nodes lie directly above and below the channel. In a higher channel, only its stretches across the channel are longer. */
export interface Way {
  /** The share of the way, from 0 to 1, before the middle of the label. */
  readonly share: number
  /** The length of the runs of the edge along the channel, before and behind its label. */
  readonly before: number
  readonly behind: number
  readonly along: number
  readonly upper: number
  readonly lower: number
}

interface Stretch {
  readonly left: number
  readonly right: number
}

/** The labels in a channel whose places are known. */
export interface ChannelLabels {
  readonly onRuns: ReadonlyMap<Run, LabelOnRun>
  readonly across: readonly LabelAcross[]
}

/** Where each run lies: its distance from the top of the channel (`upper`) or from the bottom (`lower`). */
export interface Lanes {
  readonly upper: ReadonlyMap<Run, number>
  readonly lower: ReadonlyMap<Run, number>
  /** The least height of the channel for its lanes. */
  readonly height: number
}

/** The distance between a label and a line beside it. */
export const BESIDE_LABEL = 4

/**
 * Gives lanes to runs, which are ordered from top to bottom: as few lanes as the order allows. A run that would lie on the label of a piece across the
 * channel goes to the top or to the bottom. Other runs keep their distance from a label on a run. [DIAG-12, DIAG-15]
 */
export function lanesOf(order: readonly Run[], labels: ChannelLabels): Lanes {
  const isLower = lowerRuns(order, labels)
  const upperRuns = order.filter((run) => !isLower.has(run))
  const lowerRunsUp = order.filter((run) => isLower.has(run)).reverse()
  const upper = packed(upperRuns, labels, false)
  const lower = packed(lowerRunsUp, labels, true)
  const deepest = (lanes: ReadonlyMap<Run, number>) => Math.max(-1, ...lanes.values())
  let most = Math.max(deepest(upper), deepest(lower))
  for (const a of upperRuns)
    for (const b of lowerRunsUp)
      if (isAbove(a, b) || overlap(a, b)) {
        const apart = Math.max(1, lanesBetween(a, b, labels))
        most = Math.max(most, (upper.get(a) as number) + (lower.get(b) as number) + apart)
      }
  const offsets = (lanes: ReadonlyMap<Run, number>) => new Map([...lanes].map(([run, lane]) => [run, STUB + lane * LANE]))
  return { upper: offsets(upper), lower: offsets(lower), height: most < 0 ? 0 : 2 * STUB + most * LANE }
}

/**
 * The runs that go to the bottom of the channel. Each label that a run meets has a vote: down when the run lies behind the label or ends at the same
 * lower pin, up when it lies before the label or begins at the same upper pin. A run with equal votes goes down when it is in the lower half of the
 * order. A run that must be below one of the others goes down too.
 */
function lowerRuns(order: readonly Run[], { across }: ChannelLabels): ReadonlySet<Run> {
  const lower = new Set<Run>()
  if (across.length === 0) return lower
  order.forEach((run, i) => {
    let votes = 0
    let meeting = 0
    for (const label of across) {
      if (!meets(run, label)) continue
      meeting++
      if (label.before.has(run)) votes--
      else if (label.behind.has(run)) votes++
      else if (run.upperPin === label.upperPin) votes -= 2
      else if (run.lowerPin === label.lowerPin) votes += 2
    }
    const isBelow = order.slice(0, i).some((other) => lower.has(other) && (isAbove(other, run) || overlap(other, run)))
    if (isBelow || votes > 0 || (meeting > 0 && votes === 0 && 2 * i > order.length)) lower.add(run)
  })
  return lower
}

/** Gives runs their lanes, from 0 on. `upwards`: the first run is the lowest, and lanes count from the bottom. */
function packed(runs: readonly Run[], labels: ChannelLabels, upwards: boolean): ReadonlyMap<Run, number> {
  const lanes: number[] = []
  const byLane = new Map<number, Run[]>()
  runs.forEach((run, i) => {
    let lane = 0
    for (let k = 0; k < i; k++) {
      const other = at(runs, k)
      const [above, below] = upwards ? [run, other] : [other, run]
      if (isAbove(above, below) || overlap(above, below)) lane = Math.max(lane, at(lanes, k) + lanesBetween(above, below, labels))
    }
    while (!isClear(run, byLane.get(lane) ?? [])) lane++
    lanes.push(lane)
    const onLane = byLane.get(lane)
    if (onLane === undefined) byLane.set(lane, [run])
    else onLane.push(run)
  })
  return new Map(runs.map((run, i) => [run, at(lanes, i)]))
}

/** By how many lanes `below` must lie under `above`. */
function lanesBetween(above: Run, below: Run, { onRuns }: ChannelLabels): number {
  const [a, b] = [onRuns.get(above), onRuns.get(below)]
  const ofLabels = Math.max(
    a === undefined || !meets(a, below) ? 0 : a.along / 2 + BESIDE_LABEL,
    b === undefined || !meets(b, above) ? 0 : b.along / 2 + BESIDE_LABEL,
    a === undefined || b === undefined || !meets(a, b) ? 0 : (a.along + b.along) / 2 + BESIDE_LABEL,
  )
  const least = isAbove(above, below) ? below.drop : mayShare(above, below) ? 0 : 1
  return Math.max(least, Math.ceil(ofLabels / LANE))
}

export function meets(a: Stretch, b: Stretch): boolean {
  return a.left < b.right && b.left < a.right
}

/** Whether a run may join others on their lane. All runs that touch there must have one pin in common; otherwise unconnected edges look connected. */
function isClear(run: Run, onLane: readonly Run[]): boolean {
  const joined = [run]
  const left = [...onLane]
  for (let k = 0; k < joined.length; k++) {
    const one = at(joined, k)
    for (let i = left.length - 1; i >= 0; i--) {
      const other = at(left, i)
      if (other.left <= one.right && one.left <= other.right) joined.push(...left.splice(i, 1))
    }
  }
  return joined.every((other) => other.upperPin === run.upperPin) || joined.every((other) => other.lowerPin === run.lowerPin)
}
