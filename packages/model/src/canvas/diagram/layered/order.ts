import type { Effort } from '../effort.ts'
import type { Levels } from './levels.ts'

/**
 * The order of the items within their layers. It can be changed, and its crossings can be counted. A node and its sides form one unit, which
 * moves as a whole.
 */
export class Order {
  readonly layers: number[][]
  private readonly levels: Levels
  /** By item, the items of the unit that it heads, itself first; empty for a side. */
  private readonly unit: number[][]
  private readonly upper: Neighbours
  private readonly lower: Neighbours
  private readonly place: Int32Array
  private readonly value: Float64Array
  private readonly pieceCount: number
  private fenwick: Int32Array

  constructor(levels: Levels) {
    this.levels = levels
    const count = levels.kind.length
    this.unit = levels.kind.map((kind, item) => (kind === 'side' ? [] : [item]))
    levels.kind.forEach((kind, item) => {
      if (kind === 'side') (this.unit[levels.nodeOf[item] as number] as number[]).push(item)
    })
    this.layers = levels.layers.map((items) => items.filter((item) => levels.kind[item] !== 'side'))
    this.upper = neighboursOf(
      count,
      levels.pieces.map(({ upper, lower }) => [lower, upper]),
    )
    this.lower = neighboursOf(
      count,
      levels.pieces.map(({ upper, lower }) => [upper, lower]),
    )
    this.place = new Int32Array(count)
    this.value = new Float64Array(count)
    this.pieceCount = levels.pieces.length
    this.fenwick = new Int32Array(2 + levels.layers.reduce((most, items) => Math.max(most, items.length), 0))
    this.layers.forEach((_, layer) => this.number(layer))
  }

  /** About what one sweep through all layers costs, in steps. */
  get cost(): number {
    return 4 * this.pieceCount + 4 * this.place.length
  }

  snapshot(): number[][] {
    return [...this.layers.map((units) => [...units]), ...this.unit.map((items) => [...items])]
  }

  restore(snapshot: readonly (readonly number[])[]): void {
    const count = this.layers.length
    for (let layer = 0; layer < count; layer++) this.layers[layer] = [...(snapshot[layer] as readonly number[])]
    for (let item = 0; item < this.unit.length; item++) this.unit[item] = [...(snapshot[count + item] as readonly number[])]
    this.layers.forEach((_, layer) => this.number(layer))
  }

  /** The items of each layer, sides behind their nodes. */
  items(): number[][] {
    return this.layers.map((units) => units.flatMap((head) => this.unit[head] as number[]))
  }

  private number(layer: number): void {
    let place = 0
    for (const head of this.layers[layer] as number[]) for (const item of this.unit[head] as number[]) this.place[item] = place++
  }

  /** Orders the units of each layer by a rating of their heads, the lowest first. */
  arrange(rating: ArrayLike<number>): void {
    this.layers.forEach((units, layer) => {
      units.sort((a, b) => (rating[a] as number) - (rating[b] as number) || a - b)
      this.number(layer)
    })
  }

  /** Orders each layer by the mean place of a unit's neighbours in the layer before it. `late` reverses units with equal means. */
  sweep(down: boolean, late: boolean): void {
    const count = this.layers.length
    for (let k = 1; k < count; k++) this.sortLayer(down ? k : count - 1 - k, down ? this.upper : this.lower, late)
  }

  private sortLayer(layer: number, neighbours: Neighbours, late: boolean): void {
    const units = this.layers[layer] as number[]
    const free: number[] = []
    for (const head of units) {
      let sum = 0
      let count = 0
      const items = this.unit[head] as number[]
      for (const item of items) {
        const [own, ownCount] = this.sumOfPlaces(item, neighbours)
        this.value[item] = ownCount === 0 ? (this.place[item] as number) : own / ownCount
        sum += own
        count += ownCount
      }
      if (items.length > 2) {
        const sides = items.slice(1).sort((a, b) => (this.value[a] as number) - (this.value[b] as number) || a - b)
        items.splice(1, sides.length, ...sides)
      }
      this.value[head] = count === 0 ? -1 : sum / count
      if (count > 0) free.push(head)
    }
    const sign = late ? -1 : 1
    const was = new Map(free.map((head, i) => [head, i]))
    free.sort(
      (a, b) => (this.value[a] as number) - (this.value[b] as number) || sign * ((was.get(a) as number) - (was.get(b) as number)),
    )
    let next = 0
    // Units without neighbours keep their places.
    for (let i = 0; i < units.length; i++)
      if ((this.value[units[i] as number] as number) !== -1) units[i] = free[next++] as number
    this.number(layer)
  }

  private sumOfPlaces(item: number, { first, list }: Neighbours): readonly [number, number] {
    const [from, to] = [first[item] as number, first[item + 1] as number]
    let sum = 0
    for (let k = from; k < to; k++) sum += this.place[list[k] as number] as number
    return [sum, to - from]
  }

