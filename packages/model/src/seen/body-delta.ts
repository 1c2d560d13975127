import type { CanvasPage, DocumentBody, ProsePage } from '../body.ts'
import { isToldWhole } from '../prose/block-list.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { partId, partsOf, readShownBlock, type ShownBlock, shownBlock, shownHeadings } from './shown.ts'

/** What a write changed of one page. Plain data. */
export interface PageDelta {
  readonly kind: 'prose' | 'canvas'
  readonly pageId: string
  /** Blocks as they are now, where they were not so before. */
  readonly written: readonly ShownBlock[]
  /** Blocks that are no more as they were, by what they were. */
  readonly gone: readonly ShownBlock[]
  /** Ids of written blocks that were there before and of which an answer shows only the beginning. */
  readonly cut?: readonly string[]
  /** The headings with sections, where they are not the same in both. [AG-79] */
  readonly outlines?: { readonly before: readonly ShownBlock[]; readonly after: readonly ShownBlock[] }
  /** Ids of the shapes that are new or other than before, and of those that are no more. */
  readonly shapes: readonly string[]
  readonly goneShapes: readonly string[]
  readonly isNew?: true
  readonly isGone?: true
}

/** What a write changed of the pages of a document; pages that say the same are left out. */
export type BodyDelta = readonly PageDelta[]

/** Compares two bodies of a document. Costs as much as the pages that differ are long. [AG-20] */
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
 * Ids of blocks of which a caller does not know what they say, though it wrote to them: others had changed them since it was shown them, and the
 * answer to its write shows only the beginning, or, when it is brief, nothing. `known`: what the caller was last shown under an id. [AG-19, AG-43]
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

/** The parts of a page outside the blocks that both sides share. */
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

  /** Ids of written blocks that were there before, as `gone` says, and that an answer cuts. */
  cutOf(written: readonly ShownBlock[], gone: readonly ShownBlock[]): readonly string[] {
    const before = new Set(gone.map((block) => readShownBlock(block).id))
    const changed = new Set(written.map((block) => readShownBlock(block).id).filter((id) => id !== null && before.has(id)))
    if (changed.size === 0) return []
    return this.parts.flatMap((part) => {
      const id = partId(part)
      return id !== null && changed.has(id) && !isToldWhole(part) ? id : []
    })
  }

  /** What is here and not there. Blocks without ids are told apart by what they say. */
  without(other: Parts): readonly ShownBlock[] {
    const left = new Map(other.names)
    return this.parts.flatMap((part) => {
      const name = shownBlock(part)
      const count = left.get(name) ?? 0
      if (count === 0) return name
      // The same id twice means the same block; the same words twice mean two.
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
