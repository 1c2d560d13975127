import { equalLists, equalNodes } from '@docrelay/model/prose/equal'
import type { ProseElement } from '@docrelay/model/prose/node'
import { alike, matchBlocks } from './prose-fragment-match.ts'

/** Changes of a live list of blocks. All indexes are indexes of the live list. */
export interface Plan {
  readonly removed: ReadonlySet<number>
  readonly changed: ReadonlyMap<number, { readonly before: ProseElement; readonly after: ProseElement }>
  /** New blocks by the index of the live block that they follow; -1 for the start. */
  readonly inserted: ReadonlyMap<number, readonly ProseElement[]>
}

/** Sets of block ids, which `matchBlocks` explains. */
export interface Hints {
  readonly moved: ReadonlySet<string>
  readonly repeated: ReadonlySet<string>
}

/** Plans how to apply the change from `before` to `after` to a live list. Returns `undefined` when nothing changed. */
export function planBlocks(
  before: readonly ProseElement[],
  after: readonly ProseElement[],
  live: readonly ProseElement[],
  { moved, repeated }: Hints,
): Plan | undefined {
  if (equalLists(before, after)) return undefined
  const toLive = matchBlocks(before, live, undefined, repeated)
  const toAfter = matchBlocks(before, after, moved, repeated)
  const removed = new Set<number>()
  const fromAfter = new Map<number, number>()
  toAfter.forEach((j, i) => {
    const l = toLive[i] as number
    if (j !== -1) fromAfter.set(j, i)
    else if (l !== -1 && mayRemove(before[i] as ProseElement, live[l] as ProseElement)) removed.add(l)
  })
  const changed = new Map<number, { before: ProseElement; after: ProseElement }>()
  const inserted = new Map<number, ProseElement[]>()
  const taken = new Set(toLive)
  let cursor = -1
  for (let j = 0; j < after.length; ) {
    const i = fromAfter.get(j)
    if (i === undefined) {
      const start = j
      while (j < after.length && !fromAfter.has(j)) j++
      cursor = insertRun(after.slice(start, j), live, cursor, taken, { changed, inserted })
      continue
    }
    const node = after[j++] as ProseElement
    const l = toLive[i] as number
    // A person removed the block from the live page meanwhile, so it stays removed.
    if (l === -1) continue
    cursor = l
    const old = before[i] as ProseElement
    if (!equalNodes(old, node)) changed.set(l, { before: old, after: node })
  }
  return { removed, changed, inserted }
}

interface Changes {
  readonly changed: Map<number, { before: ProseElement; after: ProseElement }>
  readonly inserted: Map<number, ProseElement[]>
}

/**
 * Plans new blocks after the live block at index `from`. A block that is already in the live page at the same place is only updated and not
 * added again. Such a block exists when an editor types live and also saves the whole document. Returns the index of the last live block used.
 */
function insertRun(
  run: readonly ProseElement[],
  live: readonly ProseElement[],
  from: number,
  taken: ReadonlySet<number>,
  to: Changes,
): number {
  let end = from + 1
  while (end < live.length && !taken.has(end)) end++
  const match = matchBlocks(run, live.slice(from + 1, end))
  let cursor = from
  run.forEach((node, i) => {
    const m = match[i] as number
    const l = from + 1 + m
    if (m !== -1 && isSameAddition(node, live[l] as ProseElement)) {
      cursor = l
      if (!equalNodes(node, live[l] as ProseElement)) to.changed.set(l, { before: { ...node, content: [] }, after: node })
      return
    }
    const list = to.inserted.get(cursor) ?? []
    list.push(node)
    to.inserted.set(cursor, list)
  })
  return cursor
}

function isSameAddition(node: ProseElement, live: ProseElement): boolean {
  return (node.attrs['id'] !== undefined && node.attrs['id'] === live.attrs['id']) || alike(node, live) >= 0.6
}

/** Whether a live block is still the block that the edit removes. A block with different content at the same place is new and stays. */
function mayRemove(before: ProseElement, live: ProseElement): boolean {
  return before.attrs['id'] !== undefined ? before.attrs['id'] === live.attrs['id'] : alike(before, live) >= 0.3
}
