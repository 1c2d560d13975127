import { isRefusal, refused, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'
import { changedBy } from '../seen/page-sight.ts'
import { isShownHeading } from '../seen/seen-outline.ts'
import { readShownBlock } from '../seen/shown.ts'
import { bareName, isPrintable, namingOf } from './block-names.ts'
import { blockId } from './blocks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { headingPlaces, levelOf } from './outline.ts'
import { noSection } from './sections.ts'
import { currentBlock } from './stamped-blocks.ts'
import { findTarget, type TargetPage } from './targets.ts'
import { titleText } from './text.ts'

/** How a call names a section: by the id of its heading, or by its index in the outline. [AG-78] */
export interface SectionAddress {
  readonly id?: string | undefined
  readonly index?: number | undefined
}

/** The names of the arguments `id` and `index` of a call, for errors. */
export interface SectionNames {
  readonly id: string
  readonly index: string
}

export const ownSection: SectionNames = { id: 'id', index: 'index' }

/** Refuses a call that names a section neither by `id` nor by `index`, or by both. [AG-33] */
export function sectionFlaw({ id, index }: SectionAddress, names: SectionNames = ownSection): Refusal | null {
  if ((id === undefined) !== (index === undefined)) return null
  const expected = `${names.id}, the id of a heading, or ${names.index}`
  const came = id === undefined ? 'none of them came' : 'both came'
  return refused('ERR_BAD_ARGUMENT', `A section is named by ${expected}; ${came}.`, { argument: names.id, expected })
}

/** Returns the place of a named heading among the blocks of the page. */
export function findHeading(page: TargetPage, { id, index }: SectionAddress, names: SectionNames = ownSection): number | Refusal {
  if (id === undefined) {
    const places = headingPlaces(page.tree)
    const place = places[index as number]
    return place === undefined ? noSection(index as number, places.length) : (otherHeading(page, place, index as number) ?? place)
  }
  const found = findTarget(page, { id }, { id: names.id, anchor: '' })
  if (isRefusal(found)) return found
  const [place = 0, ...inner] = found.path
  if (found.block.type === 'heading' && inner.length === 0) return place
  const expected = 'the id of a heading that stands in no quote, callout, item or cell'
  return refused('ERR_BAD_ARGUMENT', `${names.id} "${quote(id)}" is a ${found.block.type}; expected ${expected}.`, {
    argument: names.id,
    expected,
    got: quote(id),
  })
}

/** Refuses an index at which the caller was last shown another heading than the stored one; `null` otherwise. [AG-79] */
export function otherHeading(page: TargetPage, place: number, index: number): Refusal | null {
  const shown = page.isVersionNamed === true ? null : (page.sight?.headingAt(index) ?? null)
  const block = page.tree[place] as ProseElement
  if (shown === null || isShownHeading(shown, block)) return null
  const located = { path: [place], block }
  const current = currentBlock(located, namingOf(page))
  const { id } = readShownBlock(shown)
  const isPrinted = id !== null && isPrintable(id)
  const repair = 'Name the heading that you mean by its id, or read the outline again'
  const sentence = `You were shown another heading at index ${index}${isPrinted ? ` (${id})` : ''}. Now ${current.id} "${quote(titleText(block))}" stands there. ${repair}.`
  return refused('ERR_BLOCK_CHANGED', sentence, {
    id: isPrinted ? id : bareName(located),
    current,
    ...changedBy(page.sight?.changer(blockId(block))),
  })
}

/** Returns where the section of a heading ends: at the next heading, or with subsections at the next one that is not deeper. [PROSE-61, AG-78] */
export function sectionEnd(tree: ProseTree, heading: number, withSubsections: boolean): number {
  const level = levelOf(tree[heading] as ProseElement)
  const isEnd = (block: ProseElement) => block.type === 'heading' && (!withSubsections || levelOf(block) <= level)
  const after = tree.slice(heading + 1).findIndex(isEnd)
  return after === -1 ? tree.length : heading + 1 + after
}
