import { equalLists, equalNodes } from '@docrelay/model/prose/equal'
import type { ProseElement } from '@docrelay/model/prose/node'
import { alike, matchBlocks } from './prose-fragment-match.ts'

/** What to do with a live list of blocks. Indexes are those of the live list. */
export interface Plan {
  readonly removed: ReadonlySet<number>
  readonly changed: ReadonlyMap<number, { readonly before: ProseElement; readonly after: ProseElement }>
  /** New blocks by the live block that they follow, -1 for the start. */
  readonly inserted: ReadonlyMap<number, readonly ProseElement[]>
}

/** Decides how a live list takes over the change from `before` to `after`; `undefined` when there is none. */
export function planBlocks(
  before: readonly ProseElement[],
  after: readonly ProseElement[],
  live: readonly ProseElement[],
): Plan | undefined {
  if (equalLists(before, after)) return undefined
  const toLive = matchBlocks(before, live)
  const toAfter = matchBlocks(before, after)
  const removed = new Set<number>()
  const fromAfter = new Map<number, number>()
  toAfter.forEach((j, i) => {
    const l = toLive[i] as number
    if (j !== -1) fromAfter.set(j, i)
    else if (l !== -1 && mayRemove(before[i] as ProseElement, live[l] as ProseElement)) removed.add(l)
  })
  const changed = new Map<number, { before: ProseElement; after: ProseElement }>()
  const inserted = new Map<number, ProseElement[]>()
  let cursor = -1
  after.forEach((node, j) => {
    const i = fromAfter.get(j)
    if (i === undefined) {
      const list = inserted.get(cursor) ?? []
      list.push(node)
      inserted.set(cursor, list)
      return
    }
    const l = toLive[i] as number
    // Removed from the live page meanwhile: it stays gone.
    if (l === -1) return
    cursor = l
    const old = before[i] as ProseElement
    if (!equalNodes(old, node)) changed.set(l, { before: old, after: node })
  })
  return { removed, changed, inserted }
}

/** A live block that only stands where the removed one stood, and says something else, is someone's new block. */
function mayRemove(before: ProseElement, live: ProseElement): boolean {
  return before.attrs['id'] !== undefined ? before.attrs['id'] === live.attrs['id'] : alike(before, live) >= 0.3
}
