import { longestRising } from '../longest-rising.ts'
import type { Beside, Name, Place } from './change-set.ts'

/** The same thing in a list before and after: its index in both. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** An entry that is not where it was: `after` is -1 when it is gone. */
export interface Left extends Pair {
  readonly from: Place
  readonly now?: Beside
}

export interface ListChanges {
  /** Indexes after of what is new. */
  readonly created: readonly number[]
  /** What was removed or moved, in the order before. As few as possible count as moved. */
  readonly left: readonly Left[]
}

/** How many neighbours a place remembers on either side. */
const NEIGHBOURS = 3

/** Compares two lists. `pairs`: what both have. `name` names an entry of the list after. */
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

/** The pairs of entries that keep their order, as many as possible. */
function stayingOf(pairs: readonly Pair[]): readonly Pair[] {
  if (pairs.every(({ before }, i) => i === 0 || before > (pairs[i - 1] as Pair).before)) return pairs
  return longestRising(pairs, ({ before }) => before)
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index)
}

/** Something that goes back to where it stood. */
export interface Returning<T> {
  /** `null` when this entry is not put back, because somebody changed it since; the entries after it are put back all the same. */
  readonly item: T | null
  readonly from: Place
}

/**
 * Puts entries back beside their nearest former neighbours that still exist, else at the end. With nobody in between, the list is as
 * before. [AG-69] `entries` are in the order before; `find` returns the entry of the list with this name.
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
