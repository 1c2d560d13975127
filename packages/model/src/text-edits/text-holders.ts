import type { CanvasPage, DocumentBody, ProsePage } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { findCanvasPage } from '../canvas/find-page.ts'
import { shapeNotFound } from '../canvas/read-back.ts'
import { labelOf } from '../canvas/stored-shape.ts'
import type { ProseElement, ProseNode, ProseTree } from '../prose/node.ts'
import { findProsePage, pageTree, type PageTree } from '../prose/page.ts'
import { noSection } from '../prose/sections.ts'
import type { Naming } from '../prose/block-names.ts'
import { plainShapeId } from '../canvas/named-shapes.ts'
import { shapeValues } from '../canvas/page-geometry.ts'
import { headingPlaces } from '../prose/outline.ts'
import { otherHeading } from '../prose/section-places.ts'
import { findTarget, type TargetPage } from '../prose/targets.ts'
import { isTextBlock, type TextSplice, visibleText } from '../prose/text-splices.ts'
import { startsWith, type Path } from '../prose/tree-path.ts'
import { quote } from '../quote.ts'
import { PageSight } from '../seen/page-sight.ts'
import type { Seen } from '../seen/seen.ts'
import { type FoldedText, foldText } from './find-text.ts'

export type TextScope = 'prose' | 'canvas' | 'all'

/** A text block during a call. */
export interface BlockHolder {
  readonly kind: 'block'
  readonly page: OpenProsePage
  readonly path: Path
  /** The block as it was before the call. */
  readonly stored: ProseElement
  block: ProseElement
  text: string
  readonly steps: (readonly TextSplice[])[]
}

/** A shape with text during a call. */
export interface ShapeHolder {
  readonly kind: 'shape'
  readonly page: CanvasPage
  readonly id: string
  readonly stored: JsonObject
  value: JsonObject
  text: string
}

/** A text block or shape whose text is searched. No match goes beyond one holder. */
export type TextHolder = BlockHolder | ShapeHolder

export interface OpenProsePage {
  readonly page: ProsePage
  readonly stored: PageTree
  /** The text blocks of the page, in document order. */
  readonly holders: readonly BlockHolder[]
}

/** The texts of one document during a call. A page is parsed when it is first needed. */
export class OpenTexts {
  readonly body: DocumentBody
  readonly naming: Naming
  readonly #prose = new Map<string, OpenProsePage>()
  readonly #canvas = new Map<string, readonly ShapeHolder[]>()
  readonly #folded = new WeakMap<TextHolder, { readonly of: string; readonly folded: FoldedText }>()

  constructor(body: DocumentBody, naming: Naming) {
    this.body = body
    this.naming = naming
  }

  prose(page: ProsePage): OpenProsePage {
    let open = this.#prose.get(page.id)
    if (open === undefined) this.#prose.set(page.id, (open = openProsePage(page)))
    return open
  }

  canvas(page: CanvasPage): readonly ShapeHolder[] {
    let holders = this.#canvas.get(page.id)
    if (holders === undefined) this.#canvas.set(page.id, (holders = shapeHolders(page)))
    return holders
  }

  folded(holder: TextHolder): FoldedText {
    let known = this.#folded.get(holder)
    if (known?.of !== holder.text) this.#folded.set(holder, (known = { of: holder.text, folded: foldText(holder.text) }))
    return known.folded
  }

  /** Returns all texts in a scope: pages in their order, prose before canvas. */
  all(scope: TextScope): readonly TextHolder[] {
    const { prose, canvas } = this.body
    return [
      ...(scope === 'canvas' ? [] : prose.pages.flatMap((page) => this.prose(page).holders)),
      ...(scope === 'prose' ? [] : canvas.pages.flatMap((page) => this.canvas(page))),
    ]
  }

  openedProse(): Iterable<OpenProsePage> {
    return this.#prose.values()
  }

  openedCanvas(): Iterable<readonly ShapeHolder[]> {
    return this.#canvas.values()
  }
}

function openProsePage(page: ProsePage): OpenProsePage {
  const holders: BlockHolder[] = []
  const stored = pageTree(page)
  const open: OpenProsePage = { page, stored, holders }
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      if (!isTextBlock(node)) return walk(node.content, path)
      holders.push({ kind: 'block', page: open, path, stored: node, block: node, text: visibleText(node), steps: [] })
    })
  walk(stored.tree, [])
  return open
}

function shapeHolders(page: CanvasPage): readonly ShapeHolder[] {
  return page.shapes.flatMap(({ id, value }): readonly ShapeHolder[] => {
    const text = labelOf(value)
    return text === undefined || text === '' ? [] : [{ kind: 'shape', page, id, stored: value, value, text }]
  })
}

