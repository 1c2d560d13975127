import type { CanvasPage, DocumentBody, ProsePage } from '../body.ts'
import { shownTitle } from '../body-title.ts'
import { labelOf } from '../canvas/stored-shape.ts'
import { listFields } from '../fields/list-fields.ts'
import { isJsonObject, type JsonObject, memberOf } from '../json.ts'
import { pageName } from '../pages.ts'
import type { ProseElement, ProseNode } from '../prose/node.ts'
import { storedTree } from '../prose/stored-trees.ts'
import { collapse, titleText } from '../prose/text.ts'
import type { Path } from '../prose/tree-path.ts'
import { listReferences } from '../references/list-references.ts'
import type { PlaceClass } from './ranking.ts'
import { wordsIn, wordsOf } from './words.ts'

export type TextKind = 'name' | 'prose' | 'cell' | 'shape' | 'reference' | 'field'

/** One text of a document: what a hit names, and a row of an index. [AG-59, AG-64] */
export interface DocumentText {
  readonly kind: TextKind
  readonly placeClass: PlaceClass
  readonly text: string
  readonly pageId?: string
  /** The heading that the text stands below, or is. */
  readonly section?: { readonly index: number; readonly title: string }
  /** The text block, for its id and stamp. */
  readonly block?: { readonly path: Path; readonly element: ProseElement }
  /** Id of the shape, the reference or the field. */
  readonly id?: string
  /** The stored shape, for its stamp. */
  readonly shape?: JsonObject
}

/** Texts of one document beyond so many bytes are not searched. [AG-64] */
export const MAX_TEXT_BYTES = 4_194_304

/** What a document says, in its order, with the mark that it says more than is searched. */
export interface DocumentTexts {
  readonly texts: readonly DocumentText[]
  readonly cut: boolean
}

/** Every text of a document that search looks in. [AG-59] */
export function textsOf(body: DocumentBody, maxBytes = MAX_TEXT_BYTES): DocumentTexts {
  const texts: DocumentText[] = []
  let bytes = 0
  for (const found of eachText(body)) {
    if (found.text === '') continue
    bytes += utf8Length(found.text)
    if (bytes > maxBytes) return { texts, cut: true }
    texts.push(found)
  }
  return { texts, cut: false }
}

function* eachText(body: DocumentBody): Generator<DocumentText> {
  yield { kind: 'name', placeClass: 'document', text: collapse(shownTitle(body)) }
  for (const page of body.prose.pages) {
    yield nameOf(page)
    yield* proseTexts(page)
  }
  for (const page of body.canvas.pages) {
    yield nameOf(page)
    yield* shapeTexts(page)
  }
  for (const item of listReferences(body).references) {
    const id = memberOf(item, 'id')
    yield { kind: 'reference', placeClass: 'rest', text: referenceText(item), ...(typeof id === 'string' && { id }) }
  }
  for (const { name, value } of listFields(body)) {
    yield { kind: 'field', placeClass: 'rest', text: collapse(`${name}: ${value}`), id: name }
  }
}

function nameOf(page: CanvasPage | ProsePage): DocumentText {
  return { kind: 'name', placeClass: 'page', text: collapse(pageName(page)), pageId: page.id }
}

function* proseTexts(page: ProsePage): Generator<DocumentText> {
  let section: DocumentText['section']
  let sections = 0
  for (const [index, block] of storedTree(page.content).tree.entries()) {
    if (block.type === 'heading') section = { index: sections++, title: titleText(block) }
    for (const { kind, path, element } of textBlocks(block, [index], 'prose')) {
      yield {
        kind,
        placeClass: element.type === 'heading' ? 'heading' : 'rest',
        text: titleText(element),
        pageId: page.id,
        ...(section !== undefined && { section }),
        block: { path, element },
      }
    }
  }
}

const TEXT_BLOCKS: ReadonlySet<string> = new Set(['paragraph', 'heading', 'codeBlock', 'figcaption'])

function* textBlocks(
  node: ProseNode,
  path: Path,
  kind: 'prose' | 'cell',
): Generator<{ readonly kind: 'prose' | 'cell'; readonly path: Path; readonly element: ProseElement }> {
  if (node.type === 'text') return
  if (TEXT_BLOCKS.has(node.type)) return yield { kind, path, element: node }
  const inner = node.type === 'table' ? 'cell' : kind
  for (const [index, child] of node.content.entries()) yield* textBlocks(child, [...path, index], inner)
}

function* shapeTexts(page: CanvasPage): Generator<DocumentText> {
  for (const { id, value } of page.shapes) {
    yield { kind: 'shape', placeClass: 'rest', text: collapse(labelOf(value) ?? ''), pageId: page.id, id, shape: value }
  }
}

/** Title, authors, id and DOI. */
function referenceText(item: JsonObject): string {
  const authors = memberOf(item, 'author')
  const names = Array.isArray(authors) ? authors.filter(isJsonObject).map(authorName) : []
  const parts = [memberOf(item, 'title'), ...names, memberOf(item, 'id'), memberOf(item, 'DOI')]
  return collapse(parts.filter((part) => typeof part === 'string' && part !== '').join(', '))
}

function authorName(author: JsonObject): string {
  const parts = ['given', 'family', 'literal'].map((name) => memberOf(author, name))
  return parts.filter((part) => typeof part === 'string').join(' ')
}

/** A longer text is searched up to this word. [AG-64] */
export const MAX_ROW_WORDS = 10_000
/** A ligature of Arabic stands for four words, and no character for more. */
const MOST_WORDS_OF_A_CHARACTER = 4
/** An index takes no longer row; only words of many bytes reach it. */
const MAX_ROW_BYTES = 524_288

/** The words of one text as an index keeps them. */
export function rowWords(text: string): { readonly words: readonly string[]; readonly cut: boolean } {
  if (text.length * MOST_WORDS_OF_A_CHARACTER <= MAX_ROW_WORDS) return { words: wordsOf(text), cut: false }
  const words: string[] = []
  let bytes = 0
  for (const { word } of wordsIn(text)) {
    bytes += utf8Length(word) + 1
    if (words.length === MAX_ROW_WORDS || bytes > MAX_ROW_BYTES) return { words, cut: true }
    words.push(word)
  }
  return { words, cut: false }
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // A surrogate is two of the four bytes of its pair.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}
