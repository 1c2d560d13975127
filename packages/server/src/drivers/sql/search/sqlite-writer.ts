import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexedState } from '../../../search/search-index.port.ts'
import { makeFolder } from '../../../kernel/folders.ts'
import { systemTimers, type Timers } from '../../../kernel/timers.ts'
import { BATCH_MS, type IndexWriter, type OnNew, type Pause } from './index-engine.ts'
import { planRows, rowRange, type StoredRow } from './index-rows.ts'
import {
  identityOf,
  type IndexFile,
  indexFolder,
  indexPath,
  isDamage,
  openToWrite,
  removeIndex,
  workspaceOf,
} from './sqlite-index-file.ts'

/** Changes of one batch may take half of its time, because the commit takes time too. */
const ROWS_MS = BATCH_MS / 2
/**
 * At most this many index files are open. Opening and closing a file takes as long as indexing five documents, and a document in which people type is
 * indexed every few seconds. So the file of a workspace stays open while its documents change. An open file takes about 200 KB of memory and three
 * file descriptors. When documents of more workspaces change, they usually change in turn, so the file that was used longest ago is the one that is
 * needed next. Therefore the file that was used just before is closed instead.
 */
const OPEN_FILES = 512
const IDLE_MS = 60_000

interface OpenIndex {
  readonly file: IndexFile
  readonly identity: string | null
  /** Number of calls that use the file now. */
  uses: number
  /** True when no call has used the file since the last sweep. */
  isIdle: boolean
}

