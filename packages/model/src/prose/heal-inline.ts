import { equalMarks } from './equal.ts'
import type { HealReport, Place } from './fixes.ts'
import { appendText, pushAll } from './marks.ts'
import type { ProseElement, ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

export function isInline(node: ProseNode): boolean {
  return node.type === 'text' || nodeSpec(node.type).group === 'inline'
}

/** Merges adjacent text runs, drops empty text and removes children of atoms. Returns the given list when nothing changes. [PROSE-H3] */
export function tidyInline(nodes: readonly ProseNode[], report: (fix: HealReport) => void, parent: Place): readonly ProseNode[] {
  if (nodes.every((node, i) => isTidy(node, nodes[i - 1]))) return nodes
  const out: ProseNode[] = []
  nodes.forEach((node, index) => {
    if (node.type === 'text') return appendText(out, node.text, node.marks)
    if (node.content.length === 0) return void out.push(node)
    report({
      action: 'stripped_children',
      reason: `a ${node.type} has no content of its own`,
      place: { parent, index, name: node.type },
    })
    out.push({ ...node, content: [] })
  })
  return out
}

function isTidy(node: ProseNode, before: ProseNode | undefined): boolean {
  if (node.type !== 'text') return node.content.length === 0
  return node.text !== '' && (before?.type !== 'text' || !equalMarks(node.marks, before.marks))
}

/**
 * Returns the inline content of blocks, for a place where only text may be: the content at any depth, with a space between blocks. A display formula becomes an
 * inline formula, and another atom becomes its text. Images stay, for the caller to lift. [PROSE-16, PROSE-H2]
 */
export function inlineParts(nodes: readonly ProseNode[]): readonly ProseNode[] {
  const out: ProseNode[] = []
  let isAfterBlock = false
  const push = (nodes: readonly ProseNode[], isApart: boolean) => {
    const [last, first] = [out.at(-1), nodes[0]]
    if (isApart && last !== undefined && first !== undefined && isInline(last) && isInline(first) && !startsBlank(first)) {
      out.push({ type: 'text', text: ' ', marks: [] })
    }
    pushAll(out, nodes)
  }
  for (const node of nodes) {
    const isBlock = node.type !== 'image' && !isInline(node)
    if (node.type === 'text' || !isBlock) push([node], isAfterBlock)
    else push(nodeSpec(node.type).content === 'none' ? inlineAtom(node) : inlineParts(node.content), true)
    isAfterBlock = isBlock
  }
  return out
}

function startsBlank(node: ProseNode): boolean {
  return node.type === 'text' && /^[ \t\n\f\r]/.test(node.text)
}

function inlineAtom(node: ProseElement): readonly ProseNode[] {
  if (node.type === 'mathBlock') return [{ type: 'mathInline', attrs: { latex: node.attrs['latex'] ?? '' }, content: [] }]
  const text = atomText(node)
  return text === '' ? [] : [{ type: 'text', text, marks: [] }]
}

/** Whether a block is an atom without any text, such as a rule. */
export function isMute(block: ProseNode): boolean {
  return block.type !== 'text' && nodeSpec(block.type).content === 'none' && inlineAtom(block).length === 0
}

/** The text of an atom: its label, its formula, or the name of the embedded group. */
function atomText({ type, attrs }: ProseElement): string {
  return String(attrs[nodeSpec(type).label ?? ''] ?? attrs['latex'] ?? attrs['groupName'] ?? '')
}

/** The text of nodes, including labels and formulas of atoms. `between` separates blocks. */
export function plainText(nodes: readonly ProseNode[], lineBreak: string, between: string): string {
  const pieces: string[] = []
  addText(nodes, pieces, lineBreak, between)
  return pieces.join('')
}

/** Pieces are joined only at the end: reading the last character of a growing string would copy the whole string each time. */
function addText(nodes: readonly ProseNode[], pieces: string[], lineBreak: string, between: string): void {
  const start = pieces.length
  for (const node of nodes) {
    if (node.type === 'text') addPiece(pieces, node.text)
    else if (node.type === 'hardBreak') addPiece(pieces, lineBreak)
    else if (isInline(node)) addPiece(pieces, atomText(node))
    else {
      const at = pieces.length
      const isApart = at === start || (pieces[at - 1] as string).endsWith(between)
      if (nodeSpec(node.type).content === 'none') addPiece(pieces, atomText(node))
      addText(node.content, pieces, lineBreak, between)
      if (!isApart && pieces.length > at) pieces[at] = between + (pieces[at] as string)
    }
  }
}

function addPiece(pieces: string[], text: string): void {
  if (text !== '') pieces.push(text)
}