/** The limits of the search of one edit. */
export interface TextReach {
  readonly scope: TextScope
  readonly pageId?: string | undefined
  readonly id?: string | undefined
  readonly sectionIndex?: number | undefined
  readonly isVersionNamed: boolean
  /** What the caller saw before the call; absent when unknown. */
  readonly seen?: Seen | undefined
}

/** Returns the texts that an edit searches, in document order. Ids and sections are those before the call. [AG-44] */
export function textsInReach(texts: OpenTexts, reach: TextReach): readonly TextHolder[] | Refusal {
  const { scope, id, pageId, sectionIndex } = reach
  if (id !== undefined) return textsUnder(texts, reach, id)
  if (pageId === undefined) return texts.all(scope)
  const pages = pagesOf(texts.body, scope, pageId)
  if (isRefusal(pages)) return pages
  const { prose, canvas } = pages
  if (sectionIndex === undefined)
    return [...(prose === null ? [] : texts.prose(prose).holders), ...(canvas === null ? [] : texts.canvas(canvas))]
  if (prose === null) return findProsePage(texts.body, pageId) as Refusal
  return sectionTexts(texts.prose(prose), sectionIndex, (tree) => targetPage(texts, reach, prose, tree))
}

function targetPage(
  { body, naming }: OpenTexts,
  { isVersionNamed, seen }: TextReach,
  { id: pageId }: ProsePage,
  tree: ProseTree,
): TargetPage {
  return { body, pageId, tree, isVersionNamed, naming, sight: seen && new PageSight(seen, pageId) }
}

/** Returns the pages with an id in a scope. A prose page and a canvas page may have the same id. */
function pagesOf(
  body: DocumentBody,
  scope: TextScope,
  pageId: string,
): { readonly prose: ProsePage | null; readonly canvas: CanvasPage | null } | Refusal {
  const prose = scope === 'canvas' ? null : findProsePage(body, pageId)
  const canvas = scope === 'prose' ? null : findCanvasPage(body, pageId)
  const none = [prose, canvas].find((page) => page !== null && isRefusal(page)) as Refusal | undefined
  const found = {
    prose: prose === null || isRefusal(prose) ? null : prose,
    canvas: canvas === null || isRefusal(canvas) ? null : canvas,
  }
  return found.prose === null && found.canvas === null && none !== undefined ? none : found
}

/** Returns the text blocks from one heading to the next heading; for the index -1, those before the first heading. [PROSE-61] */
function sectionTexts(
  { stored, holders }: OpenProsePage,
  index: number,
  targets: (tree: ProseTree) => TargetPage,
): readonly BlockHolder[] | Refusal {
  const starts = headingPlaces(stored.tree)
  if (index >= starts.length) return noSection(index, starts.length)
  const other = index < 0 ? null : otherHeading(targets(stored.tree), starts[index] as number, index)
  if (other !== null) return other
  const [from, until] = [starts[index] ?? 0, starts[index + 1] ?? stored.tree.length]
  return holders.filter(({ path: [top = 0] }) => top >= from && top < until)
}

/** Returns the texts of a block and of all blocks in it, or the text of a shape. */
function textsUnder(texts: OpenTexts, reach: TextReach, id: string): readonly TextHolder[] | Refusal {
  const { body } = texts
  const { scope, pageId } = reach
  const pages = pageId === undefined ? null : pagesOf(body, scope, pageId)
  if (pages !== null && isRefusal(pages)) return pages
  const prosePages = scope === 'canvas' ? [] : pages === null ? body.prose.pages : pages.prose === null ? [] : [pages.prose]
  let refusal: Refusal | null = null
  for (const page of prosePages) {
    const open = texts.prose(page)
    const found = findTarget(targetPage(texts, reach, page, open.stored.tree), { id })
    if (!isRefusal(found)) return open.holders.filter(({ path }) => startsWith(path, found.path))
    // A refusal from a page that has the id says more than the refusal of a page without the id.
    if (refusal === null || refusal.code === 'ERR_ID_NOT_FOUND') refusal = found
  }
  if (scope === 'prose' || (refusal !== null && refusal.code !== 'ERR_ID_NOT_FOUND')) return notFound(refusal, id)
  const canvasPages = pages === null ? body.canvas.pages : pages.canvas === null ? [] : [pages.canvas]
  for (const page of canvasPages) {
    const shapes = shapeValues(page)
    const shape = plainShapeId({ body, page, shapes, naming: texts.naming, seen: reach.seen }, id, 'id')
    if (isRefusal(shape)) return shape
    if (shapes.has(shape.id)) return texts.canvas(page).filter((holder) => holder.id === shape.id)
  }
  const [first] = canvasPages
  return scope === 'canvas' && first !== undefined ? shapeNotFound(body, first, id) : notFound(refusal, id)
}

function notFound(refusal: Refusal | null, id: string): Refusal {
  const shown = quote(id)
  return refusal ?? refused('ERR_ID_NOT_FOUND', `The document has no block or shape with the id "${shown}".`, { id: shown })
}
