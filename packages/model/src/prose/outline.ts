import { blockName, type Naming } from './block-names.ts'
import type { Located } from './blocks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { titleText } from './text.ts'

export interface OutlineEntry {
  readonly index: number
  readonly level: number
  readonly title: string
  /** The name of the heading: its id, or a handle until the heading gets an id. [AG-12] */
  readonly id: string
}

/** Returns the headings that are direct children of a page, in order. [PROSE-60] */
export function outlineOf(tree: ProseTree, naming: Naming): readonly OutlineEntry[] {
  return tree
    .flatMap((block, at): readonly Located[] => (block.type === 'heading' ? [{ path: [at], block }] : []))
    .map((located, index) => ({
      index,
      level: levelOf(located.block),
      title: titleText(located.block),
      id: blockName(located, naming),
    }))
}

/** The changes of an outline by a write, as the answer shows them. [AG-42] */
export interface OutlineChange {
  /** The entries that are new or changed; an entry with another index counts as changed. */
  readonly outline: readonly OutlineEntry[]
  /** How many entries the whole outline has. */
  readonly outlineTotal: number
}

export function outlineChange(before: ProseTree, after: ProseTree, naming: Naming): OutlineChange {
  const [old, now] = [outlineOf(before, naming), outlineOf(after, naming)]
  const isSame = (entry: OutlineEntry, { level, title, id }: OutlineEntry) =>
    entry.level === level && entry.title === title && entry.id === id
  const outline = now.filter((entry) => {
    const was = old[entry.index]
    return was === undefined || !isSame(entry, was)
  })
  return { outline, outlineTotal: now.length }
}

export function levelOf(heading: ProseElement): number {
  return Number(heading.attrs['level'] ?? 1)
}

export function withLevel(heading: ProseElement, level: number): ProseElement {
  const { level: _, ...others } = heading.attrs
  return { ...heading, attrs: level === 1 ? others : { level, ...others } }
}

/**
 * The sections of a page: the blocks before the first heading, and each heading with the blocks up to the next heading of any level.
 * [PROSE-61]
 */
export interface Sections {
  readonly prefix: ProseTree
  readonly sections: readonly ProseTree[]
}

export function sectionsOf(tree: ProseTree): Sections {
  const starts = tree.flatMap((block, index) => (block.type === 'heading' ? [index] : []))
  return {
    prefix: tree.slice(0, starts[0] ?? tree.length),
    sections: starts.map((start, n) => tree.slice(start, starts[n + 1] ?? tree.length)),
  }
}

/** Returns the places of the headings that have sections, among the blocks of the page, by outline index. [PROSE-60] */
export function headingPlaces(tree: ProseTree): readonly number[] {
  return tree.flatMap((block, place) => (block.type === 'heading' ? [place] : []))
}
