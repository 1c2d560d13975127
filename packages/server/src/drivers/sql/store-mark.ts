import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { StoreLoss } from './store-loss.ts'

/**
 * A mark in a file beside a SQLite store, by which lost writes are noticed. The store itself holds the same two values, in a transaction that was
 * flushed before the file was written. So a store with a lower number has lost that transaction and everything after it. [LIFE-5]
 *
 * The file is written at the start, after each checkpoint, and at a clean stop. While a relay runs, the newest number is in the write-ahead log and
 * not yet in the main file: a missing log is noticed because the main file has a lower number.
 */
export interface StoreMark {
  /** Random id of the store, assigned once. */
  readonly store: string
  /** Incremented with each mark. */
  readonly number: number
}

/** The mark inside a store; its members are `null` when the store has none. */
export type MarkedStore =
  | { readonly kind: 'none' }
  | { readonly kind: 'store'; readonly store: string | null; readonly number: number | null }

export function markPathOf(path: string): string {
  return `${path}.mark`
}

/** Compares a store with the mark beside it. Returns `null` when nothing is known to be lost, for example without a mark. */
export function lossByMark(mark: StoreMark | null, found: MarkedStore): StoreLoss | null {
  if (mark === null) return null
  if (found.kind === 'none') {
    return { kind: 'missing', detail: 'it is missing, and the mark beside it says that there was one' }
  }
  if (found.store !== null && found.store !== mark.store) {
    return { kind: 'replaced', detail: `it is another store than the one that the mark beside it was written for` }
  }
  const number = found.number ?? 0
  if (number >= mark.number) return null
  return {
    kind: 'older',
    detail: `it is older than the mark beside it (the store has mark ${number}, the file ${mark.number}): a former copy was put in its place, or its write-ahead log is gone`,
  }
}

/**
 * Reads the mark beside the store at `path`. Returns `null` when the file is missing or holds no valid mark; then nothing can be concluded. Throws
 * when the file cannot be read.
 */
export function readMark(path: string): StoreMark | null {
  try {
    return parseMark(readFileSync(markPathOf(path), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`cannot read the mark ${markPathOf(path)}: ${(error as Error).message}`, { cause: error })
  }
}

/** Writes the mark. Durable when it returns. After a crash or power cut the file has either the previous mark or this one. */
export function writeMark(path: string, mark: StoreMark): void {
  const target = markPathOf(path)
  const temporary = `${target}.new`
  const file = openSync(temporary, 'w', 0o600)
  try {
    writeSync(file, markText(mark))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, target)
  const folder = openSync(dirname(target), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

export function removeMark(path: string): void {
  rmSync(markPathOf(path), { force: true })
}

export function markText({ store, number }: StoreMark): string {
  const values = JSON.stringify({ store, number })
  return `${values} ${crc32(values)}\n`
}

export function parseMark(text: string): StoreMark | null {
  const [, values = '', sum] = /^(\{.*\}) (\d+)\n$/.exec(text) ?? []
  if (sum === undefined || crc32(values) !== Number(sum)) return null
  const { store, number } = JSON.parse(values) as StoreMark
  return typeof store === 'string' && Number.isSafeInteger(number) ? { store, number } : null
}
