import { openTaskPool } from '../../kernel/task-pool.ts'
import { contentOf, type ReadBody, type StoredContent } from './stored-content.ts'
import type { Connection } from './tables.ts'

/**
 * The content of a long stored body, read before the transaction that keeps it as a point. The content is valid while the stored checksum is the
 * same, because a body may also be replaced within a version.
 */
export interface LongBody {
  readonly key: number
  readonly crc32: number
  readonly content: StoredContent | null
}

/** Reads long stored bodies in a separate thread, so that commits of other documents do not wait for this. [LIFE-8] */
export interface LongBodies extends AsyncDisposable {
  /**
   * Returns the content of a long body. Returns `null` when the body is short or cannot be read; the transaction then reads it itself. Never rejects.
   */
  look(document: { readonly key: number; readonly version: number; readonly sizeBytes: number }): Promise<LongBody | null>
}

export const LONG_BYTES = 1024 * 1024
const DEADLINE_MS = 30_000
/** After a body longer than this the thread uses so much memory that a new thread replaces it. */
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
      // Copies the bytes, since the engine's buffer may be a view on memory that must not be transferred.
      const task = { key, body: new Uint8Array(row.body), crc32: row.crc32 }
      const endsThread = sizeBytes > ENDS_THREAD_BYTES
      const outcome = await pool.run({ task, transfer: [task.body.buffer], deadlineMs: DEADLINE_MS, endsThread })
      return outcome.kind === 'done' ? { key, crc32: row.crc32, content: outcome.result } : null
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Whether the body that was read before is still the stored body. */
export async function isStillStored(db: Connection, { key, crc32 }: LongBody): Promise<boolean> {
  const row = await db.selectFrom('bodies').select('crc32').where('key', '=', key).executeTakeFirst()
  return row?.crc32 === crc32
}

/** Reads the content of a document's stored body in this thread; `null` when the body is damaged or missing. */
export async function storedContent(db: Connection, key: number): Promise<StoredContent | null> {
  const row = await db.selectFrom('bodies').select(['body', 'crc32']).where('key', '=', key).executeTakeFirst()
  return row === undefined ? null : contentOf({ key, ...row })
}

/** Reads body and version at the same moment. */
function readBody(reader: Connection, key: number) {
  return reader
    .selectFrom('bodies')
    .innerJoin('documents', 'documents.key', 'bodies.key')
    .select(['bodies.body', 'bodies.crc32', 'documents.version'])
    .where('bodies.key', '=', key)
    .executeTakeFirst()
}
