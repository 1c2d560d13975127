import { refused, type Fix, type Refusal } from '../edit.ts'
import { unfitCharacters } from '../names.ts'
import { collapse } from './text.ts'
import { idsOf } from './blocks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { isBlankPage } from './equal.ts'
import { headingPlaces, levelOf, sectionsOf, withLevel } from './outline.ts'
import { cleanText } from './values.ts'
import { applied, withOwnIds, withPassedId, type Applied } from './applied.ts'

export interface SectionPlace {
  readonly position?: 'start' | 'end' | undefined
  /** The index of the section before the new section. Takes precedence over `position`. */
  readonly afterIndex?: number | undefined
}

export interface InsertedSection extends Applied {
  /** The index of the new heading in the outline. */
  readonly index: number
}

/** Returns the heading of a new section, or why it is refused. [PROSE-63] */
export function sectionHeading(
  title: string,
  level: number,
): { readonly heading: ProseElement; readonly fixes: readonly Fix[] } | Refusal {
  // A title that is far too long is not cleaned, because it is refused anyway. [CONC-13]
  const text = title.length > maxRead ? title : collapse(cleanText(title).replace(/\p{Cc}/gu, ' '))
  const length = title.length > maxRead ? title.length : [...text].length
  if (length === 0 || length > maxTitle) {
    const expected = `1 to ${maxTitle} characters that are not all blank`
    const sentence = `title has ${length} characters; a section title has ${expected}.`
    return refused('ERR_BAD_ARGUMENT', sentence, { argument: 'title', expected, got: length })
  }
  const nearest = Math.min(6, Math.max(1, level))
  const fixes: readonly Fix[] = [
    ...(text === collapse(title) ? [] : [unfitCharacters('title')]),
    ...(nearest === level
      ? []
      : [{ action: 'clamped', field: 'level', reason: `a heading has level 1 to 6; ${level} was taken as ${nearest}` } as const]),
  ]
  const bare: ProseElement = { type: 'heading', attrs: {}, content: [{ type: 'text', text, marks: [] }] }
  return { heading: withLevel(bare, nearest), fixes }
}

const maxTitle = 500
const maxRead = 65_536

/** Inserts a heading with its body between sections. On an empty page, the section replaces the empty paragraph. [PROSE-62, PROSE-64] */
export function insertSection(tree: ProseTree, section: ProseTree, place: SectionPlace): InsertedSection {
  const { prefix, sections } = sectionsOf(tree)
  const { index, fixes } = sectionIndex(place, sections.length)
  if (isBlankPage(tree)) {
    const own = withPassedId(withOwnIds(section, []), tree)
    const done = applied(tree, own, own)
    return { ...done, index: 0, fixes: [...fixes, ...done.fixes] }
  }
  const own = withOwnIds(section, idsOf(tree))
  const done = applied(tree, [...prefix, ...sections.slice(0, index).flat(), ...own, ...sections.slice(index).flat()], own)
  return { ...done, index, fixes: [...fixes, ...done.fixes] }
}

function sectionIndex(
  { position, afterIndex }: SectionPlace,
  count: number,
): { readonly index: number; readonly fixes: readonly Fix[] } {
  if (afterIndex === undefined) return { index: position === 'start' ? 0 : count, fixes: [] }
  if (afterIndex < count) return { index: afterIndex + 1, fixes: [] }
  const last = count === 0 ? 'the page has no section' : `the last section is ${count - 1}`
  const reason = `${last}; ${afterIndex} was taken as the end of the page`
  return { index: count, fixes: [{ action: 'clamped', field: 'afterIndex', reason }] }
}

/** Consecutive top-level blocks of a page: one section, alone or with its subsections. */
export interface SectionSpan {
  readonly from: number
  /** The place behind the last block of the span. */
  readonly end: number
}

/**
 * Decreases (`-1`, promote) or increases (`1`) the level of the first heading of a span and, with `withSubsections`, of all headings in the span. Changes
 * nothing when the first heading is at the end of the scale. [PROSE-65, AG-78]
 */
export function shiftLevels(tree: ProseTree, { from, end }: SectionSpan, by: 1 | -1, withSubsections: boolean): Applied {
  const level = levelOf(tree[from] as ProseElement)
  if (level + by < 1 || level + by > 6) {
    const reason = `the heading is on level ${level} of 1 to 6 and stays there`
    return { ...applied(tree, tree, []), fixes: [{ action: 'clamped', field: 'op', reason }] }
  }
  const isShifted = (block: ProseElement, place: number) =>
    place === from || (withSubsections && place > from && place < end && block.type === 'heading')
  const shifted = tree.map((block, place) =>
    isShifted(block, place) ? withLevel(block, Math.min(6, levelOf(block) + by)) : block,
  )
  const done = applied(
    tree,
    shifted,
    shifted.filter((block, place) => block !== tree[place]),
  )
  const deepest = tree.filter((block, place) => isShifted(block, place) && levelOf(block) + by > 6).length
  if (deepest === 0) return done
  const reason = `level 6 is the deepest one, and ${deepest} of the subsections stay on it`
  return { ...done, fixes: [{ action: 'clamped', field: 'op', reason }, ...done.fixes] }
}

/** Moves a span so that the index of its first heading becomes `toIndex`; without `toIndex`, to the end. [PROSE-66, AG-78] */
export function moveSection(tree: ProseTree, { from, end }: SectionSpan, toIndex: number | undefined): Applied {
  const others = [...tree.slice(0, from), ...tree.slice(end)]
  const section = tree.slice(from, end)
  const { at, fixes } = placeOfIndex(others, toIndex)
  const moved = applied(tree, [...others.slice(0, at), ...section, ...others.slice(at)], section)
  return { ...moved, fixes: [...fixes, ...moved.fixes] }
}

/** Inserts a section of another page at the index `toIndex`, or at the end when absent. A blank page becomes just the section. [AG-78] */
export function takeSection(tree: ProseTree, section: ProseTree, toIndex: number | undefined): Applied {
  const own = withOwnIds(section, idsOf(tree))
  if (isBlankPage(tree)) return applied(tree, own, own)
  const { at, fixes } = placeOfIndex(tree, toIndex)
  const taken = applied(tree, [...tree.slice(0, at), ...own, ...tree.slice(at)], own)
  return { ...taken, fixes: [...fixes, ...taken.fixes] }
}

function placeOfIndex(others: ProseTree, toIndex: number | undefined): { readonly at: number; readonly fixes: readonly Fix[] } {
  if (toIndex === undefined) return { at: others.length, fixes: [] }
  const places = headingPlaces(others)
  const last = places.length
  if (toIndex <= last) return { at: places[toIndex] ?? others.length, fixes: [] }
  const reason = `the last section is ${last}; ${toIndex} was taken as ${last}`
  return { at: others.length, fixes: [{ action: 'clamped', field: 'toIndex', reason }] }
}

/** The refusal for an index without a section. [ERR_SECTION_INDEX] */
export function noSection(index: number, sectionCount: number): Refusal {
  const sentence = `The page has no section ${index}; it has ${sectionCount}, numbered from 0.`
  return refused('ERR_SECTION_INDEX', sentence, { index, sectionCount })
}
