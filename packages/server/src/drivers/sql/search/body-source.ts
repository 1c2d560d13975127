import { readStoredBody } from '@docrelay/model/body-parse'
import type { IndexedRef, IndexedState } from '../../../search/search-index.port.ts'
import { bodyChecksum } from '../checksum.ts'
import { originalText, storedText } from '../stored-text.ts'
import type { Connection } from '../tables.ts'
import { type IndexRow, indexRows } from './index-rows.ts'

/** Reads the stored bodies from which an index is filled. */
export interface BodySource {
  workspaces(): Promise<readonly string[]>
  states(workspaceId: string): Promise<readonly IndexedState[]>
  /** Returns the stored state of a document; `null` when the document no longer exists. */
  state(ref: IndexedRef): Promise<IndexedState | null>
  /** Returns the state of a document and the rows of its body; `null` when the document no longer exists. A body that cannot be read has no rows. */
  rows(
    ref: IndexedRef,
  ): Promise<{ readonly state: IndexedState; readonly rows: readonly IndexRow[]; readonly isReadable: boolean } | null>
}

export function bodySource(db: Connection): BodySource {
  return {
    async workspaces() {
      const rows = await db.selectFrom('documents').select('workspace_id').distinct().orderBy('workspace_id').execute()
      return rows.map(({ workspace_id }) => originalText(workspace_id))
    },
    async states(workspaceId) {
      const rows = await db
        .selectFrom('documents')
        .innerJoin('log_heads', 'log_heads.key', 'documents.key')
        .select(['documents.key', 'version', 'updated_at_ms', 'covered_seq'])
        .where('workspace_id', '=', storedText(workspaceId))
        .orderBy('updated_at_ms', 'desc')
        .execute()
      return rows.map(stateOf)
    },
    async state({ workspaceId, key }) {
      const row = await db
        .selectFrom('documents')
        .innerJoin('log_heads', 'log_heads.key', 'documents.key')
        .select(['documents.key', 'version', 'updated_at_ms', 'covered_seq'])
        .where('documents.key', '=', key)
        .where('workspace_id', '=', storedText(workspaceId))
        .executeTakeFirst()
      return row === undefined ? null : stateOf(row)
    },
    async rows({ workspaceId, key }) {
      const row = await db
        .selectFrom('documents')
        .innerJoin('log_heads', 'log_heads.key', 'documents.key')
        .leftJoin('bodies', 'bodies.key', 'documents.key')
        .select(['documents.key', 'version', 'updated_at_ms', 'covered_seq', 'body', 'bodies.crc32 as body_crc32'])
        .where('documents.key', '=', key)
        .where('workspace_id', '=', storedText(workspaceId))
        .executeTakeFirst()
      if (row === undefined) return null
      const state = stateOf(row)
      try {
        if (row.body === null || bodyChecksum(key, row.body) !== row.body_crc32) return { state, rows: [], isReadable: false }
        return { state, rows: indexRows(readStoredBody(row.body)), isReadable: true }
      } catch {
        return { state, rows: [], isReadable: false }
      }
    },
  }
}

function stateOf(row: {
  readonly key: number
  readonly version: number
  readonly updated_at_ms: number
  readonly covered_seq: number
}): IndexedState {
  return { key: row.key, version: row.version, updatedAtMs: row.updated_at_ms, coveredSeq: row.covered_seq }
}
