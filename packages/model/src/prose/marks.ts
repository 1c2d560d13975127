import { equalMarks, withContent } from './equal.ts'
import type { ProseElement, ProseMark, ProseNode } from './node.ts'
import { markRank } from './schema.ts'

/** Returns the marks with `mark` added in the order of the mark table. A mark of the same type is replaced. */
export function withMark(marks: readonly ProseMark[], mark: ProseMark): readonly ProseMark[] {
  const others = marks.filter((other) => other.type !== mark.type)
  const rank = markRank(mark.type)
  const at = others.findIndex((other) => markRank(other.type) > rank)
  return at === -1 ? [...others, mark] : [...others.slice(0, at), mark, ...others.slice(at)]
}

/** Appends text to a list of inline nodes, merging it into a last run with equal marks; empty text adds nothing. [PROSE-5] */
export function appendText(nodes: ProseNode[], text: string, marks: readonly ProseMark[]): void {
  if (text === '') return
  const last = nodes.at(-1)
  if (last?.type === 'text' && equalMarks(last.marks, marks))
    nodes[nodes.length - 1] = { type: 'text', text: last.text + text, marks: last.marks }
  else nodes.push({ type: 'text', text, marks })
}

/** Appends all items of a list. A call of `push` with that many arguments would overflow the stack. */
export function pushAll<T>(list: T[], more: readonly T[]): void {
  for (const entry of more) list.push(entry)
}

/**
 * Returns the node with marks around all its content. Marks inside take precedence over marks of the same type around, and code stays
 * without marks.
 */
export function markedNode(node: ProseNode, around: readonly ProseMark[]): ProseNode {
  if (around.length === 0) return node
  if (node.type === 'text') return { ...node, marks: node.marks.reduce((set, mark) => withMark(set, mark), around) }
  if (node.type === 'codeBlock' || node.content.length === 0) return node
  return { ...node, content: node.content.map((child) => markedNode(child, around)) }
}

/** Returns the node without the ids of all blocks in it, except those for which `keeps` is true. */
export function withoutIds<T extends ProseNode>(node: T, keeps?: (id: unknown) => boolean): T
export function withoutIds(node: ProseNode, keeps: (id: unknown) => boolean = () => false): ProseNode {
  if (node.type === 'text') return node
  const content = node.content.map((child) => withoutIds(child, keeps))
  const rest = withContent(node, content)
  if (node.attrs['id'] === undefined || keeps(node.attrs['id'])) return rest
  const { id: _, ...attrs } = node.attrs
  return { ...(rest as ProseElement), attrs }
}
