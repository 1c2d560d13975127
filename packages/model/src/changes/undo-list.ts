import type { Changer } from '../seen/seen.ts'
import type { Beside, Place } from './change-set.ts'
import { returned, type Returning } from './sequence.ts'

/** A part that the undo leaves as it is, because somebody changed it since. [AG-70] */
export interface Kept {
  readonly id: string
  readonly text: string
  /** Who changed the part last; absent when unknown. [AG-21] */
  readonly changedBy?: Changer
  /** The document does not have the part any more. The answer leaves this member out; a warning may say so instead. */
  readonly isGone?: true
}

interface ListEntry {
  readonly id: string
  readonly after?: number
  readonly from?: Place
  readonly now?: Beside
}

interface Listed {
  readonly id: string
}

/** The present list, the entries of the record, and the functions with which an undo compares both. */
export interface ListRules<T extends Listed, E extends ListEntry> {
  readonly list: readonly T[]
  readonly entries: readonly E[]
  hash(item: T): number
  text(item: T): string
  /** Returns the item that the call removed. */
  restored(entry: E): T
  /** Whether the undo may remove a new item that nobody changed. `remaining` is how many items would be left. */
  mayGo?(item: T, remaining: number): boolean
}

/** Removes the items that the call created, and puts back the items that the call removed or moved. Changes inside an item are ignored. [AG-69, AG-70] */
export function undoList<T extends Listed, E extends ListEntry>(
  { list, entries, hash, text, restored, mayGo = () => true }: ListRules<T, E>,
  kept: Kept[],
): readonly T[] {
  const present = new Map(list.map((item) => [item.id, item]))
  const gone = new Set<T>()
  const returning: Returning<T>[] = []
  for (const entry of entries) {
    const item = present.get(entry.id)
    if (entry.from === undefined) {
      if (item === undefined || entry.after === undefined || 'before' in entry || 'members' in entry) continue
      if (hash(item) === entry.after && mayGo(item, list.length - gone.size - 1)) gone.add(item)
      else kept.push({ id: entry.id, text: text(item) })
    } else if (entry.after === undefined) {
      returning.push({ item: item === undefined ? restored(entry) : null, from: entry.from })
      if (item !== undefined) kept.push({ id: entry.id, text: text(item) })
    } else {
      const isThere = item !== undefined && isWhereItWas(list, item, entry.now)
      returning.push({ item: isThere ? item : null, from: entry.from })
      if (item !== undefined && !isThere) kept.push({ id: entry.id, text: text(item) })
      if (isThere) gone.add(item)
    }
  }
  if (gone.size === 0 && returning.every(({ item }) => item === null)) return list
  const left = list.filter((item) => !gone.has(item))
  return returned(left, returning, (name) => present.get(name))
}

/** Whether an item still has one of the neighbours that the call gave it. An item without any of them was moved again since. */
function isWhereItWas<T extends Listed>(list: readonly T[], item: T, now: Beside | undefined): boolean {
  const index = list.indexOf(item)
  return (list[index - 1]?.id ?? '') === now?.[0] || (list[index + 1]?.id ?? '') === now?.[1]
}
