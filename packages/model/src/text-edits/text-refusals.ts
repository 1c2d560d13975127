import { refused, type Refusal } from '../edit.ts'
import { pageName } from '../pages.ts'
import { nameBeside, type Naming } from '../prose/block-names.ts'
import type { Located } from '../prose/blocks.ts'
import { plainText } from '../prose/heal-inline.ts'
import { nodeAt, parentOf } from '../prose/tree-path.ts'
import type { ProseTree } from '../prose/node.ts'
import { quote } from '../quote.ts'
import { findExact, findFolded, foldText, type Match } from './find-text.ts'
import type { BlockHolder, OpenTexts, TextHolder, TextReach } from './text-holders.ts'

/** A match, and the text block or shape in which it was found. */
export interface FoundText {
  readonly holder: TextHolder
  readonly match: Match
}

/** A place of a match as errors name it. */
interface TextPlace {
  readonly id: string
  readonly pageId: string
  readonly text: string
}

/** Returns the name of a block beside its text, with a stamp unless the text is cut. A caption is named by its figure. [AG-11, AG-14] */
export function nameOfText(tree: ProseTree, { path, block }: Located, text: string, naming: Naming): string {
  const located = block.type === 'figcaption' ? { path: parentOf(path), block: nodeAt(tree, parentOf(path)) } : { path, block }
  return nameBeside(located, text, naming)
}

/** Names a place by the block as it was before the call, since a refused call changes nothing. */
function placeOf(holder: TextHolder, match: Match, naming: Naming): TextPlace {
  const id =
    holder.kind === 'shape'
      ? holder.id
      : nameOfText(holder.page.stored.tree, { path: holder.path, block: holder.stored }, holder.text, naming)
  const pageId = holder.kind === 'shape' ? holder.page.id : holder.page.page.id
  return { id: quote(id), pageId, text: around(holder.text, match) }
}

const SHOWN = 120

/** Returns at most 120 characters of a text, with the match in the middle. */
function around(text: string, { from, to }: Match): string {
  if (text.length <= SHOWN) return text
  // Two characters are left for the ellipses.
  const room = SHOWN - 2
  const start = Math.max(0, Math.min(from - Math.floor(Math.max(0, room - (to - from)) / 2), text.length - room))
  const shown = text.slice(start, start + room).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return `${start > 0 ? '…' : ''}${shown}${start + room < text.length ? '…' : ''}`
}

/** Refuses an edit when several places have its words and the call does not say which place it means. [AG-46] */
export function ambiguousText(edit: number, found: readonly FoundText[], count: number, naming: Naming): Refusal {
  const places = found.slice(0, 5).map(({ holder, match }, i) => ({ occurrence: i + 1, ...placeOf(holder, match, naming) }))
  const told = places.map(({ occurrence, id, text }) => `${occurrence}: ${id} "${text}"`).join('; ')
  const repair = 'send occurrence, all: true or a longer find'
  return refused('ERR_TEXT_AMBIGUOUS', `edits[${edit}].find stands at ${count} places; ${repair}. ${told}.`, {
    edit,
    count,
    places,
  })
}

/** Refuses an edit whose words no searched text contains, not even in another spelling. [AG-46] */
export function textNotFound(
  edit: number,
  find: string,
  texts: OpenTexts,
  reach: TextReach,
  searched: readonly TextHolder[],
): Refusal {
  const nearest = nearestTexts(find, searched, texts.naming)
  const hint = hintOf(find, texts, reach, searched)
  const shown = quote(find)
  const near = nearest.length === 0 ? '' : ` Nearest: ${nearest.map(({ id, text }) => `${id} "${text}"`).join('; ')}.`
  return refused(
    'ERR_TEXT_NOT_FOUND',
    `edits[${edit}].find "${shown}" stands nowhere${hint === null ? '' : `: ${hint}`}.${near}`,
    {
      edit,
      find: shown,
      nearest,
      ...(hint === null ? {} : { hint }),
    },
  )
}

/** The least share of the character pairs of the words that a text must have to be suggested. */
const LEAST_LIKENESS = 0.4

/** Returns at most 3 places that share the most character pairs with the words. Case does not count. */
function nearestTexts(find: string, searched: readonly TextHolder[], naming: Naming): readonly TextPlace[] {
  const wanted = find.toLowerCase()
  const pairs = new Set(pairsOf(wanted))
  return searched
    .map((holder) => ({ holder, ...bestStretch(holder.text.toLowerCase(), wanted.length, pairs) }))
    .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, 3)
    .map(({ holder, match }) => placeOf(holder, match, naming))
}

function pairsOf(text: string): readonly number[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.charCodeAt(i) * 0x10000 + text.charCodeAt(i + 1))
}

/** Finds the stretch of a text, `length` long, with the most character pairs of the words. `likeness` is their share, from 0 to 1. */
function bestStretch(
  text: string,
  length: number,
  pairs: ReadonlySet<number>,
): { readonly likeness: number; readonly match: Match } {
  const inText = pairsOf(text)
  let [best, at, common] = [0, 0, 0]
  inText.forEach((pair, i) => {
    if (pairs.has(pair)) common++
    const left = inText[i - length + 1]
    if (left !== undefined && pairs.has(left)) common--
    if (common > best) [best, at] = [common, Math.max(0, i - length + 2)]
  })
  return { likeness: pairs.size === 0 ? 0 : best / pairs.size, match: { from: at, to: Math.min(text.length, at + length) } }
}

/** Says where the words stand in a form or at a place that the edit does not search; `null` when nowhere. [AG-46] */
function hintOf(find: string, texts: OpenTexts, reach: TextReach, searched: readonly TextHolder[]): string | null {
  const folded = foldText(find).text
  const has = (holder: TextHolder): boolean =>
    findExact(holder.text, find).next().done !== true || findFolded(texts.folded(holder), folded).next().done !== true
  const lower = folded.toLowerCase()
  if (searched.some((holder) => texts.folded(holder).text.toLowerCase().includes(lower))) return 'it stands there in another case'
  const blocks = searched.filter((holder): holder is BlockHolder => holder.kind === 'block')
  if (blocks.some(({ block }) => plainText(block.content, '\n', '').includes(find)))
    return 'it stands in a chip or in math, whose text is no text of the block'
  const across = acrossBlocks(folded, blocks)
  if (across !== null) return `it stands across two blocks of the page ${across}, so each part is an edit of its own`
  const elsewhere = texts.all(reach.scope).find(has)
  if (elsewhere !== undefined) return `it stands ${whereIs(elsewhere, reach)}`
  if (reach.scope === 'all') return null
  const other = reach.scope === 'prose' ? 'canvas' : 'prose'
  return texts.all(other).some(has) ? `it stands in the scope ${other}` : null
}

/** Returns the id of a page on which the words begin in one block and end in another. */
function acrossBlocks(folded: string, blocks: readonly BlockHolder[]): string | null {
  const pages = new Map<string, string[]>()
  for (const { page, text } of blocks) {
    const known = pages.get(page.page.id)
    if (known === undefined) pages.set(page.page.id, [text])
    else known.push(text)
  }
  for (const [pageId, lines] of pages)
    if (['\n', ''].some((between) => foldText(lines.join(between)).text.includes(folded))) return pageId
  return null
}

function whereIs(holder: TextHolder, { pageId }: TextReach): string {
  const page = holder.kind === 'shape' ? holder.page : holder.page.page
  if (page.id === pageId) return 'elsewhere on this page'
  return `on the page ${quote(page.id)} ("${quote(pageName(page))}")`
}
