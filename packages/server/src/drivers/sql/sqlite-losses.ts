import { closeSync, constants, copyFileSync, existsSync, fstatSync, fsyncSync, openSync, readSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StoreLoss } from './store-loss.ts'
import { lossByMark, type MarkedStore, readMark } from './store-mark.ts'
import { inspectWal, type WalFinding, type WalTail } from './wal-frames.ts'

const BUSY_TIMEOUT_MS = 5000

/** Names in `store_facts` of the two values of the store's own mark. */
export const STORE_ID = 'store-id'
export const STORE_MARK = 'mark'

/**
 * Lists acknowledged writes that the store at `path` has visibly lost. Only reads. May be called while a relay runs: the log may be in the middle of
 * a write, so it counts as damaged only when a second look gives the same result.
 */
export function sqliteLosses(path: string): readonly StoreLoss[] {
  const losses: StoreLoss[] = []
  const log = damageOfLog(`${path}-wal`)
  if (log !== null) losses.push(log)
  const byMark = lossByMarkOf(path)
  if (byMark !== null) losses.push(byMark)
  return losses
}

/** Compares the store at `path` with the mark beside it. Does not open the store when there is no mark. */
export function lossByMarkOf(path: string): StoreLoss | null {
  const mark = readMark(path)
  return mark === null ? null : lossByMark(mark, markedStore(path))
}

/**
 * Returns the unreadable end of the log that an earlier process left. A crash during a commit leaves such an end, and that commit was acknowledged to
 * nobody. Damage within the last transaction looks the same, so the start logs a warning. [LIFE-5]
 */
export function unreadTailOf(path: string): WalTail | null {
  const finding = inspectFile(`${path}-wal`)
  return finding.kind === 'sound' ? finding.tail : null
}

function damageOfLog(path: string): StoreLoss | null {
  const first = inspectFile(path)
  if (first.kind === 'sound') return null
  const second = inspectFile(path)
  if (second.kind === 'sound' || second.frame !== first.frame || second.salts !== first.salts) return null
  const { frame, offset, laterCommits } = second
  const where = frame === 0 ? 'in its header' : `at frame ${frame} (byte ${offset})`
  return {
    kind: 'log',
    detail:
      `its write-ahead log is damaged ${where}, and ${laterCommits === 1 ? 'a later transaction' : `${laterCommits} later transactions`} ` +
      'behind it had been flushed: what was written from there on cannot be read',
  }
}

function inspectFile(path: string): (WalFinding & { kind: 'sound' }) | (WalFinding & { kind: 'damaged'; salts: string }) {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'sound', tail: null }
    throw error
  }
  try {
    const read = (offset: number, length: number) => {
      const bytes = new Uint8Array(length)
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
    }
    const finding = inspectWal({ size: fstatSync(file).size, read })
    return finding.kind === 'sound' ? finding : { ...finding, salts: Buffer.from(read(16, 8)).toString('hex') }
  } finally {
    closeSync(file)
  }
}

function markedStore(path: string): MarkedStore {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return { kind: 'none' }
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    return storedMark(db)
  } catch {
    // The error is ignored here, because opening the store later reports what is wrong with it.
    return { kind: 'store', store: null, number: Number.MAX_SAFE_INTEGER }
  } finally {
    db?.close()
  }
}

/** Reads the mark that is stored inside the store. */
export function storedMark(db: DatabaseSync): MarkedStore & { kind: 'store' } {
  const value = (name: string): string | null => {
    const row = db.prepare('select value from store_facts where name = ?').get(name)
    return row === undefined ? null : String(row['value'])
  }
  if (!hasFacts(db)) return { kind: 'store', store: null, number: null }
  const number = value(STORE_MARK)
  return { kind: 'store', store: value(STORE_ID), number: number === null ? null : Number(number) }
}

export function hasFacts(db: DatabaseSync): boolean {
  return db.prepare("select 1 from sqlite_schema where type = 'table' and name = 'store_facts'").get() !== undefined
}

/** Copies a damaged log for later inspection. The copy is durable when this returns. */
export function keepDamagedLog(path: string): string {
  for (let number = 1; ; number++) {
    const copy = `${path}-wal.damaged-${number}`
    if (existsSync(copy)) continue
    copyFileSync(`${path}-wal`, copy, constants.COPYFILE_EXCL)
    flush(copy)
    return copy
  }
}

/**
 * Flushes a log that an earlier process left. Its last writes may be only in memory. They are about to be read and relied on, so they must survive a
 * power cut.
 */
export function flushLeftLog(path: string): void {
  if (existsSync(`${path}-wal`)) flush(`${path}-wal`)
}

function flush(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
