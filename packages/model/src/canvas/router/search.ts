import type { Point } from '../geometry/bounds.ts'
import type { RouteEnd } from './care.ts'
import type { Claim, Raster } from './raster.ts'

/** The cost of a corner and of a crossing, in units of length. */
const cornerCost = 60
const crossingCost = 90
/** The cost of each piece of the way that passes through the label of another route. */
const labelCost = 150
/** The weight of the estimated rest of a way. Above 1, the search goes to the end more directly, and finds a way that may cost a little more. */
const EAGERNESS = 1.25
/** Each time this many points were looked at, the weight grows by 1: among many routes to cross, all ways cost about the same. */
const IMPATIENCE = 1_000
/** How many steps it costs to look at one point. */
const STEPS_OF_VISIT = 20

export interface Wanted {
  /** The far ends of the stubs. */
  readonly start: Point
  readonly end: Point
  readonly from: RouteEnd
  readonly to: RouteEnd
  /** How many points the search looks at before it gives up. */
  readonly maxVisits: number
}

/** Right, down, left, up. */
const steps = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const

/** The phases of a route. First it may follow the trunk of its start, then it runs alone, and last it may follow the trunk of its end. */
const trunkOfStart = 0
const alone = 1
const trunkOfEnd = 2

/**
 * Searches a cheap way over a raster by length, corners, crossings and labels (A*). Returns `null` when there is no way, or when a limit is reached. The way
 * never lies on a route with which it shares no anchor. It leaves the trunk of its start, and joins the trunk of its end, only once. [DIAG-14, DIAG-15]
 */
export function search(raster: Raster, wanted: Wanted, spend: (steps: number) => boolean): readonly Point[] | null {
  const { from, to, maxVisits } = wanted
  const [start, goal] = [raster.pointAt(wanted.start), raster.pointAt(wanted.end)]
  const firstTurn = from.direction === null ? -1 : turnOf(from.direction)
  const lastTurn = to.direction === null ? -1 : (turnOf(to.direction) + 2) % 4
  const end = wanted.end
  const { best, cameFrom } = raster.scratch
  const touched: number[] = []
  let eagerness = EAGERNESS
  const queue = new Queue()
  const push = (point: number, turn: number, phase: number, cost: number, before: number) => {
    const state = (point * 4 + turn) * 3 + phase
    const known = best[state] as number
    if (known <= cost) return
    if (known === Number.POSITIVE_INFINITY) touched.push(state)
    best[state] = cost
    cameFrom[state] = before
    const { x, y } = raster.placeOf(point)
    const [dx, dy] = [Math.abs(x - end.x), Math.abs(y - end.y)]
    queue.push(state, cost + eagerness * (dx + dy + (dx > 0 && dy > 0 ? cornerCost : 0)), cost)
  }
  const finish = (way: readonly Point[] | null) => {
    for (const state of touched) best[state] = Number.POSITIVE_INFINITY
    return way
  }
  for (let turn = 0; turn < 4; turn++) if (firstTurn === -1 || turn === firstTurn) push(start, turn, trunkOfStart, 0, -1)
  for (let visits = 0; visits < maxVisits; visits++) {
    eagerness = EAGERNESS + visits / IMPATIENCE
    const state = queue.pop(best)
    if (state === -1 || !spend(STEPS_OF_VISIT)) break
    const phase = state % 3
    const turn = ((state - phase) / 3) % 4
    const point = Math.floor(state / 12)
    // A route that never leaves the trunk of its start would lie on another route all the way.
    const isTwin = phase === trunkOfStart && start !== goal
    if (point === goal && !isTwin && (lastTurn === -1 || turn === lastTurn || start !== goal)) {
      if (lastTurn === -1 || turn !== (lastTurn + 2) % 4) return finish(wayOf(raster, state, cameFrom))
    }
    const cost = best[state] as number
    for (let next = 0; next < 4; next++) {
      if (next === (turn + 2) % 4) continue
      const step = stepFrom(raster, point, turn, next, phase, cameFrom[state] === -1, from, to)
      if (step === null) continue
      const { x, y } = raster.placeOf(point)
      const there = raster.placeOf(step.point)
      const length = Math.abs(there.x - x) + Math.abs(there.y - y)
      const lastCorner = step.point === goal && lastTurn !== -1 && next !== lastTurn ? cornerCost : 0
      push(
        step.point,
        next,
        step.phase,
        cost +
          length +
          lastCorner +
          (next === turn ? 0 : cornerCost) +
          step.crossings * crossingCost +
          (step.isLabelled ? labelCost : 0),
        state,
      )
    }
  }
  return finish(null)
}

function turnOf({ x, y }: Point): number {
  return steps.findIndex((step) => step.x === Math.sign(x) && step.y === Math.sign(y))
}

interface Step {
  readonly point: number
  readonly phase: number
  readonly crossings: number
  /** Whether the step passes through a label. */
  readonly isLabelled: boolean
}

