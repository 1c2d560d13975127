import { documentBytes } from './quota.ts'
import type { Connection } from './tables.ts'

/** Sums over all workspaces. */
export interface StoreTotals {
  readonly documentBytes: number
  /** Blobs that are metered. */
  readonly blobBytes: number
  readonly unownedDocuments: number
  readonly recoveryPoints: number
}

/**
 * Computes the totals of the store. Each sum is read from an index alone and touches no document, but its duration grows with their number. Suitable
 * for occasional use, not for every scrape. [OPS-3]
 */
export async function storeTotals(db: Connection): Promise<StoreTotals> {
  const blobs = await db
    .selectFrom('blob_grants')
    .select((e) => e.fn.sum<number | null>('size_bytes').as('bytes'))
    .where('metered', '=', 1)
    .executeTakeFirst()
  const unowned = await db
    .selectFrom('documents')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('owner_id', '=', '')
    .executeTakeFirst()
  const points = await db
    .selectFrom('recovery_points')
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return {
    documentBytes: await documentBytes(db, null),
    blobBytes: blobs?.bytes ?? 0,
    unownedDocuments: unowned?.count ?? 0,
    recoveryPoints: points?.count ?? 0,
  }
}
