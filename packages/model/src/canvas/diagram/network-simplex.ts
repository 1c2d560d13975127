import type { Effort } from './effort.ts'

/**
 * A problem of places on a line. For each arc, the place of `head` must be at least `gap` above the place of `tail`. The sum of weight times
 * distance over all arcs must be as small as possible. Both the ranks of nodes and the columns of a drawing are such a problem.
 */
export interface Arcs {
  readonly tail: number[]
  readonly head: number[]
  readonly gap: number[]
  readonly weight: number[]
}

export function noArcs(): Arcs {
  return { tail: [], head: [], gap: [], weight: [] }
}

export function addArc(arcs: Arcs, tail: number, head: number, gap: number, weight: number): void {
  arcs.tail.push(tail)
  arcs.head.push(head)
  arcs.gap.push(gap)
  arcs.weight.push(weight)
}

/**
 * Finds the places with the smallest sum by the network simplex method: it exchanges arcs in a spanning tree of arcs without slack while that
 * lowers the sum. The arcs must have no cycle and connect all places. The places of `start` must keep all gaps. When the effort is used up,
 * the returned places keep all gaps too, but their sum may not be the smallest.
 */
export function leastSum(count: number, arcs: Arcs, start: Int32Array, effort: Effort): Int32Array {
  if (count < 2) return start
  const simplex = new Simplex(count, arcs, start)
  simplex.run(effort)
  return simplex.place
}

/** Returns the lowest places that keep all gaps and are not below `least`, which is 0 by default. */
export function lowestPlaces(count: number, arcs: Arcs, least: Int32Array | null = null): Int32Array {
  const place = least === null ? new Int32Array(count) : least.slice()
  const missing = new Int32Array(count)
  const outgoing = adjacency(count, arcs.tail)
  for (const head of arcs.head) missing[head] = (missing[head] as number) + 1
  const ready: number[] = []
  for (let v = 0; v < count; v++) if (missing[v] === 0) ready.push(v)
  for (let i = 0; i < ready.length; i++) {
    const v = ready[i] as number
    for (let k = outgoing.first[v] as number; k < (outgoing.first[v + 1] as number); k++) {
      const arc = outgoing.list[k] as number
      const head = arcs.head[arc] as number
      place[head] = Math.max(place[head] as number, (place[v] as number) + (arcs.gap[arc] as number))
      missing[head] = (missing[head] as number) - 1
      if (missing[head] === 0) ready.push(head)
    }
  }
  return place
}

interface Adjacency {
  /** Where the arcs of a place begin in `list`. */
  readonly first: Int32Array
  readonly list: Int32Array
}

function adjacency(count: number, ends: readonly number[]): Adjacency {
  const first = new Int32Array(count + 1)
  for (const end of ends) first[end + 1] = (first[end + 1] as number) + 1
  for (let v = 0; v < count; v++) first[v + 1] = (first[v + 1] as number) + (first[v] as number)
  const next = first.slice()
  const list = new Int32Array(ends.length)
  ends.forEach((end, arc) => {
    list[next[end] as number] = arc
    next[end] = (next[end] as number) + 1
  })
  return { first, list }
}

class Simplex {
  readonly place: Int32Array
  private readonly count: number
  private readonly arcs: Arcs
  private readonly outgoing: Adjacency
  private readonly incoming: Adjacency
  private readonly inTree: Uint8Array
  private readonly cut: Float64Array
  /** The arcs of the tree at each place. */
  private readonly links: number[][]
  private readonly parentArc: Int32Array
  /** The numbers of a walk through the tree. The subtree of a place has the numbers from its `low` to its `high`, and the place itself has `high`. */
  private readonly low: Int32Array
  private readonly high: Int32Array
  private readonly walk: Int32Array

