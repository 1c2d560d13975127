import type { CharId } from './block-text.ts'
import type { Removal } from './removal.ts'

/** A `Spot` as plain data, with numbers and names instead of objects. */
export type NotedSpot =
  | { readonly kind: 'block'; readonly number: number; readonly offset: number }
  | { readonly kind: 'word'; readonly word: CharId; readonly behind: number }

/** One note about removed blocks. Blocks have numbers that grow in the order of the notes. */
export type Note =
  | { readonly kind: 'removed'; readonly number: number; readonly removal: Removal }
  /** Characters that came late, or a node when there is a `type`. `type.number` is the number that the next remembered block gets. */
  | ({
      readonly kind: 'came'
      readonly length: number
      readonly text: string
      readonly at: NotedSpot
      readonly type?: { readonly isBlock: boolean; readonly number: number }
    } & CharId)
  /** Letters that Enter only moved from the removed block `number` into a new block. Older releases ignore this note. */
  | ({ readonly kind: 'moved'; readonly length: number; readonly number: number; readonly offset: number } & CharId)
  | { readonly kind: 'placed'; readonly word: CharId; readonly target: CharId }
  | { readonly kind: 'replaced'; readonly number: number; readonly element: CharId }

/** The maximum length of the stored notes of one record, in characters. Further notes are not stored and are lost with this process. */
const MOST_NOTED = 1_048_576

/** Writes notes as text to be stored, one JSON line each. */
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

/** Reads the notes from a text that `writeNotes` has written. */
export function readNotes(text: string): readonly Note[] {
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Note)
}
