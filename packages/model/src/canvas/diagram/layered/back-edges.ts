import { at } from '../at.ts'
import type { PartEdge } from './part.ts'

/** The order of a search is replaced only by an order that turns less than 1/TELLING as many edges: the first nodes should begin the diagram. */
const TELLING = 2

/**
 * Decides which edges lead back, so that the other edges have no cycle. Back edges are those that close a cycle in a search from the first nodes on, unless
 * another order of the nodes turns fewer than half as many edges. [DIAG-7]
 */
export function backEdges(count: number, edges: readonly PartEdge[]): readonly boolean[] {
  const orders = [searchOrder(count, edges), inputOrder(count), greedyOrder(count, edges)]
  let best: boolean[] = []
  let fewest = Infinity
  for (const place of orders) {
    const back = freed(
      count,
      edges,
      edges.map(({ from, to }) => at(place, from) > at(place, to)),
    )
    const turned = back.filter((turn) => turn).length
    if (best.length === 0 || TELLING * turned < fewest) [best, fewest] = [back, turned]
  }
  return best
}

function inputOrder(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => i)
}

/** Orders the nodes by a depth-first search. Only an edge that closes a cycle in the search leads back to an earlier node. */
function searchOrder(count: number, edges: readonly PartEdge[]): Int32Array {
  const next: number[][] = Array.from({ length: count }, () => [])
  const entered = new Uint8Array(count)
  for (const { from, to } of edges) {
    at(next, from).push(to)
    entered[to] = 1
  }
  const place = new Int32Array(count)
  const state = new Uint8Array(count)
  const step = new Int32Array(count)
  let last = count
  const roots = [...inputOrder(count)].sort((a, b) => at(entered, a) - at(entered, b) || a - b)
  for (const root of roots) {
    if (state[root] !== 0) continue
    const path = [root]
    state[root] = 1
    while (path.length > 0) {
      const v = at(path, path.length - 1)
      const k = at(step, v)
      step[v] = k + 1
      const to = at(next, v)[k]
      if (to === undefined) {
        place[v] = --last
        path.pop()
      } else if (state[to] === 0) {
        state[to] = 1
        path.push(to)
      }
    }
  }
  return place
}

/**
 * Orders nodes greedily so that few edges lead back: a node without outgoing edges is put last, a node without incoming edges first, and when there
 * is neither, the node with the most outgoing minus incoming edges first. Edges of placed nodes no longer count.
 */
function greedyOrder(count: number, edges: readonly PartEdge[]): Int32Array {
  const place = new Int32Array(count).fill(-1)
  const [outs, ins] = [new Int32Array(count), new Int32Array(count)]
  const touching: PartEdge[][] = Array.from({ length: count }, () => [])
  for (const edge of edges) {
    outs[edge.from] = at(outs, edge.from) + 1
    ins[edge.to] = at(ins, edge.to) + 1
    at(touching, edge.from).push(edge)
    at(touching, edge.to).push(edge)
  }
  let [first, last] = [0, count - 1]
  const take = (v: number, where: number) => {
    place[v] = where
    for (const { from, to } of at(touching, v)) {
      if (place[to] === -1) ins[to] = at(ins, to) - 1
      if (place[from] === -1) outs[from] = at(outs, from) - 1
    }
  }
  while (first <= last) {
    let best = -1
    let sink = -1
    for (let v = 0; v < count; v++) {
      if (place[v] !== -1) continue
      if (outs[v] === 0) sink = v
      const rating = at(ins, v) === 0 ? Infinity : at(outs, v) - at(ins, v)
      const leading = best === -1 ? -Infinity : at(ins, best) === 0 ? Infinity : at(outs, best) - at(ins, best)
      if (best === -1 || rating > leading) best = v
    }
    if (sink !== -1 && at(ins, best) !== 0) take(sink, last--)
    else take(best, first++)
  }
  return place
}

/** Turns edges forward again, in input order, where that makes no cycle. */
function freed(count: number, edges: readonly PartEdge[], back: readonly boolean[]): boolean[] {
  const result = [...back]
  const next: number[][] = Array.from({ length: count }, () => [])
  edges.forEach(({ from, to }, i) => (result[i] === true ? at(next, to).push(from) : at(next, from).push(to)))
  edges.forEach(({ from, to }, i) => {
    if (result[i] !== true) return
    const out = at(next, to)
    out.splice(out.indexOf(from), 1)
    if (reaches(count, next, to, from)) out.push(from)
    else {
      result[i] = false
      at(next, from).push(to)
    }
  })
  return result
}

function reaches(count: number, next: readonly (readonly number[])[], from: number, to: number): boolean {
  const seen = new Uint8Array(count)
  const stack = [from]
  while (stack.length > 0) {
    const v = stack.pop() as number
    if (v === to) return true
    if (seen[v] === 1) continue
    seen[v] = 1
    stack.push(...at(next, v))
  }
  return false
}
