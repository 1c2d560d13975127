import { refused, type Refusal } from '../edit.ts'
import { likeness, pairsOf } from '../nearest.ts'
import { quote } from '../quote.ts'
import { nameBeside, type Naming } from './block-names.ts'
import type { Located } from './blocks.ts'
import { parseDom, textOf } from './html-dom.ts'
import type { NodeType, ProseElement } from './node.ts'
import { blockText, collapse, unbrokenText } from './text.ts'

/** A block as errors describe it. */
export interface BlockFact {
  readonly id: string
  readonly type: NodeType
  readonly text: string
}

export function blockFact(located: Located, naming: Naming): BlockFact {
  const text = blockText(located.block)
  return { id: nameBeside(located, text, naming), type: located.block.type, text: quote(text) }
}

export function told(facts: readonly BlockFact[]): string {
  return facts.map((fact) => `${fact.id} (${fact.type}) "${fact.text}"`).join('; ')
}

/** The two readings of an anchor: as HTML, and as literal text when the HTML reading matches no block. [PROSE-48] */
interface Anchor {
  readonly plain: string
  readonly literal: string
}

function readAnchor(given: string): Anchor {
  const literal = collapse(given)
  return { plain: /[<&]/.test(given) ? collapse(textOf(parseDom(given))) : literal, literal }
}

/** Whether an anchor is the whole text of a block. The anchor may have a space or nothing for a line break of the block. */
export function isAnchoredBy(block: ProseElement, given: string): boolean {
  const anchor = readAnchor(given)
  return hasText(block, anchor.plain) || hasText(block, anchor.literal)
}

function hasText(block: ProseElement, text: string): boolean {
  return blockText(block) === text || (block.content.some((child) => child.type === 'hardBreak') && unbrokenText(block) === text)
}

/** Returns why a text cannot be an anchor on any page; `null` when it can. [ERR_ANCHOR_EMPTY] */
export function anchorFlaw(given: string | undefined, which: string): Refusal | null {
  if (given === undefined || /\S/.test(given)) return null
  return refused('ERR_ANCHOR_EMPTY', `${which} is blank; give the whole current text of a block.`, { which })
}

/** Returns the one block whose whole text is the anchor; the anchor must not be blank. [PROSE-48, PROSE-53] */
export function findAnchor(
  blocks: readonly Located[],
  given: string,
  { which, naming }: { readonly which: string; readonly naming: Naming },
): Located | Refusal {
  const anchor = readAnchor(given)
  const withText = (text: string) => (text === '' ? [] : blocks.filter(({ block }) => hasText(block, text)))
  const plain = withText(anchor.plain)
  const matches = plain.length > 0 || anchor.plain === anchor.literal ? plain : withText(anchor.literal)
  const [only] = matches
  if (only === undefined) return notFound(blocks, anchor.plain === '' ? anchor.literal : anchor.plain, which, naming)
  if (matches.length === 1) return only
  const shown = matches.slice(0, 5).map((match) => blockFact(match, naming))
  return refused(
    'ERR_ANCHOR_AMBIGUOUS',
    `${matches.length} blocks have the text of ${which}; address one by its id: ${told(shown)}.`,
    { count: matches.length, matches: shown },
  )
}

function notFound(blocks: readonly Located[], text: string, which: string, naming: Naming): Refusal {
  const nearest = nearestBlocks(blocks, text).map((block) => blockFact(block, naming))
  const hint = nearest.length === 0 ? 'the page has no text' : `nearest: ${told(nearest)}`
  const anchor = quote(text)
  return refused('ERR_ANCHOR_NOT_FOUND', `No block has exactly the text "${anchor}" (${which}); ${hint}.`, { anchor, nearest })
}

/** Texts are compared by their first 120 characters, so that one search is linear in the size of the page. */
const comparedLength = 120

/** Returns the blocks whose text shares the most character pairs with `text`. */
function nearestBlocks(blocks: readonly Located[], text: string): readonly Located[] {
  const wanted = new Set(pairsOf(text, comparedLength))
  return blocks
    .map((located) => ({ located, likeness: likeness(wanted, pairsOf(blockText(located.block), comparedLength)) }))
    .filter((entry) => entry.likeness > 0)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, 3)
    .map((entry) => entry.located)
}
