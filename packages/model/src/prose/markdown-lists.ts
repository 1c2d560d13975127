import { writeInline } from './markdown-inline-writer.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** The greatest number that an item may have in Markdown. */
export const maxNumber = 999_999_999

export function isList(node: ProseElement): boolean {
  return node.type === 'bulletList' || node.type === 'orderedList' || node.type === 'taskList'
}

/** How the lists of one page are written. What holds for a list depends on all lists inside, so it is found out once. */
export class ListShapes {
  readonly #tight = new Map<ProseElement, boolean>()
  readonly #boxable = new Map<ProseElement, boolean>()

  /** What items are marked with, another one than that of a list before; `''` for a list that is written as HTML. */
  marker(list: ProseElement, before: string): string {
    if (list.type === 'taskList' && !this.#hasBoxes(list)) return ''
    if (list.type !== 'orderedList') return before === '-' ? '*' : '-'
    const start = Number(list.attrs['start'] ?? 1)
    if (list.attrs['type'] !== undefined || start < 0 || start > maxNumber) return ''
    return before === '.' ? ')' : '.'
  }

  /** Whether all items are one line each, but for lists below them that can follow their line directly. */
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

  /** Whether a list may interrupt a paragraph, and is tight itself. */
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
