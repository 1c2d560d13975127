import type { Fix } from '../edit.ts'
import { parseHtml } from './html.ts'
import type { ProseTree } from './node.ts'

/** A stored page as it reads. */
export interface StoredTree {
  readonly tree: ProseTree
  /** What was healed in it; empty when it is canonical. */
  readonly fixes: readonly Fix[]
}

/** Shorter pages are read faster than they are looked up and kept. */
const minLength = 16_384
/** Characters of all pages kept; their trees take some ten times as much memory. */
const maxTotal = 2_097_152

const kept = new Map<string, StoredTree>()
let total = 0

/**
 * Reads the HTML of a stored page. A long one that was read or written lately is not parsed again: edits of a live page follow each other,
 * and parsing is most of what one takes. [CONC-13] The answer is the same either way.
 */
export function storedTree(content: string): StoredTree {
  const known = kept.get(content)
  if (known === undefined) return keep(content, parseHtml(content, { source: 'stored' }))
  // The one used last stays longest.
  kept.delete(content)
  kept.set(content, known)
  return known
}

/**
 * Keeps the tree that `content` is the canonical HTML of, in place of an equal one: edits share the nodes of the newest, and what is the same
 * node need not be compared. [CONC-13]
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
