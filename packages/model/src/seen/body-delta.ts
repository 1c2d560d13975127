import type { CanvasPage, DocumentBody, ProsePage } from '../body.ts'
import { isToldWhole } from '../prose/block-list.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { partId, partsOf, readShownBlock, type ShownBlock, shownBlock, shownHeadings } from './shown.ts'

/** The changes of one page by a write. Plain data. */
export interface PageDelta {
  readonly kind: 'prose' | 'canvas'
  readonly pageId: string
  /** New blocks, and changed blocks with their content after the write. */
  readonly written: readonly ShownBlock[]
  /** Removed blocks, and changed blocks with their content before the write. */
  readonly gone: readonly ShownBlock[]
  /** Ids of changed blocks of which an answer shows only the beginning. */
  readonly cut?: readonly string[]
  /** The headings that have sections, before and after the write; absent when both are equal. [AG-79] */
  readonly outlines?: { readonly before: readonly ShownBlock[]; readonly after: readonly ShownBlock[] }
  /** Ids of new and changed shapes; `goneShapes` has the ids of removed shapes. */
  readonly shapes: readonly string[]
  readonly goneShapes: readonly string[]
  readonly isNew?: true
  readonly isGone?: true
}

/** The changes of the pages of a document by a write. Unchanged pages are left out. */
export type BodyDelta = readonly PageDelta[]

/** Compares two bodies of a document. The time is proportional to the length of the pages that differ. [AG-20] */
export function bodyDelta(before: DocumentBody, after: DocumentBody): BodyDelta {
  return [
    ...pagesDelta(before.prose.pages, after.prose.pages, proseDelta),
    ...pagesDelta(before.canvas.pages, after.canvas.pages, canvasDelta),
  ]
}

type Sides<P> = { readonly before: P | undefined; readonly after: P | undefined }

function pagesDelta<P extends { readonly id: string }>(
  before: readonly P[],
  after: readonly P[],
  delta: (pageId: string, sides: Sides<P>) => PageDelta | null,
): BodyDelta {
  const [old, now] = [before, after].map((pages) => new Map(pages.map((page) => [page.id, page]))) as [
    Map<string, P>,
    Map<string, P>,
  ]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((pageId) => {
    const sides = { before: old.get(pageId), after: now.get(pageId) }
    return sides.before === sides.after ? [] : (delta(pageId, sides) ?? [])
  })
}

function fate<P>({ before, after }: Sides<P>): Pick<PageDelta, 'isNew' | 'isGone'> {
  return { ...(before === undefined && { isNew: true }), ...(after === undefined && { isGone: true }) }
}

function proseDelta(pageId: string, sides: Sides<ProsePage>): PageDelta | null {
  if (sides.before?.content === sides.after?.content) return null
  const [before, after] = [treeOf(sides.before), treeOf(sides.after)]
  const shared = new Set(before)
  const kept = new Set(after.filter((block) => shared.has(block)))
  const [old, now] = [before, after].map((tree) => new Parts(tree, kept)) as [Parts, Parts]
  const [gone, written] = [old.without(now), now.without(old)]
  const outlines = { before: shownHeadings(before), after: shownHeadings(after) }
  const isSame = outlines.before.join() === outlines.after.join()
  if (isSame && written.length + gone.length === 0 && sides.before !== undefined && sides.after !== undefined) return null
  const cut = now.cutOf(written, gone)
  const told = { written, gone, ...(cut.length > 0 && { cut }), ...(!isSame && { outlines }) }
  return { kind: 'prose', pageId, ...told, shapes: [], goneShapes: [], ...fate(sides) }
}

/**
 * Returns the ids of written blocks whose content the caller still does not know: others changed such a block after the caller was shown it, and the answer
 * to the write shows only the beginning of the block, or nothing when `isBrief`. `known` returns the block that the caller was last shown under an id.
 * [AG-19, AG-43]
 */
export function stillUnseen(
  { gone, cut = [], written }: PageDelta,
  known: (id: string) => ShownBlock | undefined,
  isBrief: boolean,
): ReadonlySet<string> {
  const hidden = isBrief ? written.map((block) => readShownBlock(block).id) : cut
  if (hidden.length === 0) return new Set()
  const before = new Map(gone.map((block) => [readShownBlock(block).id, block]))
  const isUnseen = (id: string) => before.has(id) && known(id) !== undefined && known(id) !== before.get(id)
  return new Set(hidden.filter((id) => id !== null && isUnseen(id)) as readonly string[])
}

function treeOf(page: ProsePage | undefined): ProseTree {
  return page === undefined ? [] : pageTree(page).tree
}

/** The parts of a page before or after a write, without the top-level blocks that are the same object on both sides. */
class Parts {
  private readonly parts: readonly ProseElement[]
  private readonly names = new Map<string, number>()

  constructor(tree: ProseTree, kept: ReadonlySet<ProseElement>) {
    this.parts = [...partsOf(tree.filter((block) => !kept.has(block)))]
    for (const part of this.parts) {
      const name = shownBlock(part)
      this.names.set(name, (this.names.get(name) ?? 0) + 1)
    }
  }

  /** Returns the ids of changed blocks, in both `written` and `gone`, that an answer cuts. */
  cutOf(written: readonly ShownBlock[], gone: readonly ShownBlock[]): readonly string[] {
    const before = new Set(gone.map((block) => readShownBlock(block).id))
    const changed = new Set(written.map((block) => readShownBlock(block).id).filter((id) => id !== null && before.has(id)))
    if (changed.size === 0) return []
    return this.parts.flatMap((part) => {
      const id = partId(part)
      return id !== null && changed.has(id) && !isToldWhole(part) ? id : []
    })
  }

  /** Returns the parts that `other` does not have. Parts without id are compared by their content. */
  without(other: Parts): readonly ShownBlock[] {
    const left = new Map(other.names)
    return this.parts.flatMap((part) => {
      const name = shownBlock(part)
      const count = left.get(name) ?? 0
      if (count === 0) return name
      // Two parts with the same id are one block; two parts without id and with equal content are two blocks.
      if (partId(part) === null) left.set(name, count - 1)
      return []
    })
  }
}

function canvasDelta(pageId: string, sides: Sides<CanvasPage>): PageDelta | null {
  const [before, after] = [shapesOf(sides.before), shapesOf(sides.after)]
  const shapes = [...after].flatMap(([id, value]) => {
    const old = before.get(id)
    return old === value || (old !== undefined && JSON.stringify(old) === JSON.stringify(value)) ? [] : id
  })
  const goneShapes = [...before.keys()].filter((id) => !after.has(id))
  if (shapes.length + goneShapes.length === 0 && sides.before !== undefined && sides.after !== undefined) return null
  return { kind: 'canvas', pageId, written: [], gone: [], shapes, goneShapes, ...fate(sides) }
}

function shapesOf(page: CanvasPage | undefined): ReadonlyMap<string, object> {
  return new Map(page?.shapes.map((shape) => [shape.id, shape.value]))
}
