import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import { breakCircles } from './circles.ts'
import { LANE } from './part.ts'

/** A piece of an edge, or of a bundle, that leads from one x at the top of a channel to another x at its bottom. */
export interface ChannelPiece {
  readonly upperX: number
  readonly lowerX: number
  /** The items at the upper and the lower end. Pieces with the same pin may lie on each other near it. */
  readonly upperPin: number
  readonly lowerPin: number
  readonly edges: number
  /** The size of the label of the piece across the direction of the layers; 0 without a label. */
  readonly label: number
  /** The share of the way of the edge between the middle of its label and the nearer end, from 0 to 0.5. */
  readonly share: number
}

/** A piece, or a part of one, that runs along one lane. */
export interface Run {
  readonly piece: number
  readonly upperX: number
  readonly lowerX: number
  readonly upperPin: number
  readonly lowerPin: number
  readonly left: number
  readonly right: number
  readonly weight: number
  /** By how many lanes, at least, this run lies below a run that must be above it. */
  readonly drop: number
}

/** The distance between the labels of detours. */
const BESIDE_LABEL = 6

/** By how many lanes the second part of a detour lies below the first, so that the detour is visible as a way of its own. */
const DETOUR_DROP = 3

/**
 * Makes runs of the pieces between two layers, ordered from top to bottom with few crossings. Pieces that do not share a pin never lie on each other.
 * [DIAG-14, DIAG-15]
 */
export function orderedRuns(pieces: readonly ChannelPiece[], effort: Effort): readonly Run[] {
  const detours = new Detours(pieces)
  return orderRuns(untied(runsOf(pieces, detours), detours, effort), effort)
}

function runOf(piece: number, from: readonly [number, number], to: readonly [number, number], weight: number, drop = 1): Run {
  const [upperX, upperPin] = from
  const [lowerX, lowerPin] = to
  return {
    piece,
    upperX,
    upperPin,
    lowerX,
    lowerPin,
    left: Math.min(upperX, lowerX),
    right: Math.max(upperX, lowerX),
    weight,
    drop,
  }
}

/**
 * Makes runs of the pieces that are not straight. Of several straight pieces between the same pins, all but one take a detour, far enough out for their
 * labels to stand side by side. The nearer a label is to an end of its way, the less far out its detour leads. [DIAG-12]
 */
function runsOf(pieces: readonly ChannelPiece[], detours: Detours): Run[] {
  const groups = new Map<string, number[]>()
  const runs: Run[] = []
  pieces.forEach(({ upperX, lowerX, upperPin, lowerPin, edges }, piece) => {
    if (upperX !== lowerX) runs.push(runOf(piece, [upperX, upperPin], [lowerX, lowerPin], edges))
    else groups.set(`${upperPin} ${lowerPin}`, [...(groups.get(`${upperPin} ${lowerPin}`) ?? []), piece])
  })
  for (const group of groups.values()) {
    const [straight, ...others] = group.toSorted((a, b) => at(pieces, a).share - at(pieces, b).share || a - b)
    if (straight === undefined || others.length === 0) continue
    const { upperX, upperPin, lowerPin, label } = at(pieces, straight)
    const isLabelled = group.some((piece) => at(pieces, piece).label > 0)
    /** The x up to which labels reach to the right and to the left. */
    const reach = [upperX + Math.ceil(label / 2), upperX - Math.ceil(label / 2)]
    others.forEach((piece, i) => {
      const half = Math.ceil(at(pieces, piece).label / 2)
      const side = isLabelled ? i % 2 : 0
      const sign = side === 0 ? 1 : -1
      const beside = half === 0 ? 0 : Math.abs(at(reach, side) - upperX) + BESIDE_LABEL + half
      const wanted = upperX + sign * Math.max(3 * LANE, beside)
      const [x, pin] = detours.take(wanted, wanted)
      reach[side] = x + sign * half
      const { edges } = at(pieces, piece)
      runs.push(runOf(piece, [upperX, upperPin], [x, pin], edges), runOf(piece, [x, pin], [upperX, lowerPin], edges, DETOUR_DROP))
    })
  }
  return runs
}

/** Free columns within a channel, for pieces that change their lane on the way. */
class Detours {
  private readonly taken: number[]
  private next = -1

  constructor(pieces: readonly ChannelPiece[]) {
    this.taken = [...new Set(pieces.flatMap(({ upperX, lowerX }) => [upperX, lowerX]))].sort((a, b) => a - b)
  }

  /** Takes the free column nearest to a range. Returns its x and a new pin. */
  take(left: number, right: number): readonly [number, number] {
    const middle = Math.round((left + right) / 2)
    let best = (this.taken.at(-1) ?? middle) + LANE
    const rate = (x: number) => Math.max(left - x, x - right, 0) * 1000 + Math.abs(x - middle)
    for (let i = 0; i <= this.taken.length; i++) {
      const low = i === 0 ? -Infinity : at(this.taken, i - 1) + LANE
      const high = i === this.taken.length ? Infinity : at(this.taken, i) - LANE
      if (low > high) continue
      const x = Math.min(Math.max(middle, low), high)
      if (rate(x) < rate(best)) best = x
    }
    this.taken.push(best)
    this.taken.sort((a, b) => a - b)
    return [best, this.next--]
  }
}

