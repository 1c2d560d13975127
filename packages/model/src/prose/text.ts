import type { ProseElement, ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

/** Collapses white space: leading, trailing and repeated white space does not count when texts are compared or shown. [PROSE-48] */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** The text of atoms: `none` for anchors; `label`, what people see, for titles; `shown`, also file names and the LaTeX of formulas. */
type AtomText = 'none' | 'label' | 'shown'

/**
 * Returns the text of a node for matching and display. Marks and atoms have no text, a line break is a space, and blocks are separated by a space.
 * [PROSE-48]
 */
export function blockText(node: ProseNode): string {
  return collapse(rawText(node, 'none', ' '))
}

/** Returns the text of a block without its line breaks. */
export function unbrokenText(node: ProseNode): string {
  return collapse(rawText(node, 'none', ''))
}

/** Returns the text of a heading as people see it, with the labels of chips. [PROSE-60] */
export function titleText(node: ProseNode): string {
  return collapse(rawText(node, 'label', ' '))
}

/** Returns the text of a node with its atoms: labels of chips, names of files, and formulas as Markdown writes them. [TABLE-2] */
export function shownText(node: ProseNode): string {
  return collapse(rawText(node, 'shown', ' '))
}

/** Whether a text is the whole content of a block: it has all words, and the block has no image, rule or chip without text. [AG-14, AG-17] */
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
