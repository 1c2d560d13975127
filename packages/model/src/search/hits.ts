import type { DocumentBody } from '../body.ts'
import { shapeStamp } from '../canvas/shape-stamp.ts'
import { blockName, type Naming } from '../prose/block-names.ts'
import { collapse } from '../prose/text.ts'
import { stampedId } from '../stamps/stamp.ts'
import { matchOf, mayMatch, type SearchQuery, type Term } from './query.ts'
import type { PlaceClass } from './ranking.ts'
import { type DocumentText, rowWords, type TextKind, textsOf } from './texts.ts'
import { type FoundWord, wordsIn } from './words.ts'

/** One text that a search found, as an answer shows it. [AG-62] */
export interface Hit {
  readonly pageId?: string
  readonly kind: TextKind
  readonly section?: string
  readonly sectionIndex?: number
  readonly id?: string
  readonly snippet: string
  /** The text or its document is longer than the part that is searched. [AG-64] */
  readonly cut?: true
}

/** Which texts of a document to show: `count` texts of one rank, beginning at the text number `from` of that rank. */
export interface WantedHits {
  readonly matched: number
  readonly placeClass: PlaceClass
  readonly exact: boolean
  readonly from: number
  readonly count: number
}

/** A query, and which of its hits to find in a body. */
export interface SearchArgs {
  readonly query: SearchQuery
  readonly wanted: readonly WantedHits[]
  readonly naming: Naming
}

/**
 * Finds hits in a body: one list of hits for each entry of `wanted`. The lists may be shorter than wanted, since an index may be older than the body and may
 * have found text that is gone. [AG-62]
 */
export function hitsOf(body: DocumentBody, { query, wanted, naming }: SearchArgs): readonly (readonly Hit[])[] {
  const { texts, cut } = textsOf(body)
  const ranked = texts.flatMap((text) => {
    if (!mayMatch(text.text, query)) return []
    const row = rowWords(text.text)
    const match = matchOf(row.words, query)
    return match.matched === 0 ? [] : [{ ...match, text, cut: cut || row.cut }]
  })
  return wanted.map(({ matched, placeClass, exact, from, count }) =>
    ranked
      .filter((one) => one.matched === matched && one.exact === exact && one.text.placeClass === placeClass)
      .slice(from, from + count)
      .map((one) => hitOf(one.text, query, one.cut, naming)),
  )
}

function hitOf(found: DocumentText, query: SearchQuery, cut: boolean, naming: Naming): Hit {
  const { kind, pageId, section } = found
  const text = collapse(found.text)
  const snippet = snippetOf(text, query)
  // A stamp beside a cut text would let an agent overwrite words that the agent never saw. [AG-14]
  const id = idOf(found, snippet === text ? naming : 'bare')
  return {
    ...(pageId !== undefined && { pageId }),
    kind,
    ...(section !== undefined && { section: cutText(section.title, MAX_SECTION), sectionIndex: section.index }),
    ...(id !== undefined && { id }),
    snippet,
    ...(cut && { cut: true }),
  }
}

const MAX_SECTION = 60
/** Ids that answers may print. Editors may store any text as an id, and such a text must not reach the agent. [AG-12] */
const PRINTABLE_ID = /^[A-Za-z0-9_.:-]{1,64}$/

function idOf({ block, id, shape }: DocumentText, naming: Naming): string | undefined {
  if (block !== undefined) return blockName({ path: block.path, block: block.element }, naming)
  if (id === undefined || !PRINTABLE_ID.test(id)) return undefined
  return shape === undefined || naming === 'bare' ? id : stampedId(id, shapeStamp(shape))
}

const MAX_SNIPPET = 120
/** How many characters a snippet shows before the first match. */
const LEAD = 30

/** Returns the part of a text around the first match, with an ellipsis where the text is cut. Returns a short text as a whole. [AG-62] */
export function snippetOf(text: string, query: SearchQuery): string {
  const characters = [...text]
  if (characters.length <= MAX_SNIPPET) return text
  const before = [...text.slice(0, firstMatch(text, query))].length
  const start = Math.max(0, Math.min(before - LEAD, characters.length - MAX_SNIPPET + 1))
  const from = start <= 1 ? 0 : start
  const lead = from === 0 ? '' : '…'
  const rest = characters.slice(from)
  const room = MAX_SNIPPET - lead.length
  return rest.length <= room ? `${lead}${rest.join('')}` : `${lead}${rest.slice(0, room - 1).join('')}…`
}

/** The offset of the first place at which a whole term of the query stands in a text; 0 when no term does. */
function firstMatch(text: string, { terms }: SearchQuery): number {
  const longest = Math.max(1, ...terms.map((term) => (term.kind === 'phrase' ? term.words.length : 1)))
  /** The word at which a term may begin, and the words behind it that may belong to a phrase. */
  const ahead: FoundWord[] = []
  for (const found of wordsIn(text)) {
    ahead.push(found)
    if (ahead.length < longest) continue
    if (terms.some((term) => beginsWith(ahead, term))) return ahead[0]?.at ?? 0
    ahead.shift()
  }
  for (; ahead.length > 0; ahead.shift()) if (terms.some((term) => beginsWith(ahead, term))) return ahead[0]?.at ?? 0
  return 0
}

function beginsWith(words: readonly FoundWord[], term: Term): boolean {
  if (term.kind === 'phrase') return term.words.every((word, at) => words[at]?.word === word)
  const first = words[0]?.word ?? ''
  return first === term.word || (term.alsoLonger && first.startsWith(term.word))
}

function cutText(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
