import { appendText } from './marks.ts'
import type { ProseElement, ProseMark, ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

/** Stands for a chip, math or any other inline node without text. No text of a call matches this character. [AG-44] */
export const ATOM = '\ufffc'

/** A removal and an insertion at one place of a text block. Places count UTF-16 units; a chip, math or line break counts as one. */
export interface TextSplice {
  readonly at: number
  readonly remove: number
  readonly insert: string
  /** The place of the character whose marks the new text takes; -1 for text without marks. [AG-47] */
  readonly like: number
}

/** The word edits of one text block, so that a live document writes only these words. [AG-48] */
export interface TextChange {
  /** The id of the block; `null` for a caption, which has no id. */
  readonly id: string | null
  readonly from: readonly ProseNode[]
  readonly to: readonly ProseNode[]
  /** The steps in order, each on the result of the steps before. The splices of one step are in order and do not overlap. */
  readonly steps: readonly (readonly TextSplice[])[]
}

/** Whether a block has inline content of its own. */
export function isTextBlock({ type }: ProseElement): boolean {
  const { content } = nodeSpec(type)
  return content === 'inline' || content === 'code'
}

/** Returns the text of a text block as people see it. A line break is `\n`, and every other inline node is one `ATOM`. [AG-44] */
export function visibleText({ content }: ProseElement): string {
  return content.map((node) => (node.type === 'text' ? node.text : node.type === 'hardBreak' ? '\n' : ATOM)).join('')
}

/** Applies splices to a block. Outside code, `\n` becomes a line break. The rest of the block stays as it is. [AG-47] */
export function splicedBlock(block: ProseElement, splices: readonly TextSplice[]): ProseElement {
  const isCode = nodeSpec(block.type).content === 'code'
  const marksAt = markReader(block.content)
  const out: ProseNode[] = []
  const copy = copier(block.content, out)
  for (const { at, remove, insert, like } of splices) {
    copy(at)
    const marks = isCode || like === -1 ? [] : marksAt(like)
    insert.split(isCode ? /(?!)/ : '\n').forEach((line, i) => {
      if (i > 0) out.push({ type: 'hardBreak', attrs: {}, content: [] })
      appendText(out, line, marks)
    })
    copy(at + remove, true)
  }
  copy(Number.POSITIVE_INFINITY)
  return { ...block, content: out }
}

const lengthOf = (node: ProseNode): number => (node.type === 'text' ? node.text.length : 1)

/** Returns a function that copies the nodes from its last place up to a place, or skips these nodes. */
function copier(nodes: readonly ProseNode[], out: ProseNode[]): (until: number, isLeftOut?: boolean) => void {
  let [index, used, place] = [0, 0, 0]
  return (until, isLeftOut = false) => {
    while (place < until && index < nodes.length) {
      const node = nodes[index] as ProseNode
      const length = Math.min(lengthOf(node) - used, until - place)
      if (!isLeftOut && node.type === 'text') appendText(out, node.text.slice(used, used + length), node.marks)
      else if (!isLeftOut) out.push(node)
      place += length
      used += length
      if (used < lengthOf(node)) return
      index++
      used = 0
    }
  }
}

/** Returns a function that reads the marks at places that never go back by more than a match is long. */
function markReader(nodes: readonly ProseNode[]): (place: number) => readonly ProseMark[] {
  const starts = [0]
  for (const node of nodes) starts.push((starts.at(-1) as number) + lengthOf(node))
  let index = 0
  return (place) => {
    while (index > 0 && (starts[index] as number) > place) index--
    while (index + 1 < nodes.length && (starts[index + 1] as number) <= place) index++
    const node = nodes[index]
    return node?.type === 'text' ? node.marks : []
  }
}
