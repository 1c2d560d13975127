import { availableParallelism } from 'node:os'
import type { FindRequest, Found, IndexedRef, IndexedState } from '../../../search/search-index.port.ts'
import type { IndexRow } from './index-rows.ts'

/** Called between two batches, so that other work gets its turn. */
export type Pause = () => Promise<void>

/** Called when an index was made anew: of one workspace, or of all. It is empty then. */
export type OnNew = (workspaceId: string | null) => void

/** Longest time of one batch of changes of an index. [AG-64] */
export const BATCH_MS = 5

/**
 * Searches of one relay that its database server works on at once. Others wait, so that edits keep most of a small machine, on which the
 * server often runs too. [AG-64]
 */
const MOST_AT_SERVER = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)))

/** How many searches are under way at once in the store that a `[storage] url` names. SQLite searches in the thread that was asked. */
export function searchesAtOnce(url: string): number {
  return url.startsWith('sqlite:') ? 1 : MOST_AT_SERVER
}

/** The writing side of an index, in the thread that fills it. */
export interface IndexWriter {
  /** The states of the documents that the index holds, by key. */
  states(workspaceId: string): Promise<ReadonlyMap<number, IndexedState>>
  /** The state in which the index holds a document; `null` when it does not. */
  state(ref: IndexedRef): Promise<IndexedState | null>
  /** The workspaces that the index holds documents of. */
  workspaces(): Promise<readonly string[]>
  /** Makes the rows of a document those of `rows`, in batches, and then notes its state. */
  write(workspaceId: string, state: IndexedState, rows: readonly IndexRow[], pause: Pause): Promise<void>
  remove(workspaceId: string, key: number, pause: Pause): Promise<void>
  /** Forgets one workspace, whose index is damaged. */
  forget(workspaceId: string): Promise<void>
  /** Forgets everything. */
  clear(): Promise<void>
  close(): Promise<void>
}

export interface FoundInIndex extends Found {
  /** The index must be made anew. */
  readonly isDamaged?: true
}

/** The reading side, in a thread of its own. */
export interface IndexReader {
  find(request: FindRequest): Promise<FoundInIndex>
  close(): Promise<void>
}