/** The step from a point in a direction, for a route that came there with `turn`; `null` when it is not allowed. */
function stepFrom(
  raster: Raster,
  point: number,
  turn: number,
  next: number,
  phase: number,
  isFirst: boolean,
  from: RouteEnd,
  to: RouteEnd,
): Step | null {
  const { width } = raster
  const piece = pieceOf(raster, point, next)
  if (piece === null) return null
  const across = next % 2 === 0
  if (raster.isBlocked(piece, across)) return null
  const owners = raster.ownersOf(piece, across)
  const claim = raster.claimOf(owners, from, to)
  if (claim === 'others') return null
  const now = phaseAfter(phase, claim)
  if (now === null) return null
  const lastPiece = isFirst ? null : pieceOf(raster, point, (turn + 2) % 4)
  const lastOwners = lastPiece === null ? null : raster.ownersOf(lastPiece, turn % 2 === 0)
  // Along the trunk of the start, pieces lose owners but get no new ones; along the trunk of the end, the other way round. Otherwise two routes meet twice.
  if (
    lastOwners !== null &&
    phase === trunkOfStart &&
    now === trunkOfStart &&
    !owners.every((owner) => lastOwners.includes(owner))
  )
    return null
  if (lastOwners !== null && phase === trunkOfEnd && now === trunkOfEnd && !lastOwners.every((owner) => owners.includes(owner)))
    return null
  const crossings = next === turn ? crossed(raster, point, next, from, to) : cornered(raster, point, from, to)
  if (crossings === null) return null
  return {
    point: point + (next === 0 ? 1 : next === 1 ? width : next === 2 ? -1 : -width),
    phase: now,
    crossings,
    isLabelled: raster.isLabelled(piece, across),
  }
}

function phaseAfter(phase: number, claim: Exclude<Claim, 'others'>): number | null {
  if (claim === 'start' || (claim === 'either' && phase === trunkOfStart)) return phase === trunkOfStart ? trunkOfStart : null
  if (claim === 'end' || claim === 'either') return trunkOfEnd
  return phase === trunkOfEnd ? null : alone
}

/** The piece that leads from a point in a direction; `null` at the border. */
function pieceOf({ width, ys }: Raster, point: number, turn: number): number | null {
  const column = point % width
  switch (turn) {
    case 0:
      return column + 1 < width ? point : null
    case 1:
      return point + width < width * ys.length ? point : null
    case 2:
      return column > 0 ? point - 1 : null
    default:
      return point >= width ? point - width : null
  }
}

/** How many routes are crossed when going straight over a point; `null` when a route without a common anchor has a corner there. */
function crossed(raster: Raster, point: number, turn: number, from: RouteEnd, to: RouteEnd): number | null {
  const [before, after] = [(turn + 1) % 4, (turn + 3) % 4].map((side) => {
    const piece = pieceOf(raster, point, side)
    return piece === null ? [] : raster.ownersOf(piece, side % 2 === 0)
  }) as [readonly number[], readonly number[]]
  let sum = 0
  for (const owner of before) {
    if (after.includes(owner)) sum++
    else if (raster.isStranger(owner, from, to)) return null
  }
  for (const owner of after) if (!before.includes(owner) && raster.isStranger(owner, from, to)) return null
  return sum
}

/** Returns 0 when a corner is allowed at a point; `null` when a route without a common anchor passes there. */
function cornered(raster: Raster, point: number, from: RouteEnd, to: RouteEnd): number | null {
  for (let side = 0; side < 4; side++) {
    const piece = pieceOf(raster, point, side)
    if (piece === null) continue
    if (raster.ownersOf(piece, side % 2 === 0).some((owner) => raster.isStranger(owner, from, to))) return null
  }
  return 0
}

function wayOf(raster: Raster, last: number, cameFrom: Int32Array): Point[] {
  const points: Point[] = []
  for (let state = last; state !== -1; state = cameFrom[state] as number) points.push(raster.placeOf(Math.floor(state / 12)))
  return points.toReversed()
}

/** A priority queue of states: the cheapest state first, states of equal cost in the order of their push. */
class Queue {
  private readonly states: number[] = []
  private readonly costs: number[] = []
  private readonly turns: number[] = []
  private readonly ways: number[] = []
  private count = 0

  /** @param way the cost of the way to the state */
  push(state: number, cost: number, way: number): void {
    let i = this.states.length
    const turn = this.count++
    this.states.push(state)
    this.costs.push(cost)
    this.turns.push(turn)
    this.ways.push(way)
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!this.isBefore(i, parent)) break
      this.swap(i, parent)
      i = parent
    }
  }

  /** Removes and returns the cheapest state to which no better way was found after its push; -1 when there is none. */
  pop(best: Float64Array): number {
    for (;;) {
      const way = this.ways[0]
      const state = this.takeFirst()
      if (state === -1 || way === best[state]) return state
    }
  }

  private takeFirst(): number {
    const first = this.states[0]
    if (first === undefined) return -1
    this.swap(0, this.states.length - 1)
    this.states.pop()
    this.costs.pop()
    this.turns.pop()
    this.ways.pop()
    for (let i = 0; ; ) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2]) if (child < this.states.length && this.isBefore(child, least)) least = child
      if (least === i) return first
      this.swap(i, least)
      i = least
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [x, y] = [this.costs[a] as number, this.costs[b] as number]
    return x < y || (x === y && (this.turns[a] as number) < (this.turns[b] as number))
  }

  private swap(a: number, b: number): void {
    for (const values of [this.states, this.costs, this.turns, this.ways]) {
      const kept = values[a] as number
      values[a] = values[b] as number
      values[b] = kept
    }
  }
}
