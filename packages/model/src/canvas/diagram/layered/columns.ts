import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import { addArc, type Arcs, leastSum, lowestPlaces, noArcs } from '../network-simplex.ts'
import type { Levels, Piece } from './levels.ts'
import { LANE, NODE_GAP, STUB } from './part.ts'

/**
 * Finds the x of every item. Keeps the order of the layers and the gaps. Long edges run straight through the layers that they pass. The sum of the sideways
 * distances of all pieces is small, so that many pieces are straight too. [DIAG-6, DIAG-15]
 */
export function columnsOf(levels: Levels, order: readonly (readonly number[])[], effort: Effort): Int32Array {
  const isInner = ({ upper, lower }: Piece) => levels.kind[upper] !== 'node' && levels.kind[lower] !== 'node'
  const first = aligned(levels, order, (piece) => (isInner(piece) ? -piece.edges.length : null))
  const xs = placed(levels, order, first, null, effort.share(0.6))
  for (const small of SMALL_JOGS) {
    const straighter = aligned(levels, order, (piece) => {
      if (isInner(piece)) return -piece.edges.length
      const jog = Math.abs(at(xs, piece.upper) - at(xs, piece.lower))
      return jog <= small ? jog : null
    })
    const found = placed(levels, order, straighter, xs, effort.share(0.6))
    if (widthOf(found) <= WIDER * widthOf(xs) || small === SMALL_JOGS.at(-1)) return found
  }
  return xs
}

/**
 * Pieces with a sideways distance of at most this become straight where that is possible, which leaves fewer corners. 100 is taken when the drawing gets at
 * most 8% wider, otherwise 40.
 */
const SMALL_JOGS = [100, 40]
const WIDER = 1.08

function widthOf(xs: Int32Array): number {
  let [low, high] = [0, 0]
  for (const x of xs) [low, high] = [Math.min(low, x), Math.max(high, x)]
  return high - low
}

/** Finds the x of every item, the same x for all items of a column. The search begins at the x of `wish`. */
function placed(
  levels: Levels,
  order: readonly (readonly number[])[],
  column: Int32Array,
  wish: Int32Array | null,
  effort: Effort,
): Int32Array {
  const names = new Map<number, number>()
  order.forEach((items) => {
    for (const item of items) if (!names.has(at(column, item))) names.set(at(column, item), names.size)
  })
  const nameOf = (item: number) => names.get(at(column, item)) as number
  const arcs = noArcs()
  const gaps = new Map<number, number>()
  const separate = (a: number, b: number, gap: number, weight = 0) => {
    const key = nameOf(a) * names.size + nameOf(b)
    const known = gaps.get(key)
    if (known === undefined) {
      gaps.set(key, arcs.tail.length)
      addArc(arcs, nameOf(a), nameOf(b), gap, weight)
      return
    }
    arcs.gap[known] = Math.max(at(arcs.gap, known), gap)
    arcs.weight[known] = at(arcs.weight, known) + weight
  }
  for (const items of order) {
    let lastNode = -1
    items.forEach((item, k) => {
      const before = items[k - 1]
      if (before !== undefined) separate(before, item, gapBetween(levels, before, item))
      if (levels.kind[item] === 'side')
        separate(at(levels.nodeOf, item), item, gapBetween(levels, at(levels.nodeOf, item), item), 1)
      if (levels.kind[item] !== 'node') return
      if (lastNode !== -1 && lastNode !== before) separate(lastNode, item, gapBetween(levels, lastNode, item))
      lastNode = item
    })
  }
  let count = names.size
  for (const piece of levels.pieces) {
    const [upper, lower] = [nameOf(piece.upper), nameOf(piece.lower)]
    if (upper === lower) continue
    const weight = weightOf(levels, piece)
    addArc(arcs, count, upper, 0, weight)
    addArc(arcs, count, lower, 0, weight)
    count++
  }
  const separations: Arcs = {
    tail: arcs.tail.slice(0, gaps.size),
    head: arcs.head.slice(0, gaps.size),
    gap: arcs.gap.slice(0, gaps.size),
    weight: [],
  }
  const wished = new Int32Array(names.size)
  if (wish !== null) for (const [item, name] of names) wished[name] = at(wish, item)
  const start = lowestPlaces(names.size, separations, wished)
  settle(start, separations, arcs, gaps.size)
  const places = new Int32Array(count)
  places.set(start)
  for (let arc = gaps.size; arc < arcs.tail.length; arc += 2)
    places[at(arcs.tail, arc)] = Math.min(at(places, at(arcs.head, arc)), at(places, at(arcs.head, arc + 1)))
  const found = leastSum(count, arcs, places, effort)
  return Int32Array.from(levels.kind, (_, item) => (names.has(at(column, item)) ? at(found, nameOf(item)) : 0))
}

