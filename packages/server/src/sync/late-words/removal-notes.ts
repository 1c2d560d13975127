import type { CharId } from './block-text.ts'
import type { Removal } from './removal.ts'

/** Where a character stood, with numbers and names in the place of objects. */
export type NotedSpot =
  | { readonly kind: 'block'; readonly number: number; readonly offset: number }
  | { readonly kind: 'word'; readonly word: CharId; readonly behind: number }

/** One thing that a room remembers of removed blocks. Blocks are told apart by numbers that grow in the order of the notes. */
export type Note =
  | { readonly kind: 'removed'; readonly number: number; readonly removal: Removal }
  /** Characters that came late, or with `type` a node; `number` is the one that the next block gets. */
  | ({
      readonly kind: 'came'
      readonly length: number
      readonly text: string
      readonly at: NotedSpot
      readonly type?: { readonly isBlock: boolean; readonly number: number }
    } & CharId)
  /** Letters that came for a new block and that stand in a removed one already, as the half that Enter moved. Older releases pass this over. */
  | ({ readonly kind: 'moved'; readonly length: number; readonly number: number; readonly offset: number } & CharId)
  | { readonly kind: 'placed'; readonly word: CharId; readonly target: CharId }
  | { readonly kind: 'replaced'; readonly number: number; readonly element: CharId }

/** The notes of one record are not longer than this, in characters; the rest is remembered by the process only. */
const MOST_NOTED = 1_048_576

/** Notes as text to be stored. */
export function writeNotes(notes: readonly Note[]): string {
  const lines: string[] = []
  let length = 0
  for (const note of notes) {
    const line = JSON.stringify(note)
    if (length + line.length >= MOST_NOTED) continue
    length += line.length + 1
    lines.push(line)
  }
  return lines.join('\n')
}

/** The notes that `writeNotes` wrote. */
export function readNotes(text: string): readonly Note[] {
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Note)
}
