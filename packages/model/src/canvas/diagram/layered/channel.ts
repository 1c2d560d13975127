import { at } from '../at.ts'
import { LANE } from './part.ts'

/** A piece of an edge, or of a bundle, that has to get from one x at the top of a channel to another at its bottom. */
export interface ChannelPiece {
  readonly upperX: number
  readonly lowerX: number
  /** Pieces with the same upper or lower pin may lie on each other there. */
  readonly upperPin: number
  readonly lowerPin: number
  readonly edges: number
  /** The room of its label sideways; 0 without one. */
  readonly label: number
}

/** A stretch along a lane, counted from the top, to an x. */
export interface Jog {
  readonly lane: number
  readonly x: number
}

export interface Channel {
  readonly lanes: number
  /** By piece its jogs from the top to the bottom; none for a straight one. */
  readonly jogs: readonly (readonly Jog[])[]
}

/** A piece, or a part of one, that runs along one lane. */
interface Run {
  readonly piece: number
  readonly upperX: number
  readonly lowerX: number
  readonly upperPin: number
  readonly lowerPin: number
  readonly left: number
  readonly right: number
  readonly weight: number
  /** By how many lanes it is below a run that must be above it. */
  readonly drop: number
}

/** Between labels of ways around. */
const BESIDE_LABEL = 6

/** Lanes between the two parts of a way around, so that it is seen as a way of its own. */
const DETOUR_DROP = 3

/**
 * Gives the pieces between two layers their lanes: pieces that do not share a pin never lie on each other, lanes are in the order that crosses least, and
 * there are as few of them as that order allows. [DIAG-14, DIAG-15]
 */
export function routeChannel(pieces: readonly ChannelPiece[]): Channel {
  const detours = new Detours(pieces)
  const runs = untied(runsOf(pieces, detours), detours)
  const order = orderRuns(runs)
  const laneOf = new Map<Run, number>()
  order.forEach((run, i) => {
    let lane = 0
    for (let k = 0; k < i; k++) {
      const other = at(order, k)
      if (isAbove(other, run)) lane = Math.max(lane, (laneOf.get(other) as number) + run.drop)
      else if (overlap(run, other)) lane = Math.max(lane, (laneOf.get(other) as number) + (mayShare(run, other) ? 0 : 1))
    }
    while (
      !isClear(
        run,
        order.slice(0, i).filter((other) => laneOf.get(other) === lane),
      )
    )
      lane++
    laneOf.set(run, lane)
  })
  const jogs: Jog[][] = pieces.map(() => [])
  let lanes = 0
  for (const run of order) {
    const lane = laneOf.get(run) as number
    lanes = Math.max(lanes, lane + 1)
    at(jogs, run.piece).push({ lane, x: run.lowerX })
  }
  for (const own of jogs) own.sort((a, b) => a.lane - b.lane)
  return { lanes, jogs }
}

/** Whether a run may join others on their lane: what touches there has one pin in common, or it would look as if more were connected. */
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
 * The pieces that are not straight. Of several straight ones between the same pins all but the first make a way around, far enough out for their labels to
 * stand side by side. [DIAG-12]
 */
function runsOf(pieces: readonly ChannelPiece[], detours: Detours): Run[] {
  /** By pin of straight pieces, how far right their labels reach. */
  const reach = new Map<number, number>()
  return pieces.flatMap(({ upperX, lowerX, upperPin, lowerPin, edges, label }, piece) => {
    if (upperX !== lowerX) return [runOf(piece, [upperX, upperPin], [lowerX, lowerPin], edges)]
    const half = Math.ceil(label / 2)
    const reached = reach.get(upperPin)
    if (reached === undefined) {
      reach.set(upperPin, upperX + half)
      return []
    }
    const wanted = Math.max(upperX + 3 * LANE, label === 0 ? 0 : reached + BESIDE_LABEL + half)
    const [x, pin] = detours.take(wanted, wanted)
    reach.set(upperPin, x + half)
    return [runOf(piece, [upperX, upperPin], [x, pin], edges), runOf(piece, [x, pin], [lowerX, lowerPin], edges, DETOUR_DROP)]
  })
}