  constructor(count: number, arcs: Arcs, start: Int32Array) {
    this.count = count
    this.arcs = arcs
    this.place = start.slice()
    this.outgoing = adjacency(count, arcs.tail)
    this.incoming = adjacency(count, arcs.head)
    this.inTree = new Uint8Array(arcs.tail.length)
    this.cut = new Float64Array(arcs.tail.length)
    this.links = Array.from({ length: count }, () => [])
    this.parentArc = new Int32Array(count).fill(-1)
    this.low = new Int32Array(count)
    this.high = new Int32Array(count)
    this.walk = new Int32Array(count)
  }

  run(effort: Effort): void {
    if (!this.growTree(effort)) return
    this.number()
    this.cutValues()
    const cost = this.count + this.arcs.tail.length
    let from = 0
    while (effort.spend(cost)) {
      const leaving = this.leavingArc(from)
      if (leaving === -1) return
      from = leaving + 1
      this.exchange(leaving, this.enteringArc(leaving))
    }
  }

  private slack(arc: number): number {
    const { head, tail, gap } = this.arcs
    return (this.place[head[arc] as number] as number) - (this.place[tail[arc] as number] as number) - (gap[arc] as number)
  }

  /** Joins all places to one tree of arcs without slack. When no such arc leads out of the tree, moves the places in the tree until one does. */
  private growTree(effort: Effort): boolean {
    const { head, tail } = this.arcs
    const reached = new Uint8Array(this.count)
    const stack = [0]
    reached[0] = 1
    for (let size = 1; ; ) {
      while (stack.length > 0) {
        const v = stack.pop() as number
        for (const { first, list } of [this.outgoing, this.incoming])
          for (let k = first[v] as number; k < (first[v + 1] as number); k++) {
            const arc = list[k] as number
            const other = (head[arc] as number) === v ? (tail[arc] as number) : (head[arc] as number)
            if (reached[other] === 1 || this.slack(arc) !== 0) continue
            this.join(arc)
            reached[other] = 1
            size++
            stack.push(other)
          }
      }
      if (size === this.count) return true
      effort.spend(tail.length)
      let best = -1
      let least = Infinity
      for (let arc = 0; arc < tail.length; arc++) {
        if (reached[tail[arc] as number] === reached[head[arc] as number]) continue
        const slack = this.slack(arc)
        if (slack < least) [best, least] = [arc, slack]
      }
      if (best === -1) return false
      const delta = reached[head[best] as number] === 1 ? -least : least
      for (let v = 0; v < this.count; v++) {
        if (reached[v] === 0) continue
        this.place[v] = (this.place[v] as number) + delta
        // After the move, an arc without slack may lead out of any place of the tree.
        stack.push(v)
      }
    }
  }

  private join(arc: number): void {
    this.inTree[arc] = 1
    this.links[this.arcs.tail[arc] as number]?.push(arc)
    this.links[this.arcs.head[arc] as number]?.push(arc)
  }

  /** Numbers the places in a walk through the tree from place 0, children before their parent. */
  private number(): void {
    const { head, tail } = this.arcs
    const next = new Int32Array(this.count)
    const path = [0]
    this.parentArc[0] = -1
    this.low[0] = 0
    let counter = 0
    while (path.length > 0) {
      const v = path[path.length - 1] as number
      const links = this.links[v] as number[]
      const k = next[v] as number
      if (k < links.length) {
        next[v] = k + 1
        const arc = links[k] as number
        if (arc === this.parentArc[v]) continue
        const child = (head[arc] as number) === v ? (tail[arc] as number) : (head[arc] as number)
        this.parentArc[child] = arc
        this.low[child] = counter
        path.push(child)
      } else {
        this.high[v] = counter
        this.walk[counter++] = v
        path.pop()
      }
    }
  }

  private isBelow(v: number, top: number): boolean {
    return (this.low[top] as number) <= (this.high[v] as number) && (this.high[v] as number) <= (this.high[top] as number)
  }

