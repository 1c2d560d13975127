import { openTaskPool } from '../../kernel/task-pool.ts'
import { contentOf, type ReadBody, type StoredContent } from './stored-content.ts'
import type { Connection } from './tables.ts'

/** The content of a long stored body, found before the transaction that keeps it: it holds for this version alone. */
export interface LongBody {
  readonly key: number
  readonly version: number
  readonly content: StoredContent | null
}

/** Looks into long stored bodies in a thread of its own, so that no other document's commit waits for it. [LIFE-8] */
export interface LongBodies extends AsyncDisposable {
  /** `null`: the body is short, or could not be looked into; the transaction does it itself. Never rejects. */
  look(document: { readonly key: number; readonly version: number; readonly sizeBytes: number }): Promise<LongBody | null>
}

export const LONG_BYTES = 1024 * 1024
const DEADLINE_MS = 30_000
/** Above, a thread has grown so large that it is worth starting anew. */
const ENDS_THREAD_BYTES = 16 * 1024 * 1024

export function openLongBodies(reader: Connection): LongBodies {
  const pool = openTaskPool<ReadBody, StoredContent | null>({
    entry: new URL('./stored-content-worker.ts', import.meta.url),
    size: 1,
    resourceLimits: { maxOldGenerationSizeMb: 2048 },
  })
  return {
    async look({ key, version, sizeBytes }) {
      if (sizeBytes < LONG_BYTES) return null
      const row = await readBody(reader, key).catch(() => undefined)
      if (row === undefined || row.version !== version) return null
      // A copy: what the engine gave may be a view on memory that is not ours to move.
      const task = { key, body: new Uint8Array(row.body), crc32: row.crc32 }
      const endsThread = sizeBytes > ENDS_THREAD_BYTES
      const outcome = await pool.run({ task, transfer: [task.body.buffer], deadlineMs: DEADLINE_MS, endsThread })
      return outcome.kind === 'done' ? { key, version, content: outcome.result } : null
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** The content of a document's stored body, now and here; `null`: it is damaged or missing. */
export async function storedContent(db: Connection, key: number): Promise<StoredContent | null> {
  const row = await db.selectFrom('bodies').select(['body', 'crc32']).where('key', '=', key).executeTakeFirst()
  return row === undefined ? null : contentOf({ key, ...row })
}

/** Body and version of one moment. */
function readBody(reader: Connection, key: number) {
  return reader
    .selectFrom('bodies')
    .innerJoin('documents', 'documents.key', 'bodies.key')
    .select(['bodies.body', 'bodies.crc32', 'documents.version'])
    .where('bodies.key', '=', key)
    .executeTakeFirst()
}
