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

/** One text of a document. A hit names one such text, and an index has one row for it. [AG-59, AG-64] */
export interface DocumentText {
  readonly kind: TextKind
  readonly placeClass: PlaceClass
  readonly text: string
  readonly pageId?: string
  /** The heading below which the text stands; for a heading, the heading itself. */
  readonly section?: { readonly index: number; readonly title: string }
  /** The text block of the text, from which hits take id and stamp. */
  readonly block?: { readonly path: Path; readonly element: ProseElement }
  /** The id of the shape, the reference or the field with the text. */
  readonly id?: string
  /** The stored shape with the text, from which hits take the stamp. */
  readonly shape?: JsonObject
}

/** Only this many bytes of the texts of one document are searched. [AG-64] */
export const MAX_TEXT_BYTES = 4_194_304

/** The searched texts of a document, in its order. `cut`: the document has more text than is searched. */
export interface DocumentTexts {
  readonly texts: readonly DocumentText[]
  readonly cut: boolean
}

/** Returns the texts of a document that search looks in, up to `maxBytes` bytes of UTF-8. [AG-59] */
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

/** The searched text of a reference: title, authors, id and DOI. */
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

/** Only this many words of one text are searched. [AG-64] */
export const MAX_ROW_WORDS = 10_000
/** One character is at most four words: an Arabic ligature is. */
const MOST_WORDS_OF_A_CHARACTER = 4
/** The most bytes of the words in one row of an index. Only words of many bytes reach this limit. */
const MAX_ROW_BYTES = 524_288

/** Returns the words of one text for a row of an index. `cut`: the text has more words. */
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
    // Each of the two surrogates of a pair counts as two of the four UTF-8 bytes of the character.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}
