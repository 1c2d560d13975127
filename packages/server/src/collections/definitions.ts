import type { CollectionDefinition } from '@docrelay/protocol/rest'
import { badEntry, checkName, type Entry, own, readBytes, readEntries } from './entries.ts'

const MAX_COLLECTIONS = 200
const MAX_COLOR_BYTES = 32
const DEFAULT_COLOR = '#808080'

/**
 * Returns collection definitions as they are stored: in their order, names trimmed, of repeated ids the first, unknown
 * members kept. Applying it twice changes nothing more. Throws BAD_COLLECTIONS. [REST-25, interface REST rule 5]
 */
export function healDefinitions(list: unknown): readonly CollectionDefinition[] {
  return readEntries(list, 'collections', MAX_COLLECTIONS)
    .map(readDefinition)
    .sort((a, b) => a.order - b.order)
}

function readDefinition({ index, given, id }: Entry): CollectionDefinition {
  const name = own(given, 'name')
  return {
    ...given,
    id,
    name: checkName(typeof name === 'string' ? name.trim() : name, index),
    color: own(given, 'color') === undefined ? DEFAULT_COLOR : readBytes(given, index, 'color', MAX_COLOR_BYTES),
    order: readOrder(own(given, 'order'), index),
  }
}

/** Reads the order of a definition; when absent, its index in the list that was sent. */
function readOrder(order: unknown, index: number): number {
  if (order === undefined) return index
  if (Number.isSafeInteger(order)) return order as number
  throw badEntry(index, 'order', 'is an integer')
}