  /** Sets the cut value of each arc of the tree: by how much the sum grows when the two halves that the arc joins move apart by 1. */
  private cutValues(): void {
    const { head, tail, weight } = this.arcs
    for (let i = 0; i < this.count - 1; i++) {
      const v = this.walk[i] as number
      const up = this.parentArc[v] as number
      const isTail = (tail[up] as number) === v
      let sum = weight[up] as number
      for (const [{ first, list }, leaves] of [
        [this.outgoing, true],
        [this.incoming, false],
      ] as const)
        for (let k = first[v] as number; k < (first[v + 1] as number); k++) {
          const arc = list[k] as number
          if (arc === up) continue
          const along = leaves === isTail ? 1 : -1
          sum += along * (weight[arc] as number)
          if (this.inTree[arc] === 1) {
            const child = leaves ? (head[arc] as number) : (tail[arc] as number)
            sum -= along * (this.cut[this.parentArc[child] as number] as number)
          }
        }
      this.cut[up] = sum
    }
  }

  /** An arc of the tree with a negative cut value: the lowest of the next 30 such arcs; -1 when there is none. */
  private leavingArc(from: number): number {
    const total = this.arcs.tail.length
    let best = -1
    let lowest = -1e-9
    for (let k = 0, found = 0; k < total && found < 30; k++) {
      const arc = (from + k) % total
      if (this.inTree[arc] === 0 || (this.cut[arc] as number) >= -1e-9) continue
      found++
      if ((this.cut[arc] as number) < lowest) [best, lowest] = [arc, this.cut[arc] as number]
    }
    return best
  }

  /** The arc of least slack that joins the two halves again. It leads from the half with the head of `leaving` to the half with its tail. */
  private enteringArc(leaving: number): number {
    const { head, tail } = this.arcs
    const [from, to] = [tail[leaving] as number, head[leaving] as number]
    const tailIsBelow = (this.parentArc[from] as number) === leaving
    const top = tailIsBelow ? from : to
    let best = -1
    let least = Infinity
    for (let arc = 0; arc < tail.length; arc++) {
      if (this.inTree[arc] === 1) continue
      const headBelow = this.isBelow(head[arc] as number, top)
      if (headBelow === this.isBelow(tail[arc] as number, top) || headBelow !== tailIsBelow) continue
      const slack = this.slack(arc)
      if (slack < least) [best, least] = [arc, slack]
    }
    return best
  }

  private exchange(leaving: number, entering: number): void {
    const { head, tail } = this.arcs
    const value = this.cut[leaving] as number
    const [from, to] = [tail[leaving] as number, head[leaving] as number]
    const tailIsBelow = (this.parentArc[from] as number) === leaving
    const top = tailIsBelow ? from : to
    const slack = this.slack(entering)
    if (slack !== 0) {
      // Moves only the half below `leaving` in the tree: down when it has the tail of that arc, up when it has its head.
      const delta = tailIsBelow ? -slack : slack
      for (let i = this.low[top] as number; i <= (this.high[top] as number); i++) {
        const v = this.walk[i] as number
        this.place[v] = (this.place[v] as number) + delta
      }
    }
    this.addOnPath(tail[entering] as number, head[entering] as number, value, true)
    this.addOnPath(head[entering] as number, tail[entering] as number, value, false)
    this.cut[entering] = -value
    this.cut[leaving] = 0
    this.inTree[leaving] = 0
    for (const end of [from, to]) {
      const links = this.links[end] as number[]
      links.splice(links.indexOf(leaving), 1)
    }
    this.join(entering)
    this.number()
  }

  /** Changes the cut values from `start` up to the first place that also has `other` below it. */
  private addOnPath(start: number, other: number, value: number, fromTail: boolean): void {
    const { head, tail } = this.arcs
    for (let v = start; !this.isBelow(other, v); ) {
      const arc = this.parentArc[v] as number
      const goesUp = (tail[arc] as number) === v
      this.cut[arc] = (this.cut[arc] as number) + (goesUp === fromTail ? value : -value)
      v = goesUp ? (head[arc] as number) : (tail[arc] as number)
    }
  }
}
