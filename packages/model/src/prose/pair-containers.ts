import { idsOf } from './blocks.ts'
import { shortText, textLikeness } from './likeness.ts'
import type { NodeType, ProseElement } from './node.ts'
import { longestRising } from '../longest-rising.ts'
import type { Kept } from './same-blocks.ts'
import { nodeSpec } from './schema.ts'

/** Containers are paired by their text when that takes at most this many comparisons, else by ids or in order. */
const maxComparisons = 1_600

/**
 * Pairs containers of two lists of blocks that may be versions of one container, in the order of both lists: by the ids in the containers, and by how much of
 * their text is the same. The type may differ: a bullet list may have become a numbered list, and a cell a header cell.
 */
export function pairContainers(stored: readonly ProseElement[], written: readonly ProseElement[]): readonly Kept[] {
  const before = stored.flatMap(container)
  const after = written.flatMap(container)
  if (before.length === 0 || after.length === 0) return []
  const shared = sharedIds(before, after)
  if (before.length * after.length > maxComparisons)
    return shared.size > 0 ? byIds(shared, before, after) : inOrder(before, after)
  return heaviest(before, after, shared)
}

/** A container, and its index in its list. */
interface Container {
  readonly index: number
  readonly block: ProseElement
  readonly kind: string
  readonly text: string
}

function container(block: ProseElement, index: number): readonly Container[] {
  const { content } = nodeSpec(block.type)
  if (content === 'inline' || content === 'code' || content === 'none') return []
  return [{ index, block, kind: kinds[block.type] ?? block.type, text: shortText(block.content) }]
}

const kinds: { readonly [type in NodeType]?: string } = {
  bulletList: 'list',
  orderedList: 'list',
  taskList: 'list',
  listItem: 'item',
  taskItem: 'item',
  tableCell: 'cell',
  tableHeader: 'cell',
}

/** How many ids each written container shares with each stored container: by index in `after`, then by index in `before`. */
type Shared = ReadonlyMap<number, ReadonlyMap<number, number>>

function sharedIds(before: readonly Container[], after: readonly Container[]): Shared {
  const owners = new Map<string, number>()
  const shared = new Map<number, Map<number, number>>()
  for (const [j, { block }] of after.entries()) for (const id of idsOf([block])) owners.set(id, j)
  if (owners.size === 0) return shared
  for (const [i, { block, kind }] of before.entries())
    for (const id of idsOf([block])) {
      const j = owners.get(id)
      if (j === undefined || after[j]?.kind !== kind) continue
      const counts = shared.get(j) ?? new Map<number, number>()
      shared.set(j, counts.set(i, (counts.get(i) ?? 0) + 1))
    }
  return shared
}

function likeness(one: Container, other: Container, shared: number): number {
  if (one.kind !== other.kind) return 0
  return 0.1 + shared + (one.block.type === other.block.type ? 0.1 : 0) + 0.8 * textLikeness(one.text, other.text)
}

/** Returns the pairs with the largest sum of likeness. */
function heaviest(before: readonly Container[], after: readonly Container[], shared: Shared): readonly Kept[] {
  const width = after.length + 1
  const alike = new Float64Array(before.length * after.length)
  // best[i * width + j] is the largest sum of pairs from before[i…] and after[j…].
  const best = new Float64Array((before.length + 1) * width)
  const bestAt = (i: number, j: number) => best[i * width + j] as number
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) {
      const like = likeness(before[i] as Container, after[j] as Container, shared.get(j)?.get(i) ?? 0)
      alike[i * after.length + j] = like
      const paired = like > 0 ? like + bestAt(i + 1, j + 1) : 0
      best[i * width + j] = Math.max(paired, bestAt(i + 1, j), bestAt(i, j + 1))
    }
  const pairs: Kept[] = []
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    const like = alike[i * after.length + j] as number
    if (like > 0 && bestAt(i, j) === like + bestAt(i + 1, j + 1)) pairs.push(pairOf(before, i++, after, j++))
    else if (bestAt(i, j) === bestAt(i + 1, j)) i++
    else j++
  }
  return pairs
}

function byIds(shared: Shared, before: readonly Container[], after: readonly Container[]): readonly Kept[] {
  const pairs = [...shared]
    .sort(([j], [other]) => j - other)
    .map(([j, counts]) => {
      const [[i] = [0]] = [...counts].sort(([, count], [, other]) => other - count)
      return pairOf(before, i, after, j)
    })
  return longestRising(pairs, ({ stored }) => stored)
}

function inOrder(before: readonly Container[], after: readonly Container[]): readonly Kept[] {
  const pairs: Kept[] = []
  for (let i = 0; i < Math.min(before.length, after.length); i++)
    if (before[i]?.kind === after[i]?.kind) pairs.push(pairOf(before, i, after, i))
  return pairs
}

function pairOf(before: readonly Container[], i: number, after: readonly Container[], j: number): Kept {
  return { stored: (before[i] as Container).index, written: (after[j] as Container).index }
}
