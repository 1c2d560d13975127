import { createHash } from 'node:crypto'
import type { DocumentBody } from '@docrelay/model/body'
import { PLACE_CLASSES } from '@docrelay/model/search/ranking'
import { rowWords, textsOf } from '@docrelay/model/search/texts'

/** Raised when rows of an older release would give other answers. An index of another format is built again. [AG-64] */
export const INDEX_FORMAT = '1'

/** One text of a document: its words, separated by spaces. */
export interface IndexRow {
  readonly placeClass: number
  readonly words: string
  /** Hash of the words, which distinguishes rows with different words. */
  readonly hash: number
}

export function indexRows(body: DocumentBody): readonly IndexRow[] {
  return textsOf(body).texts.flatMap(({ placeClass, text }) => {
    const words = rowWords(text).words.join(' ')
    if (words === '') return []
    return [{ placeClass: PLACE_CLASSES.indexOf(placeClass), words, hash: hashOf(words) }]
  })
}

/** Returns the first 48 bits of the MD5 of the words. */
export function hashOf(words: string | Uint8Array): number {
  return createHash('md5').update(words).digest().readUIntBE(0, 6)
}

/** Number of bits of a row id that number the rows of one document and class. With the class and the key they fill the 53 bits of a safe integer. */
export const SLOT_BITS = 20
const SLOTS = 2 ** SLOT_BITS
const CLASSES = 4

/** Returns the id of a row. The id contains document and class, so that a search needs no look into another table. */
export function rowId(key: number, placeClass: number, slot: number): number {
  return (key * CLASSES + placeClass) * SLOTS + slot
}

/** Returns the first and the last id that rows of a document may have. */
export function rowRange(key: number): { readonly first: number; readonly last: number } {
  return { first: rowId(key, 0, 0), last: rowId(key, CLASSES - 1, SLOTS - 1) }
}

/** Returns the document key and class in a row id as one number: `key * 4 + class`. */
export function keyAndClass(id: number): number {
  return Math.floor(id / SLOTS)
}

export interface StoredRow {
  readonly id: number
  readonly hash: number
}

export interface RowPlan<Row> {
  readonly remove: readonly number[]
  readonly add: readonly (Row & { readonly id: number })[]
}

/**
 * Returns the rows to remove and to add so that a document has the `wanted` rows. A row with the same words and class stays, also when its text has
 * moved. [AG-64]
 */
export function planRows<Row extends Pick<IndexRow, 'placeClass' | 'hash'>>(
  key: number,
  stored: readonly StoredRow[],
  wanted: readonly Row[],
): RowPlan<Row> {
  const left = new Map<string, number[]>()
  const taken = new Set<number>()
  for (const { id, hash } of stored) {
    taken.add(id)
    const name = `${keyAndClass(id)} ${hash}`
    const ids = left.get(name)
    if (ids === undefined) left.set(name, [id])
    else ids.push(id)
  }
  const missing = wanted.filter((row) => {
    const ids = left.get(`${key * CLASSES + row.placeClass} ${row.hash}`)
    return ids === undefined || ids.pop() === undefined
  })
  const slots = new Array<number>(CLASSES).fill(0)
  const add: (Row & { readonly id: number })[] = []
  for (const row of missing) {
    let slot = slots[row.placeClass] ?? 0
    while (slot < SLOTS && taken.has(rowId(key, row.placeClass, slot))) slot++
    slots[row.placeClass] = slot + 1
    if (slot < SLOTS) add.push({ ...row, id: rowId(key, row.placeClass, slot) })
  }
  return { remove: [...left.values()].flat(), add }
}
