import type { Node } from 'prosemirror-model'
import type { Heading } from './shown-page.ts'

/** The headings of a page in order; `before` itself when they are the same. */
export function headingsOf(doc: Node, before: readonly Heading[]): readonly Heading[] {
  const headings: Heading[] = []
  doc.descendants((node, at) => {
    if (node.type.name === 'heading') headings.push({ level: Number(node.attrs['level']) || 1, text: node.textContent, at })
    return !node.isTextblock && node.type.name !== 'table'
  })
  const isSame = headings.length === before.length && headings.every((each, at) => isEqual(each, before[at] as Heading))
  return isSame ? before : headings
}

function isEqual(one: Heading, other: Heading): boolean {
  return one.level === other.level && one.at === other.at && one.text === other.text
}
