import type * as Y from 'yjs'

/**
 * Applies the moves, additions and removals between `before` and `after` to the live order. [YDOC-3]
 *
 * Ids that other clients moved since `before` stay where these clients put them. Only ids that this edit moved or added are placed, each
 * behind the id that it follows in `after`. Ids without a record (`has`) are not added back. When `live` equals `before`, the result is
 * `after`.
 */
export function mergeOrder(
  live: readonly string[],
  before: readonly string[],
  after: readonly string[],
  has: (id: string) => boolean,
): readonly string[] {
  const place = new Map(after.map((id, index) => [id, index]))
  const common = before.filter((id) => place.has(id))
  const steady = new Set(longestRise(common.map((id) => place.get(id) as number)).map((index) => common[index] as string))
  const known = new Set(before)
  const kept = live.filter((id) => !known.has(id) || steady.has(id))
  const fixed = new Set(kept)
  const chains = new Map<string | null, string[]>()
  let anchor: string | null = null
  for (const id of after) {
    if (fixed.has(id)) anchor = id
    else if (has(id)) pushTo(chains, anchor, id)
  }
  return [...(chains.get(null) ?? []), ...kept.flatMap((id) => [id, ...(chains.get(id) ?? [])])]
}

/**
 * Changes an order array to `target` with the fewest deletions and insertions. [YDOC-3] Ids in `removed` are deleted. Repeated ids and ids
 * without a record are left alone unless they are in the way. [YDOC-4]
 */
export function writeOrder(array: Y.Array<unknown>, target: readonly string[], removed: ReadonlySet<string>): void {
  const raw = array.toArray()
  const first = new Map<unknown, number>()
  for (const [index, id] of raw.entries()) if (!first.has(id)) first.set(id, index)
  const present = target.filter((id) => first.has(id))
  const steady = new Set(longestRise(present.map((id) => first.get(id) as number)).map((index) => present[index] as string))
  const unsteady = new Set<unknown>(present.filter((id) => !steady.has(id)))
  const inserts = new Map<number, string[]>()
  let anchor = -1
  for (const id of target) {
    if (steady.has(id)) anchor = first.get(id) as number
    else pushTo(inserts, anchor, id)
  }
  // The loop runs from the end, so that the indexes of the items before it stay valid.
  for (let index = raw.length - 1; index >= -1; index--) {
    const insert = inserts.get(index)
    if (insert !== undefined) array.insert(index + 1, insert)
    const doomed = (at: number): boolean => at >= 0 && (unsteady.has(raw[at]) || removed.has(raw[at] as string))
    if (!doomed(index)) continue
    const last = index
    while (doomed(index - 1) && !inserts.has(index - 1)) index--
    array.delete(index, last - index + 1)
  }
}

function pushTo<K>(lists: Map<K, string[]>, key: K, id: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [id])
  else list.push(id)
}

/** Returns the indexes of a longest strictly increasing subsequence, in order. */
export function longestRise(numbers: readonly number[]): readonly number[] {
  const tails: number[] = []
  const previous: number[] = []
  for (const [index, number] of numbers.entries()) {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[tails[middle] as number] as number) < number) low = middle + 1
      else high = middle
    }
    previous.push(low === 0 ? -1 : (tails[low - 1] as number))
    tails[low] = index
  }
  const rise: number[] = []
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] as number) rise.push(at)
  return rise.reverse()
}
