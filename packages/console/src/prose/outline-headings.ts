import type { Node } from 'prosemirror-model'
import type { Heading } from './shown-page.ts'

/** Calls `found` with each heading of a page and its position, in order. */
function eachHeading(doc: Node, found: (node: Node, at: number) => void): void {
  doc.descendants((node, at) => {
    if (node.type.name === 'heading') found(node, at)
    return !node.isTextblock && node.type.name !== 'table'
  })
}

/** Returns the headings of a page in order; returns `before` itself when nothing changed. */
export function headingsOf(doc: Node, before: readonly Heading[]): readonly Heading[] {
  const headings: Heading[] = []
  eachHeading(doc, ({ attrs, textContent }) => headings.push({ level: Number(attrs['level']) || 1, text: textContent }))
  const isSame = (one: Heading, other: Heading | undefined) => one.level === other?.level && one.text === other.text
  return headings.length === before.length && headings.every((each, at) => isSame(each, before[at])) ? before : headings
}

/** Returns the position of a heading by its number; `null` when the page has fewer headings. */
export function positionOfHeading(doc: Node, index: number): number | null {
  const positions: number[] = []
  eachHeading(doc, (_, at) => positions.push(at))
  return positions[index] ?? null
}
