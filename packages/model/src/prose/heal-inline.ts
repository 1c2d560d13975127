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

/** All inline content inside a block, at any depth, with a space between blocks. */
export function inlineContent(block: ProseElement): readonly ProseNode[] {
  const out: ProseNode[] = []
  for (const child of block.content) {
    if (isInline(child)) {
      out.push(child)
      continue
    }
    const inner = inlineContent(child as ProseElement)
    if (out.length > 0 && inner.length > 0) out.push({ type: 'text', text: ' ', marks: [] })
    pushAll(out, inner)
  }
  return out
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
    else if (isInline(node)) addPiece(pieces, String(node.attrs[nodeSpec(node.type).label ?? ''] ?? node.attrs['latex'] ?? ''))
    else {
      const at = pieces.length
      const isApart = at === start || (pieces[at - 1] as string).endsWith(between)
      addText(node.content, pieces, lineBreak, between)
      if (!isApart && pieces.length > at) pieces[at] = between + (pieces[at] as string)
    }
  }
}

function addPiece(pieces: string[], text: string): void {
  if (text !== '') pieces.push(text)
}
