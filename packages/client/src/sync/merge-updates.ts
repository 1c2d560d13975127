import * as Y from 'yjs'

/** Returns one update with the content of all. `Y.mergeUpdates` is quadratic in the number of updates, so at most 200 are merged at a time. */
export function mergeInTurns(updates: readonly Uint8Array[]): Uint8Array {
  let rest = [...updates]
  while (rest.length > 1) {
    const merged: Uint8Array[] = []
    for (let i = 0; i < rest.length; i += 200) merged.push(Y.mergeUpdates(rest.slice(i, i + 200)))
    rest = merged
  }
  return rest[0] as Uint8Array
}
