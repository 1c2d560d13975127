import type { Bounds } from '../geometry/bounds.ts'
import { at } from './at.ts'

const GAP = 80
const ASPECT = 1.6

/** Returns for each node the number of its connected part. Parts are numbered in the order of their first nodes. [DIAG-9] */
export function partsOf(count: number, edges: readonly { readonly from: number; readonly to: number }[]): Int32Array {
  const leader = Int32Array.from({ length: count }, (_, i) => i)
  const find = (node: number): number => {
    let root = node
    while (at(leader, root) !== root) root = at(leader, root)
    for (let v = node; v !== root; ) {
      const next = at(leader, v)
      leader[v] = root
      v = next
    }
    return root
  }
  for (const { from, to } of edges) {
    const [a, b] = [find(from), find(to)]
    // The lower number is the root, so that the root of a part is its first node.
    leader[Math.max(a, b)] = Math.min(a, b)
  }
  const numbers = new Map<number, number>()
  return Int32Array.from({ length: count }, (_, node) => {
    const root = find(node)
    const number = numbers.get(root) ?? numbers.size
    numbers.set(root, number)
    return number
  })
}

/** Packs parts into rows, in their order, with an overall aspect ratio near 1.6. Returns how far each part moves. [DIAG-9] */
export function packed(parts: readonly Bounds[]): readonly { readonly dx: number; readonly dy: number }[] {
  const width = (part: Bounds) => part.right - part.left
  const widest = Math.max(...parts.map(width))
  let total = -GAP
  let best = widest
  let least = Infinity
  for (const part of parts) {
    total += width(part) + GAP
    if (total < widest) continue
    const { across, down } = rows(parts, total)
    const error = Math.abs(Math.log(across / down / ASPECT))
    if (error < least) [best, least] = [total, error]
  }
  return rows(parts, best).moves
}

function rows(parts: readonly Bounds[], most: number): { across: number; down: number; moves: { dx: number; dy: number }[] } {
  let [x, y, rowHeight, across] = [0, 0, 0, 0]
  const moves = parts.map(({ left, top, right, bottom }) => {
    if (x > 0 && x + right - left > most) {
      y += rowHeight + GAP
      ;[x, rowHeight] = [0, 0]
    }
    const move = { dx: x - left, dy: y - top }
    across = Math.max(across, x + right - left)
    x += right - left + GAP
    rowHeight = Math.max(rowHeight, bottom - top)
    return move
  })
  return { across, down: y + rowHeight, moves }
}