/** Whether `a` must be above `b`. Otherwise the way of `a` down from the top would lie on the way of `b` down to the bottom. */
export function isAbove(a: Run, b: Run): boolean {
  if (a.piece === b.piece) return a !== b && a.lowerPin === b.upperPin
  if (Math.abs(a.upperX - b.lowerX) >= LANE) return false
  return !mayShare(a, b) || a.upperX !== b.lowerX
}

export function mayShare(a: Run, b: Run): boolean {
  return (a.upperPin === b.upperPin) !== (a.lowerPin === b.lowerPin)
}

export function overlap(a: Run, b: Run): boolean {
  return a.left < b.right + LANE && b.left < a.right + LANE
}

/** Breaks circles of runs of which each must be above the next: splits the widest run, which then changes its lane in a free column. */
function untied(runs: readonly Run[], detours: Detours, effort: Effort): Run[] {
  const parts = new Map<number, readonly [Run, Run]>()
  const below = belowOf(runs)
  breakCircles(
    runs.length,
    (i) => {
      // The lower part of a split run begins in a column of its own, so only the upper part must be above others.
      const found = below(parts.get(i)?.[0] ?? at(runs, i))
      effort.spend(1 + found.length)
      return found
    },
    (circle) => {
      const widest = circle.reduce((most, i) => (widthOf(at(runs, i)) > widthOf(at(runs, most)) ? i : most))
      const run = at(runs, widest)
      const [x, pin] = detours.take(run.left, run.right)
      parts.set(widest, [
        runOf(run.piece, [run.upperX, run.upperPin], [x, pin], run.weight),
        runOf(run.piece, [x, pin], [run.lowerX, run.lowerPin], run.weight),
      ])
      return widest
    },
  )
  return runs.flatMap((run, i) => parts.get(i) ?? [run])
}

function widthOf({ left, right }: Run): number {
  return right - left
}

/** Makes the function that finds the runs that a run must be above, as indexes in ascending order. It looks only at runs that end in nearby columns. */
function belowOf(runs: readonly Run[]): (run: Run) => readonly number[] {
  const byColumn = new Map<number, number[]>()
  runs.forEach(({ lowerX }, i) => {
    const column = byColumn.get(lowerX)
    if (column === undefined) byColumn.set(lowerX, [i])
    else column.push(i)
  })
  const columns = [...byColumn]
  return (run) => {
    const near = columns.filter(([x]) => Math.abs(x - run.upperX) < LANE)
    const found = near.flatMap(([, column]) => column.filter((i) => run !== runs[i] && isAbove(run, at(runs, i))))
    return found.sort((a, b) => a - b)
  }
}

/** The number of crossings of two runs when `a` is above `b`. */
function crossingsAbove(a: Run, b: Run): number {
  let sum = 0
  if (a.left < b.upperX && b.upperX < a.right) sum++
  if (b.left < a.lowerX && a.lowerX < b.right) sum++
  return sum * a.weight * b.weight
}

/** Orders runs from top to bottom with few crossings. A run that must be above another one stays above it. */
function orderRuns(runs: readonly Run[], effort: Effort): readonly Run[] {
  const count = runs.length
  const must = 1e6
  const gain = new Float64Array(count * count)
  for (let i = 0; i < count; i++) {
    effort.spend(count)
    for (let j = 0; j < count; j++) {
      const [a, b] = [at(runs, i), at(runs, j)]
      if (i === j || !(overlap(a, b) || isAbove(a, b) || isAbove(b, a))) continue
      const tied = (isAbove(b, a) ? must : 0) - (isAbove(a, b) ? must : 0)
      // By how much the cost with `a` above `b` exceeds the cost with `a` below `b`.
      gain[i * count + j] = crossingsAbove(a, b) - crossingsAbove(b, a) + tied
    }
  }
  const order = topological(runs)
  for (let pass = 0, moved = true, goOn = true; moved && goOn && pass < 20; pass++) {
    moved = false
    goOn = effort.spend(Math.ceil((count * count) / 16))
    for (let from = 0; from < count; from++) {
      const i = at(order, from)
      let [best, target, change] = [0, from, 0]
      for (let k = from - 1; k >= 0; k--) {
        change += at(gain, i * count + at(order, k))
        if (change < best) [best, target] = [change, k]
      }
      change = 0
      for (let k = from + 1; k < count; k++) {
        change -= at(gain, i * count + at(order, k))
        if (change < best) [best, target] = [change, k]
      }
      if (target === from) continue
      order.splice(from, 1)
      order.splice(target, 0, i)
      moved = true
    }
  }
  return order.map((i) => at(runs, i))
}

/** Runs that lead right, from the rightmost on, then runs that lead left, from the leftmost on; each after the runs that must be above it. */
function topological(runs: readonly Run[]): number[] {
  const wanted = runs
    .map((_, i) => i)
    .sort((i, j) => {
      const [a, b] = [at(runs, i), at(runs, j)]
      const [aRight, bRight] = [a.lowerX > a.upperX, b.lowerX > b.upperX]
      if (aRight !== bRight) return aRight ? -1 : 1
      return (aRight ? b.upperX - a.upperX || b.lowerX - a.lowerX : a.upperX - b.upperX || a.lowerX - b.lowerX) || i - j
    })
  const done = new Uint8Array(runs.length)
  const order: number[] = []
  const visit = (i: number) => {
    if (done[i] === 1) return
    done[i] = 1
    for (const j of wanted) if (done[j] === 0 && isAbove(at(runs, j), at(runs, i))) visit(j)
    order.push(i)
  }
  for (const i of wanted) visit(i)
  return order
}