const ROUNDS = 6

/** Moves each place to the median of the places that it is tied to, as far as the gaps allow, so that `leastSum` has less to do. */
function settle(places: Int32Array, separations: Arcs, arcs: Arcs, firstTie: number): void {
  const count = places.length
  const lists = (): number[][] => Array.from({ length: count }, () => [])
  const [before, after, ties] = [lists(), lists(), lists()]
  separations.tail.forEach((tail, arc) => {
    at(after, tail).push(arc)
    at(before, at(separations.head, arc)).push(arc)
  })
  for (let arc = firstTie; arc < arcs.head.length; arc += 2) {
    const [a, b] = [at(arcs.head, arc), at(arcs.head, arc + 1)]
    at(ties, a).push(b)
    at(ties, b).push(a)
  }
  for (let round = 0; round < ROUNDS; round++)
    for (let k = 0; k < count; k++) {
      const v = round % 2 === 0 ? count - 1 - k : k
      const wanted = at(ties, v)
        .map((other) => at(places, other))
        .sort((a, b) => a - b)
      const middle = wanted[Math.floor(wanted.length / 2)]
      if (middle === undefined) continue
      let [low, high] = [-Infinity, Infinity]
      for (const arc of at(before, v)) low = Math.max(low, at(places, at(separations.tail, arc)) + at(separations.gap, arc))
      for (const arc of at(after, v)) high = Math.min(high, at(places, at(separations.head, arc)) - at(separations.gap, arc))
      places[v] = Math.max(low, Math.min(high, middle))
    }
}

function weightOf(levels: Levels, piece: Piece): number {
  const isLong = levels.kind[piece.upper] !== 'node' || levels.kind[piece.lower] !== 'node'
  return (isLong ? 2 : 1) * piece.edges.length
}

/** The least distance between the middles of an item and of the next item on its right. */
function gapBetween({ kind, part, labelHalf }: Levels, a: number, b: number): number {
  const [aIsNode, bIsNode] = [kind[a] === 'node', kind[b] === 'node']
  const labels = (aIsNode ? 0 : at(labelHalf, a)) + (bIsNode ? 0 : at(labelHalf, b))
  const room = labels === 0 ? 0 : labels + BESIDE_LABEL
  const right = aIsNode ? at(part.boxes, a).right : 0
  const left = bIsNode ? at(part.boxes, b).left : 0
  return right + left + Math.max(room, aIsNode && bIsNode ? NODE_GAP : aIsNode || bIsNode ? STUB : LANE)
}

/** The distance between a label and what stands beside it. */
const BESIDE_LABEL = 6

/**
 * Makes columns of items. Returns for each item the uppermost item of its column. Pieces that `rate` gives a rating become straight, in each channel the
 * lowest rating first, unless a piece crosses or touches one that is straight already.
 */
function aligned(levels: Levels, order: readonly (readonly number[])[], rate: (piece: Piece) => number | null): Int32Array {
  const place = new Int32Array(levels.kind.length)
  for (const items of order) items.forEach((item, i) => (place[item] = i))
  const wanted: { readonly piece: Piece; readonly rating: number }[][] = order.map(() => [])
  for (const piece of levels.pieces) {
    const rating = rate(piece)
    if (rating !== null) at(wanted, at(levels.layerOf, piece.upper)).push({ piece, rating })
  }
  const column = Int32Array.from(levels.kind, (_, item) => item)
  for (const pieces of wanted) {
    const taken: Piece[] = []
    for (const { piece } of pieces.sort((a, b) => a.rating - b.rating)) {
      const meets = taken.some((other) => {
        const above = at(place, piece.upper) - at(place, other.upper)
        const below = at(place, piece.lower) - at(place, other.lower)
        return above === 0 || below === 0 || above > 0 !== below > 0
      })
      if (meets) continue
      taken.push(piece)
      column[piece.lower] = at(column, piece.upper)
    }
  }
  return column
}
