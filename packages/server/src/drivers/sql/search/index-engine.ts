import { availableParallelism } from 'node:os'
import type { FindRequest, Found, IndexedRef, IndexedState } from '../../../search/search-index.port.ts'
import type { IndexRow } from './index-rows.ts'

/** Called between two batches, so that other work gets its turn. */
export type Pause = () => Promise<void>

/** Called when an index was created anew, so that it is empty: the index of one workspace, or the whole one for `null`. */
export type OnNew = (workspaceId: string | null) => void

/** Longest time of one batch of changes of an index. [AG-64] */
export const BATCH_MS = 5

/**
 * At most this many searches of one relay run on its database server at a time. Others wait, so that edits keep most of a small machine, which often
 * runs the server too. [AG-64]
 */
const MOST_AT_SERVER = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)))

/**
 * Returns how many searches run at a time in the store that a `[storage] url` names: one on SQLite, which searches in the thread that serves the
 * call.
 */
export function searchesAtOnce(url: string): number {
  return url.startsWith('sqlite:') ? 1 : MOST_AT_SERVER
}

/** The writing side of an index, in the thread that fills it. */
export interface IndexWriter {
  /** Returns the states in which the index holds documents of a workspace, by key. */
  states(workspaceId: string): Promise<ReadonlyMap<number, IndexedState>>
  /** Returns the state in which the index holds a document; `null` when it does not. */
  state(ref: IndexedRef): Promise<IndexedState | null>
  /** Returns the workspaces with documents in the index. */
  workspaces(): Promise<readonly string[]>
  /** Makes `rows` the rows of a document, in batches, and then records its state. */
  write(workspaceId: string, state: IndexedState, rows: readonly IndexRow[], pause: Pause): Promise<void>
  remove(workspaceId: string, key: number, pause: Pause): Promise<void>
  /** Removes the damaged index of one workspace. */
  forget(workspaceId: string): Promise<void>
  /** Removes the whole index. */
  clear(): Promise<void>
  close(): Promise<void>
}

export interface FoundInIndex extends Found {
  /** True when the index is damaged and must be created anew. */
  readonly isDamaged?: true
}

/** The reading side, in a thread of its own. */
export interface IndexReader {
  find(request: FindRequest): Promise<FoundInIndex>
  close(): Promise<void>
}
