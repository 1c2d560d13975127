import type { Fix } from '../edit.ts'
import { parseHtml } from './html.ts'
import type { ProseTree } from './node.ts'

/** A stored page as a tree. */
export interface StoredTree {
  readonly tree: ProseTree
  /** The adjustments that healing made; empty when the page is canonical. */
  readonly fixes: readonly Fix[]
}

/** Pages with less HTML than this many characters are not cached, because parsing them is fast. */
const minLength = 16_384
/** Limit on the total characters of kept pages; their trees take about ten times as much memory. */
const maxTotal = 2_097_152

const kept = new Map<string, StoredTree>()
let total = 0

/**
 * Reads the HTML of a stored page. A long page that was read or written recently is not parsed again: edits of a live page follow each
 * other, and parsing takes most of an edit's time. [CONC-13] The result is the same either way.
 */
export function storedTree(content: string): StoredTree {
  const known = kept.get(content)
  if (known === undefined) return keep(content, parseHtml(content, { source: 'stored' }))
  // Re-inserted at the end, because the least recently used entry is dropped first.
  kept.delete(content)
  kept.set(content, known)
  return known
}

/**
 * Caches the tree whose canonical HTML is `content`, in place of an equal tree. Edits then share nodes with the newest tree, and identical nodes need no
 * comparison. [CONC-13]
 */
export function keepTree(content: string, tree: ProseTree): void {
  const known = kept.get(content)
  if (known === undefined) keep(content, { tree, fixes: [] })
  else if (known.fixes.length === 0 && known.tree !== tree) kept.set(content, { tree, fixes: [] })
}

function keep(content: string, stored: StoredTree): StoredTree {
  if (content.length < minLength || content.length > maxTotal) return stored
  kept.set(content, stored)
  total += content.length
  for (const oldest of kept.keys()) {
    if (total <= maxTotal) break
    kept.delete(oldest)
    total -= oldest.length
  }
  return stored
}
