import { writeInline } from './markdown-inline-writer.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** The largest number of a list item in Markdown. */
export const maxNumber = 999_999_999

export function isList(node: ProseElement): boolean {
  return node.type === 'bulletList' || node.type === 'orderedList' || node.type === 'taskList'
}

/** How the lists of one page are written. The form of a list depends on all lists inside it, so each form is computed once and kept. */
export class ListShapes {
  readonly #tight = new Map<ProseElement, boolean>()
  readonly #boxable = new Map<ProseElement, boolean>()

  /** The marker of a list's items, different from that of the list before it; `''` when the list is written as HTML. */
  marker(list: ProseElement, before: string): string {
    if (list.type === 'taskList' && !this.#hasBoxes(list)) return ''
    if (list.type !== 'orderedList') return before === '-' ? '*' : '-'
    const start = Number(list.attrs['start'] ?? 1)
    if (list.attrs['type'] !== undefined || start < 0 || start > maxNumber) return ''
    return before === '.' ? ')' : '.'
  }

  /** Whether every item is one line, optionally followed by one nested list that can follow directly. */
  isTight(list: ProseElement): boolean {
    return remembered(this.#tight, list, () =>
      (list.content as ProseTree).every((item) => {
        const [first, ...rest] = item.content as ProseTree
        if (rest.length === 0) return true
        return (
          first !== undefined && first.content.length > 0 && rest.length === 1 && rest.every((node) => this.#canFollowLine(node))
        )
      }),
    )
  }

  /** Whether a list may follow a paragraph's line directly and is itself tight. */
  #canFollowLine(list: ProseElement): boolean {
    if (!isList(list) || list.attrs['start'] !== undefined || this.marker(list, '') === '') return false
    const [item] = list.content as ProseTree
    const [first] = (item?.content ?? []) as ProseTree
    return first !== undefined && first.content.length > 0 && this.isTight(list)
  }

  #hasBoxes(list: ProseElement): boolean {
    return remembered(this.#boxable, list, () =>
      (list.content as ProseTree).every(({ content: [first] }) => first !== undefined && canBeBoxed(first)),
    )
  }
}

function remembered(known: Map<ProseElement, boolean>, list: ProseElement, find: () => boolean): boolean {
  const answer = known.get(list) ?? find()
  known.set(list, answer)
  return answer
}

function canBeBoxed(first: ProseNode): boolean {
  if (first.type !== 'paragraph' || first.attrs['textAlign'] !== undefined) return false
  return writeInline(first.content, { kind: 'boxed' }) !== undefined
}