/** Columns within a channel where nothing else is, for pieces that change their lane on the way. */
class Detours {
  private readonly taken: number[]
  private next = -1

  constructor(pieces: readonly ChannelPiece[]) {
    this.taken = [...new Set(pieces.flatMap(({ upperX, lowerX }) => [upperX, lowerX]))].sort((a, b) => a - b)
  }

  /** The free column that is nearest to a range, and a pin of its own. */
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

/** Whether one run must be above the other: its way down from the top would else lie on the other's way to the bottom. */
function isAbove(a: Run, b: Run): boolean {
  if (a.piece === b.piece) return a !== b && a.lowerPin === b.upperPin
  if (Math.abs(a.upperX - b.lowerX) >= LANE) return false
  return !mayShare(a, b) || a.upperX !== b.lowerX
}

function mayShare(a: Run, b: Run): boolean {
  return (a.upperPin === b.upperPin) !== (a.lowerPin === b.lowerPin)
}

function overlap(a: Run, b: Run): boolean {
  return a.left < b.right + LANE && b.left < a.right + LANE
}

/** Splits runs that would have to be above each other in a circle: such a run changes its lane in a free column. */
function untied(all: readonly Run[], detours: Detours): Run[] {
  let runs = [...all]
  for (let tied = circle(runs); tied !== null; tied = circle(runs)) {
    const run = tied.reduce((widest, other) => (other.right - other.left > widest.right - widest.left ? other : widest))
    const [x, pin] = detours.take(run.left, run.right)
    const parts = [
      runOf(run.piece, [run.upperX, run.upperPin], [x, pin], run.weight),
      runOf(run.piece, [x, pin], [run.lowerX, run.lowerPin], run.weight),
    ]
    runs = runs.flatMap((other) => (other === run ? parts : [other]))
  }
  return runs
}

/** Runs of which each must be above the next and the last above the first; `null` when there are none. */
function circle(runs: readonly Run[]): readonly Run[] | null {
  const below = runs.map((a) => runs.flatMap((b, j) => (a !== b && isAbove(a, b) ? [j] : [])))
  const state = new Uint8Array(runs.length)
  const step = new Int32Array(runs.length)
  for (let root = 0; root < runs.length; root++) {
    if (state[root] !== 0) continue
    const path = [root]
    state[root] = 1
    while (path.length > 0) {
      const i = at(path, path.length - 1)
      const k = at(step, i)
      step[i] = k + 1
      const j = at(below, i)[k]
      if (j === undefined) {
        state[i] = 2
        path.pop()
      } else if (state[j] === 1) {
        return path.slice(path.indexOf(j)).map((place) => at(runs, place))
      } else if (state[j] === 0) {
        state[j] = 1
        path.push(j)
      }
    }
  }
  return null
}

/** Crossings of two runs when `a` is above `b`. */
function crossingsAbove(a: Run, b: Run): number {
  let sum = 0
  if (a.left < b.upperX && b.upperX < a.right) sum++
  if (b.left < a.lowerX && a.lowerX < b.right) sum++
  return sum * a.weight * b.weight
}

/** An order from the top to the bottom that keeps what must be above, with few crossings. */
function orderRuns(runs: readonly Run[]): readonly Run[] {
  const count = runs.length
  const must = 1e6
  const gain = new Float64Array(count * count)
  for (let i = 0; i < count; i++)
    for (let j = 0; j < count; j++) {
      const [a, b] = [at(runs, i), at(runs, j)]
      if (i === j || !(overlap(a, b) || isAbove(a, b) || isAbove(b, a))) continue
      const tied = (isAbove(b, a) ? must : 0) - (isAbove(a, b) ? must : 0)
      // What it costs more to have `a` above `b` than below it; the shorter of two equal ones goes where its pin is.
      gain[i * count + j] = crossingsAbove(a, b) - crossingsAbove(b, a) + tied
    }
  const order = topological(runs)
  for (let pass = 0, moved = true; moved && pass < 20; pass++) {
    moved = false
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

/** Runs to the right from the rightmost on, then runs to the left from the leftmost on, each after those that must be above it. */
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
