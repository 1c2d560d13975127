import type { ProseElement, ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

/** Leading, trailing and repeated white space does not count when texts are compared or shown. [PROSE-48] */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** How inline atoms read: as nothing (anchors), or as the label that people see (titles). */
type AtomText = 'none' | 'label'

/**
 * The text of a node for matching and display. Marks and atoms have no text, a line break is a space, and blocks are separated by a space.
 * [PROSE-48]
 */
export function blockText(node: ProseNode): string {
  return collapse(rawText(node, 'none', ' '))
}

/** The text of a block in which line breaks have no text either. */
export function unbrokenText(node: ProseNode): string {
  return collapse(rawText(node, 'none', ''))
}

/** The text of a heading as people see it, with the labels of chips. [PROSE-60] */
export function titleText(node: ProseNode): string {
  return collapse(rawText(node, 'label', ' '))
}

function rawText(node: ProseNode, atoms: AtomText, lineBreak: string): string {
  if (node.type === 'text') return node.text
  if (node.type === 'hardBreak') return lineBreak
  if (node.content.length === 0) return atoms === 'label' ? labelOf(node) : ''
  const isText = nodeSpec(node.type).content === 'inline' || node.type === 'codeBlock'
  return node.content.map((child) => rawText(child, atoms, lineBreak)).join(isText ? '' : ' ')
}

function labelOf(node: ProseElement): string {
  return node.type === 'fieldRef' || node.type === 'citationInline' ? String(node.attrs['label'] ?? '') : ''
}
