import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import type { Levels } from './levels.ts'
import { Order } from './order.ts'

/** A starting order is given up after PATIENCE rounds of sweeps without a better order. The search ends after SHAKES shakes without a better order. */
const PATIENCE = 4
const SHAKES = 120

/**
 * Orders the items of each layer with few crossings. First it sweeps from several starting orders. Then it shakes the best order and sweeps again, until
 * nothing gets better or the effort is used up. [DIAG-4, DIAG-7]
 */
export function untangle(levels: Levels, effort: Effort): number[][] {
  const order = new Order(levels)
  let best = order.snapshot()
  let fewest = Infinity
  let straightest = Infinity
  /** Keeps `order` when it has fewer crossings than `best`, or as many and is nearer to the input: a small change of the input then changes little. */
  const keep = (): boolean => {
    const crossings = order.crossings()
    if (crossings > fewest) return false
    const disorder = nearestToInput(order, crossings)
    if (crossings === fewest && disorder >= straightest) return false
    const isBetter = crossings < fewest
    ;[best, fewest, straightest] = [order.snapshot(), crossings, disorder]
    return isBetter
  }
  for (const rating of startingOrders(levels)) {
    order.arrange(rating)
    settle(order, effort)
    keep()
    if (fewest === 0 || !effort.spend(0)) break
  }
  const random = numbers(levels.kind.length)
  for (let idle = 0; idle < SHAKES && fewest > 0 && effort.spend(order.cost); idle++) {
    order.restore(best)
    shake(order, random)
    settle(order, effort)
    if (keep()) idle = 0
  }
  order.restore(best)
  return order.items()
}

/** Mirrors the order when it is nearer to the input then, and has no more crossings. Returns its distance from the input. */
function nearestToInput(order: Order, crossings: number): number {
  const disorder = order.disorder()
  const before = order.snapshot()
  order.mirror()
  const mirrored = order.disorder()
  if (mirrored < disorder && order.crossings() <= crossings) return mirrored
  order.restore(before)
  return disorder
}

/** Sweeps and sifts until nothing gets better. Afterwards `order` is the best one found. */
function settle(order: Order, effort: Effort): void {
  let best = order.snapshot()
  let fewest = order.crossings()
  for (let round = 0, idle = 0; idle < PATIENCE && fewest > 0; round++) {
    const goOn = effort.spend(2 * order.cost)
    order.sweep(round % 2 === 0, round % 4 > 1)
    const crossings = order.crossings()
    if (crossings < fewest) {
      ;[best, fewest, idle] = [order.snapshot(), crossings, 0]
    } else idle++
    if (!goOn) break
  }
  order.restore(best)
  while (fewest > 0 && order.sift(effort) > 0);
}

/** Three ratings of the items: the order of a search downwards, the order of a search upwards, and the order of the input. */
function startingOrders(levels: Levels): readonly Int32Array[] {
  const count = levels.kind.length
  const below: number[][] = Array.from({ length: count }, () => [])
  const above: number[][] = Array.from({ length: count }, () => [])
  for (const { upper, lower } of levels.pieces) {
    at(below, upper).push(lower)
    at(above, lower).push(upper)
  }
  return [searched(levels, below, above), searched(levels, above, below), Int32Array.from({ length: count }, (_, i) => i)]
}

function searched(levels: Levels, first: readonly number[][], second: readonly number[][]): Int32Array {
  const count = levels.kind.length
  const rating = new Int32Array(count).fill(-1)
  let next = 0
  const roots = Array.from({ length: count }, (_, i) => i).sort((a, b) => at(second, a).length - at(second, b).length || a - b)
  for (const root of roots) {
    const stack = [root]
    while (stack.length > 0) {
      const item = stack.pop() as number
      if (rating[item] !== -1) continue
      rating[item] = next++
      const node = levels.kind[item] === 'side' ? [at(levels.nodeOf, item)] : []
      stack.push(...[...at(second, item), ...at(first, item).toReversed(), ...node].filter((other) => rating[other] === -1))
    }
  }
  return rating
}

/** Moves some units of a few layers to other places. */
function shake(order: Order, random: (below: number) => number): void {
  const rating = new Float64Array(order.layers.reduce((most, units) => Math.max(most, ...units), 0) + 1)
  const middle = random(order.layers.length)
  const reach = random(3)
  order.layers.forEach((units, layer) => {
    const shaken = Math.abs(layer - middle) <= reach
    const width = Math.max(2, Math.floor(units.length / 3))
    units.forEach((head, i) => {
      rating[head] = i + (shaken ? random(2 * width + 1) - width : 0)
    })
  })
  order.arrange(rating)
}

/** Pseudo-random integers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = (seed + 1) >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
