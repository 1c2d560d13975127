import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import { PROSE_PAGES, proseRoot } from '../binding/binding-roots.ts'
import type { CharId } from './block-text.ts'
import type { RemovedBlock } from './removed-blocks.ts'
import { parentItem } from './removal.ts'

/** A place in a page where a block may stand: behind `after` in `parent`, or first when `after` is `null`. */
export interface Place {
  readonly parent: Y.XmlFragment
  readonly after: Y.XmlElement | Y.XmlText | null
}

/** Inserts a block at a place. */
export function insertAt({ parent, after }: Place, element: Y.XmlElement): void {
  if (after === null) parent.insert(0, [element])
  else parent.insertAfter(after, [element])
}

/**
 * Returns the place for a paragraph behind an item, even if the item is deleted. Goes outwards to the first container that can hold
 * paragraphs, because a list or a table cannot.
 */
export function placeBeside(item: Y.Item): Place | null {
  for (let at: Y.Item | null = item; at !== null; at = parentItem(at)) {
    const parent = at.parent as Y.XmlFragment
    if (parent._item?.deleted === true || !takesParagraphs(parent)) continue
    let left: Y.Item | null = at
    while (left?.deleted === true) left = left.left
    return { parent, after: left === null ? null : ((left.content as Y.ContentType).type as Y.XmlElement) }
  }
  return null
}

/** Returns the place for a block that replaces a removed block; `null` when there is no place. Follows at most `steps` blocks. */
export function placeOf(doc: Y.Doc, { beside, anchor, root, successor }: RemovedBlock, steps: number): Place | null {
  if (steps === 0) return null
  const element = successor && typeAt(doc, successor.element)
  if (element?._item) return placeBeside(element._item)
  if (beside !== null) return placeOf(doc, beside, steps - 1)
  const item = itemAt(doc, anchor)
  if (item !== null) return placeBeside(item)
  const fragment = doc.share.get(root)
  return fragment instanceof Y.XmlFragment
    ? { parent: fragment, after: (fragment.toArray().at(-1) as Y.XmlElement | undefined) ?? null }
    : null
}

/** Returns the id of the page to which a root belongs. */
export function pageOf(root: string): string {
  return root.slice(proseRoot('').length)
}

export function isPageGone(doc: Y.Doc, root: string): boolean {
  return !doc.getMap(PROSE_PAGES.map).has(pageOf(root))
}

function takesParagraphs(type: Y.XmlFragment): boolean {
  return type instanceof Y.XmlElement ? findNodeSpec(type.nodeName)?.content === 'blocks' : true
}

/**
 * Whether Yjs keeps an insertion beside an item. Yjs does so when the container of the item exists, even if the item itself is deleted: an
 * insertion at the head of a container names the first item as its neighbour, deleted or not. Only the direct container is checked, because
 * Yjs deletes everything inside a deleted container.
 */
export function keepsWhatIsBeside(doc: Y.Doc, id: CharId): boolean {
  const item = itemAt(doc, id)
  return item !== null && parentItem(item)?.deleted !== true
}

/** Returns an item; `null` when this copy of the document does not know it or has discarded it. */
export function itemAt(doc: Y.Doc, { client, clock }: CharId): Y.Item | null {
  if (Y.getState(doc.store, client) <= clock) return null
  const struct: unknown = Y.getItem(doc.store, Y.createID(client, clock))
  return struct instanceof Y.Item ? struct : null
}

export function typeAt(doc: Y.Doc, id: CharId): Y.AbstractType<unknown> | null {
  const item = itemAt(doc, id)
  return item !== null && !item.deleted && item.content instanceof Y.ContentType ? item.content.type : null
}