  /** Moves every unit to the place in its layer where it has the fewest crossings. Returns by how much the number of crossings fell. */
  sift(effort: Effort): number {
    let gained = 0
    for (let layer = 0; layer < this.layers.length; layer++) {
      const units = this.layers[layer] as number[]
      const [above, below] = this.degrees(units)
      for (const head of [...units]) {
        const [up, down] = this.degrees([head])
        if (!effort.spend(Math.max(8 * units.length, Math.ceil((up * above + down * below) / PAIRS_IN_STEP)))) return gained
        gained += this.siftUnit(layer, units, head)
      }
    }
    return gained
  }

  /** How many pieces of edges lead to units from the layer above, and how many from the layer below. */
  private degrees(units: readonly number[]): readonly [number, number] {
    let [above, below] = [0, 0]
    for (const head of units)
      for (const item of this.unit[head] as number[]) {
        above += (this.upper.first[item + 1] as number) - (this.upper.first[item] as number)
        below += (this.lower.first[item + 1] as number) - (this.lower.first[item] as number)
      }
    return [above, below]
  }

  private siftUnit(layer: number, units: number[], head: number): number {
    const from = units.indexOf(head)
    let best = 0
    let target = from
    let change = 0
    for (let i = from - 1; i >= 0; i--) {
      change += this.difference(head, units[i] as number)
      if (change < best) [best, target] = [change, i]
    }
    change = 0
    for (let i = from + 1; i < units.length; i++) {
      change += this.difference(units[i] as number, head)
      if (change < best) [best, target] = [change, i]
    }
    if (target === from) return 0
    units.splice(from, 1)
    units.splice(target, 0, head)
    this.number(layer)
    return -best
  }

  /** The crossings of two units with `a` left of `b`, minus those with `a` right of `b`. */
  private difference(a: number, b: number): number {
    let sum = 0
    for (const p of this.unit[a] as number[])
      for (const q of this.unit[b] as number[]) sum += this.between(p, q, this.upper) + this.between(p, q, this.lower)
    return sum
  }

  private between(p: number, q: number, { first, list }: Neighbours): number {
    const [pFrom, pTo] = [first[p] as number, first[p + 1] as number]
    const [qFrom, qTo] = [first[q] as number, first[q + 1] as number]
    let sum = 0
    for (let i = pFrom; i < pTo; i++) {
      const place = this.place[list[i] as number] as number
      for (let k = qFrom; k < qTo; k++) {
        const other = this.place[list[k] as number] as number
        if (place > other) sum++
        else if (place < other) sum--
      }
    }
    return sum
  }

  /** Reverses every layer. */
  mirror(): void {
    this.layers.forEach((units, layer) => {
      units.reverse()
      this.number(layer)
    })
  }

  /** The number of pairs of nodes in one layer that stand in the opposite order of the input. */
  disorder(): number {
    let sum = 0
    for (const units of this.layers) {
      const nodes = units.filter((head) => this.levels.kind[head] === 'node')
      for (let i = 0; i < nodes.length; i++)
        for (let k = i + 1; k < nodes.length; k++) if ((nodes[i] as number) > (nodes[k] as number)) sum++
    }
    return sum
  }

  crossings(): number {
    let sum = 0
    for (let layer = 0; layer + 1 < this.layers.length; layer++) sum += this.crossingsBelow(layer)
    return sum
  }

  private crossingsBelow(layer: number): number {
    const size = (this.levels.layers[layer + 1] as number[]).length
    const tree = this.fenwick.fill(0, 0, size + 1)
    let sum = 0
    let seen = 0
    const { first, list } = this.lower
    for (const head of this.layers[layer] as number[])
      for (const item of this.unit[head] as number[]) {
        const [from, to] = [first[item] as number, first[item + 1] as number]
        for (let k = from; k < to; k++) {
          let before = 0
          for (let i = (this.place[list[k] as number] as number) + 1; i > 0; i -= i & -i) before += tree[i] as number
          sum += seen - before
        }
        for (let k = from; k < to; k++) {
          for (let i = (this.place[list[k] as number] as number) + 1; i <= size; i += i & -i) tree[i] = (tree[i] as number) + 1
          seen++
        }
      }
    return sum
  }
}

/** This many comparisons of pieces count as one step. */
const PAIRS_IN_STEP = 8

interface Neighbours {
  readonly first: Int32Array
  readonly list: Int32Array
}

function neighboursOf(count: number, pairs: readonly (readonly [number, number])[]): Neighbours {
  const first = new Int32Array(count + 1)
  for (const [item] of pairs) first[item + 1] = (first[item + 1] as number) + 1
  for (let i = 0; i < count; i++) first[i + 1] = (first[i + 1] as number) + (first[i] as number)
  const next = first.slice()
  const list = new Int32Array(pairs.length)
  for (const [item, neighbour] of pairs) {
    list[next[item] as number] = neighbour
    next[item] = (next[item] as number) + 1
  }
  return { first, list }
}
