import { longestRising } from '../longest-rising.ts'
import type { Beside, Name, Place } from './change-set.ts'

/** An entry that a list has both before and after a write: its two indexes. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** An entry that left its place: `after` is -1 when it was removed, else the index of the moved entry. */
export interface Left extends Pair {
  readonly from: Place
  readonly now?: Beside
}

export interface ListChanges {
  /** Indexes of the new entries in the list after the write. */
  readonly created: readonly number[]
  /** Removed and moved entries, in the order before the write. As few entries as possible count as moved. */
  readonly left: readonly Left[]
}

/** A `Place` names at most this many neighbours on either side. */
const NEIGHBOURS = 3

/** Compares a list before and after a write. `pairs` are the entries in both lists, in the order after the write; `name` names an entry after the write. */
export function listChanges(
  lengths: { readonly before: number; readonly after: number },
  pairs: readonly Pair[],
  name: (after: number) => Name,
): ListChanges {
  const paired = new Set(pairs.map(({ after }) => after))
  const created = range(lengths.after).filter((index) => !paired.has(index))
  const staying = stayingOf(pairs)
  if (staying.length === lengths.before) return { created, left: [] }
  const afterOf = new Map(pairs.map(({ before, after }) => [before, after]))
  const isStaying = new Set(staying.map(({ before }) => before))
  const names = (from: number, to: number) => staying.slice(Math.max(0, from), to).map(({ after }) => name(after))
  const left: Left[] = []
  let stayed = 0
  for (const before of range(lengths.before)) {
    if (isStaying.has(before)) {
      stayed++
      continue
    }
    const isJoined = before > 0 && !isStaying.has(before - 1)
    const after = afterOf.get(before) ?? -1
    const from: Place = isJoined
      ? { joined: true }
      : { behind: names(stayed - NEIGHBOURS, stayed).reverse(), ahead: names(stayed, stayed + NEIGHBOURS) }
    const now =
      after < 0 ? {} : { now: [after === 0 ? '' : name(after - 1), after + 1 === lengths.after ? '' : name(after + 1)] as const }
    left.push({ before, after, from, ...now })
  }
  return { created, left }
}

/** Returns as many pairs as possible whose entries have the same order before and after. */
function stayingOf(pairs: readonly Pair[]): readonly Pair[] {
  if (pairs.every(({ before }, i) => i === 0 || before > (pairs[i - 1] as Pair).before)) return pairs
  return longestRising(pairs, ({ before }) => before)
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index)
}

/** An entry that an undo puts back at its former place. */
export interface Returning<T> {
  /** `null` when the entry is not put back because somebody changed it since. The entries after this one are put back all the same. */
  readonly item: T | null
  readonly from: Place
}

/**
 * Puts entries back beside their nearest former neighbour that still exists, else at the end of the list. When nobody else changed the list,
 * the result is the list before the call. [AG-69] `entries` are in their order before the call; `find` returns the entry with a name.
 */
export function returned<T extends object>(
  list: readonly T[],
  entries: readonly Returning<T>[],
  find: (name: Name) => T | undefined,
): readonly T[] {
  const result = [...list]
  let head: Place = {}
  let previous: T | null = null
  for (const { item, from } of entries) {
    if (from.joined !== true) {
      head = from
      previous = null
    }
    if (item === null) continue
    result.splice(previous === null ? placeOf(result, head, find) : result.indexOf(previous) + 1, 0, item)
    previous = item
  }
  return result
}

function placeOf<T extends object>(
  list: readonly T[],
  { behind = [], ahead = [] }: Place,
  find: (name: Name) => T | undefined,
): number {
  for (let i = 0; i < NEIGHBOURS; i++) {
    const [before, after] = [indexOf(list, behind[i], find), indexOf(list, ahead[i], find)]
    if (before >= 0) return before + 1
    if (after >= 0) return after
  }
  return list.length
}

function indexOf<T extends object>(list: readonly T[], name: Name | undefined, find: (name: Name) => T | undefined): number {
  const found = name === undefined ? undefined : find(name)
  return found === undefined ? -1 : list.indexOf(found)
}
