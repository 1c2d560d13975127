import type { ProseAttrs, ProseElement, ProseMark, ProseNode, ProseTree } from './node.ts'
import type { AttrValue } from './values.ts'

/** Structural equality of nodes. The same object is equal without comparing its content. */
export function equalNodes(a: ProseNode, b: ProseNode): boolean {
  if (a === b) return true
  if (a.type !== b.type) return false
  if (a.type === 'text' || b.type === 'text') {
    return a.type === 'text' && b.type === 'text' && a.text === b.text && equalMarks(a.marks, b.marks)
  }
  return equalAttrs(a.attrs, b.attrs) && equalLists(a.content, b.content)
}

/** Whether two pages have the same content; `[]` and a single empty paragraph are both the empty page. */
export function equalTrees(a: ProseTree, b: ProseTree): boolean {
  return equalLists(a, b) || (isEmptyPage(a) && isEmptyPage(b))
}

/** Whether a page is written as the empty one: no block, or one paragraph without content and attributes. [PROSE-9] */
export function isEmptyPage(tree: ProseTree): boolean {
  const [first] = tree
  if (first === undefined) return true
  return tree.length === 1 && first.type === 'paragraph' && first.content.length === 0 && Object.keys(first.attrs).length === 0
}

/** Whether a page is blank: no block, or one paragraph without content. The paragraph may have an id or an alignment. [AG-24, AG-78] */
export function isBlankPage(tree: ProseTree): boolean {
  const [first] = tree
  return first === undefined || (tree.length === 1 && first.type === 'paragraph' && first.content.length === 0)
}

export function equalLists(a: readonly ProseNode[], b: readonly ProseNode[]): boolean {
  return a === b || (a.length === b.length && a.every((node, i) => equalNodes(node, b[i] as ProseNode)))
}

export function equalAttrs(a: ProseAttrs, b: ProseAttrs): boolean {
  if (a === b) return true
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => equalValues(a[name], b[name]))
}

export function equalValues(a: AttrValue | undefined, b: AttrValue | undefined): boolean {
  if (a === b) return true
  return typeof a === 'object' && typeof b === 'object' && a.length === b.length && a.every((value, i) => value === b[i])
}

/** Mark sets are kept in the order of the mark table, so they are compared in order. */
export function equalMarks(a: readonly ProseMark[], b: readonly ProseMark[]): boolean {
  if (a === b) return true
  return (
    a.length === b.length &&
    a.every((mark, i) => {
      const other = b[i] as ProseMark
      return (
        mark.type === other.type && mark.attrs['href'] === other.attrs['href'] && mark.attrs['color'] === other.attrs['color']
      )
    })
  )
}

/** Returns `given` when `list` has the same nodes (`===`) in the same order, so that an unchanged list keeps its identity; else `list`. */
export function sameList<T extends ProseNode>(given: readonly ProseNode[], list: readonly T[]): readonly T[] {
  return given.length === list.length && list.every((node, i) => node === given[i]) ? (given as readonly T[]) : list
}

/** Returns a node with this content; the node itself when its content is the same nodes (`===`). */
export function withContent(node: ProseElement, content: readonly ProseNode[]): ProseElement {
  return sameList(node.content, content) === node.content ? node : { ...node, content }
}
