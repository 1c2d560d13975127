import type { ProseElement, ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

/** Leading, trailing and repeated white space does not count when texts are compared or shown. [PROSE-48] */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** How atoms read: as nothing (anchors), as the label that people see (titles), or also as the name of a file and the LaTeX of a formula. */
type AtomText = 'none' | 'label' | 'shown'

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

/** The text of a node with what its atoms show: labels of chips, names of files, and formulas as Markdown writes them. [TABLE-2] */
export function shownText(node: ProseNode): string {
  return collapse(rawText(node, 'shown', ' '))
}

/** Whether a text says all that is in a block: its words, and no image, rule or chip without a label, which show as nothing. [AG-14, AG-17] */
export function saysAll(text: string, block: ProseElement): boolean {
  return isSayable(block) && collapse(text).includes(shownText(block))
}

function isSayable(node: ProseNode): boolean {
  if (node.type === 'text' || node.type === 'hardBreak') return true
  return nodeSpec(node.type).content === 'none' ? shownText(node) !== '' : node.content.every(isSayable)
}

function rawText(node: ProseNode, atoms: AtomText, lineBreak: string): string {
  if (node.type === 'text') return node.text
  if (node.type === 'hardBreak') return lineBreak
  if (node.content.length === 0) return atomText(node, atoms)
  const isText = nodeSpec(node.type).content === 'inline' || node.type === 'codeBlock'
  return node.content.map((child) => rawText(child, atoms, lineBreak)).join(isText ? '' : ' ')
}

function atomText({ type, attrs }: ProseElement, atoms: AtomText): string {
  if (atoms === 'none') return ''
  if (type === 'fieldRef' || type === 'citationInline') return String(attrs['label'] ?? '')
  if (atoms === 'label') return ''
  if (type === 'fileRef') return String(attrs['fileName'] ?? '')
  const latex = String(attrs['latex'] ?? '').trim()
  if (latex === '') return ''
  return type === 'mathBlock' ? `$$${latex}$$` : `$${latex}$`
}