export function openSqliteWriter(
  storePath: string,
  nowMs: () => number,
  onNew: OnNew,
  timers: Timers = systemTimers,
  mostOpen = OPEN_FILES,
): IndexWriter {
  const folder = indexFolder(storePath)
  makeFolder(folder, 0o700)
  /** The open files by workspace. */
  const open = new Map<string, OpenIndex>()
  /** The workspace whose file was used last. */
  let lastUsed = ''
  let cancelSweep: (() => void) | null = null

  function close(workspaceId: string): void {
    open.get(workspaceId)?.file.db.close()
    open.delete(workspaceId)
  }

  function opened(path: string, workspaceId: string): OpenIndex {
    makeFolder(folder, 0o700)
    const { file, isNew } = openToWrite(path, workspaceId)
    if (isNew) onNew(workspaceId)
    return { file, identity: identityOf(path), uses: 0, isIdle: false }
  }

  /** Schedules a sweep every minute while a file is open. A sweep closes the files that were not used since the sweep before. */
  function closeIdleLater(): void {
    cancelSweep ??= timers.after(IDLE_MS, () => {
      cancelSweep = null
      for (const [workspaceId, entry] of [...open]) {
        if (entry.isIdle && entry.uses === 0) close(workspaceId)
        entry.isIdle = true
      }
      if (open.size > 0) closeIdleLater()
    })
  }

  /** Returns the open index of a workspace. When somebody has removed its file, creates a new one, so that the index is built again. */
  function indexOf(workspaceId: string): OpenIndex {
    const path = indexPath(folder, workspaceId)
    const known = open.get(workspaceId)
    if (known !== undefined && known.identity !== identityOf(path)) close(workspaceId)
    if (!open.has(workspaceId) && open.size >= mostOpen && open.get(lastUsed)?.uses === 0) close(lastUsed)
    const entry = open.get(workspaceId) ?? opened(path, workspaceId)
    open.set(workspaceId, entry)
    lastUsed = workspaceId
    entry.isIdle = false
    closeIdleLater()
    return entry
  }

  async function using<T>(workspaceId: string, work: (file: IndexFile) => Promise<T> | T): Promise<T> {
    const entry = indexOf(workspaceId)
    entry.uses++
    try {
      return await work(entry.file)
    } finally {
      entry.uses--
    }
  }

  /** Runs `work` on the index of a workspace. A damaged index is created anew, and `work` runs again on the empty one. */
  async function mended<T>(workspaceId: string, work: (file: IndexFile) => Promise<T> | T): Promise<T> {
    try {
      return await using(workspaceId, work)
    } catch (error) {
      if (!isDamage(error)) throw error
      close(workspaceId)
      removeIndex(indexPath(folder, workspaceId))
      return using(workspaceId, work)
    }
  }

  /** Runs the steps in transactions of a few milliseconds each. */
  async function inBatches(file: IndexFile, steps: Iterable<() => void>, pause: Pause): Promise<void> {
    let endsMs = 0
    for (const step of steps) {
      if (!file.db.isTransaction) {
        file.db.exec('begin immediate')
        endsMs = nowMs() + ROWS_MS
      }
      try {
        step()
      } catch (error) {
        if (file.db.isTransaction) file.db.exec('rollback')
        throw error
      }
      if (nowMs() < endsMs) continue
      file.db.exec('commit')
      await pause()
    }
    if (file.db.isTransaction) file.db.exec('commit')
  }

  const rowsOf = (file: IndexFile, key: number): readonly StoredRow[] => {
    const { first, last } = rowRange(key)
    const rows = file.statement('select id, hash from rows where id between ? and ?').all(first, last)
    return (rows as unknown as readonly [number, number][]).map(([id, hash]) => ({ id, hash }))
  }

  function* removals(file: IndexFile, ids: readonly number[]): Generator<() => void> {
    for (const id of ids)
      yield () => {
        file.statement('delete from texts where rowid = ?').run(id)
        file.statement('delete from rows where id = ?').run(id)
      }
  }

  return {
    states: (workspaceId) =>
      mended(workspaceId, (file) => {
        const rows = file.statement('select key, version, updated_at_ms, covered_seq from documents').all()
        const states = (rows as unknown as readonly [number, number, number, number][]).map(
          ([key, version, updatedAtMs, coveredSeq]): [number, IndexedState] => [key, { key, version, updatedAtMs, coveredSeq }],
        )
        return new Map(states)
      }),
    state: ({ workspaceId, key }) =>
      mended(workspaceId, (file) => {
        const row = file.statement('select version, updated_at_ms, covered_seq from documents where key = ?').get(key)
        if (row === undefined) return null
        const [version, updatedAtMs, coveredSeq] = row as unknown as [number, number, number]
        return { key, version, updatedAtMs, coveredSeq }
      }),
    workspaces: () =>
      Promise.resolve(
        namesIn(folder)
          .filter((name) => name.endsWith('.db'))
          .flatMap((name) => workspaceOf(join(folder, name)) ?? []),
      ),
    write: (workspaceId, { key, version, updatedAtMs, coveredSeq }, rows, pause) =>
      mended(workspaceId, async (file) => {
        const plan = planRows(key, rowsOf(file, key), rows)
        function* steps(): Generator<() => void> {
          yield* removals(file, plan.remove)
          for (const { id, hash, words } of plan.add)
            yield () => {
              file.statement('insert into texts (rowid, words) values (?, ?)').run(id, words)
              file.statement('insert into rows (id, hash) values (?, ?)').run(id, hash)
            }
          yield () => {
            const text = 'insert or replace into documents (key, version, updated_at_ms, covered_seq) values (?, ?, ?, ?)'
            file.statement(text).run(key, version, updatedAtMs, coveredSeq)
          }
        }
        await inBatches(file, steps(), pause)
      }),
    remove: (workspaceId, key, pause) =>
      mended(workspaceId, async (file) => {
        function* steps(): Generator<() => void> {
          yield () => file.statement('delete from documents where key = ?').run(key)
          yield* removals(
            file,
            rowsOf(file, key).map(({ id }) => id),
          )
        }
        await inBatches(file, steps(), pause)
      }),
    async forget(workspaceId) {
      close(workspaceId)
      removeIndex(indexPath(folder, workspaceId))
    },
    async clear() {
      for (const workspaceId of [...open.keys()]) close(workspaceId)
      for (const name of namesIn(folder)) if (name.endsWith('.db')) removeIndex(join(folder, name))
    },
    async close() {
      cancelSweep?.()
      for (const workspaceId of [...open.keys()]) close(workspaceId)
    },
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
