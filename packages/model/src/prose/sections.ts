import { refused, type Fix, type Refusal } from '../edit.ts'
import { collapse } from './text.ts'
import { idsOf } from './blocks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { levelOf, sectionsOf, withLevel } from './outline.ts'
import { cleanText } from './values.ts'
import { applied, withOwnIds, withPassedId, type Applied } from './applied.ts'

export interface SectionPlace {
  readonly position?: 'start' | 'end' | undefined
  /** Takes precedence over `position`. */
  readonly afterIndex?: number | undefined
}

export interface InsertedSection extends Applied {
  /** Index of the new heading in the outline. */
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
  const fixes: readonly Fix[] =
    nearest === level
      ? []
      : [{ action: 'clamped', field: 'level', reason: `a heading has level 1 to 6; ${level} was taken as ${nearest}` }]
  const bare: ProseElement = { type: 'heading', attrs: {}, content: [{ type: 'text', text, marks: [] }] }
  return { heading: withLevel(bare, nearest), fixes }
}

const maxTitle = 500
const maxRead = 65_536

/** Inserts a heading with its body between sections. On an empty page it replaces the empty paragraph. [PROSE-62, PROSE-64] */
export function insertSection(tree: ProseTree, section: ProseTree, place: SectionPlace): InsertedSection {
  const { prefix, sections } = sectionsOf(tree)
  const { index, fixes } = sectionIndex(place, sections.length)
  const [only] = tree
  const isEmpty = tree.length === 1 && only?.type === 'paragraph' && only.content.length === 0
  if (isEmpty) {
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

/** Decreases (`-1`, promote) or increases the level of one heading. At the end of the scale nothing changes. [PROSE-65] */
export function shiftLevel(tree: ProseTree, index: number, by: 1 | -1): Applied | Refusal {
  const { prefix, sections } = sectionsOf(tree)
  const section = sections[index]
  if (section === undefined) return noSection(index, sections.length)
  const heading = section[0] as ProseElement
  const level = levelOf(heading) + by
  if (level < 1 || level > 6) {
    const reason = `the heading is on level ${levelOf(heading)} of 1 to 6 and stays there`
    return { ...applied(tree, tree, []), fixes: [{ action: 'clamped', field: 'op', reason }] }
  }
  const at = prefix.length + sections.slice(0, index).flat().length
  const changed = withLevel(heading, level)
  return applied(tree, [...tree.slice(0, at), changed, ...tree.slice(at + 1)], [changed])
}

/** Moves one section so that its index becomes `toIndex`. [PROSE-66] */
export function moveSection(tree: ProseTree, index: number, toIndex: number): Applied | Refusal {
  const { prefix, sections } = sectionsOf(tree)
  const section = sections[index]
  if (section === undefined) return noSection(index, sections.length)
  const last = sections.length - 1
  const to = Math.min(toIndex, last)
  const others = sections.filter((other) => other !== section)
  const moved = applied(tree, [...prefix, ...others.slice(0, to).flat(), ...section, ...others.slice(to).flat()], section)
  if (to === toIndex) return moved
  const reason = `the last section is ${last}; ${toIndex} was taken as ${last}`
  return { ...moved, fixes: [{ action: 'clamped', field: 'toIndex', reason }, ...moved.fixes] }
}

/** The refusal for an index without a section. [ERR_SECTION_INDEX] */
export function noSection(index: number, sectionCount: number): Refusal {
  const sentence = `The page has no section ${index}; it has ${sectionCount}, numbered from 0.`
  return refused('ERR_SECTION_INDEX', sentence, { index, sectionCount })
}
