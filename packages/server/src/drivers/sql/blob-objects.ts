import { sql } from 'kysely'
import { hashOfObject } from '../../blobs/blob-store.port.ts'
import type { GrantRequest } from '../../blobs/blob-ledger.port.ts'
import type { Engine } from './engine.ts'
import { raiseForNamedObjects, tableNames } from './migrations/migrate.ts'
import type { Connection, Writer } from './tables.ts'

/** True for an orphan that no workspace holds and no running upload will store. [Q6] */
export const WITHOUT_HOLDER = sql<boolean>`not exists (select 1 from blob_grants where blob_grants.hash = blob_orphans.hash)
  and not exists (select 1 from blob_uploads where blob_uploads.hash = blob_orphans.hash)`

/** Records the name of the object as which an upload is about to store bytes. */
export async function announceObject(writer: Writer, object: string, untilMs: number): Promise<void> {
  const hash = hashOfObject(object)
  if (hash === null) throw new Error(`not the name of a blob's bytes: ${object}`)
  await writer.insertInto('blob_objects').values({ object, hash, state: 'arriving', until_ms: untilMs }).execute()
}

/** Returns the name of the object with the bytes of a hash, whether a workspace holds the blob or not. */
export async function validObject(db: Connection, hash: string): Promise<string> {
  const row = await db
    .selectFrom('blob_objects')
    .select('object')
    .where('hash', '=', hash)
    .where('state', '=', 'valid')
    .executeTakeFirst()
  return row?.object ?? hash
}

/** Like `validObject`, but also for a store without the table `blob_objects`, whose bytes are stored under their hashes. [LIFE-29] */
export function objectsOf(db: Connection): (hash: string) => Promise<string> {
  let hasNames: Promise<boolean> | null = null
  return async (hash) => {
    hasNames ??= tableNames(db).then((names) => names.includes('blob_objects'))
    return (await hasNames) ? validObject(db, hash) : hash
  }
}

/**
 * Makes an announced object the valid one of its hash. The object that was valid before is struck and may be removed from
 * `replacedUntilMs` on; objects that were replaced earlier may be removed at once. Returns false, and changes nothing, when
 * the object was struck meanwhile. The caller holds the lock of the hash. [BLOB-24]
 */
export async function makeValid(
  writer: Writer,
  { object, hash, nowMs, replacedUntilMs }: Pick<GrantRequest, 'object' | 'hash' | 'nowMs' | 'replacedUntilMs'>,
): Promise<boolean> {
  const { numUpdatedRows } = await writer
    .updateTable('blob_objects')
    .set({ state: 'valid', until_ms: 0 })
    .where('object', '=', object)
    .where('hash', '=', hash)
    .where('state', '=', 'arriving')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await raiseForNamedObjects(writer)
  await writer
    .updateTable('blob_objects')
    .set({ until_ms: nowMs })
    .where('hash', '=', hash)
    .where('state', '=', 'struck')
    .where('until_ms', '>', nowMs)
    .execute()
  const { numUpdatedRows: replaced } = await writer
    .updateTable('blob_objects')
    .set({ state: 'struck', until_ms: replacedUntilMs })
    .where('hash', '=', hash)
    .where('state', '=', 'valid')
    .where('object', '!=', object)
    .executeTakeFirst()
  if (replaced === 0n && (await isKnown(writer, hash))) await strikePlain(writer, hash, replacedUntilMs)
  return true
}

/** Whether the blob store may have bytes under the plain name of a hash that has no valid object. */
async function isKnown(db: Connection, hash: string): Promise<boolean> {
  for (const table of ['blob_grants', 'blob_orphans'] as const) {
    const row = await db.selectFrom(table).select('hash').where('hash', '=', hash).limit(1).executeTakeFirst()
    if (row !== undefined) return true
  }
  return false
}

/** Strikes the object whose name is the hash alone; an older release or a restore has stored it. */
async function strikePlain(writer: Writer, hash: string, untilMs: number): Promise<void> {
  await writer
    .insertInto('blob_objects')
    .values({ object: hash, hash, state: 'struck', until_ms: untilMs })
    .onConflict((conflict) => conflict.column('object').doNothing())
    .execute()
}

/**
 * Strikes the object of an orphan, unless the hash has a holder or a running upload again. After the commit no grant can name the object. [BLOB-24,
 * Q6]
 */
export async function strikeOrphan(writer: Writer, engine: Engine, hash: string, nowMs: number): Promise<'struck' | 'held'> {
  await engine.lockBlobs(writer, [hash])
  const { numDeletedRows } = await writer
    .deleteFrom('blob_orphans')
    .where('hash', '=', hash)
    .where(WITHOUT_HOLDER)
    .executeTakeFirst()
  if (numDeletedRows === 0n) return 'held'
  const { numUpdatedRows } = await writer
    .updateTable('blob_objects')
    .set({ state: 'struck', until_ms: nowMs })
    .where('hash', '=', hash)
    .where('state', '=', 'valid')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) await strikePlain(writer, hash, nowMs)
  return 'struck'
}

/** Strikes objects whose uploads did not end in time, because their node has died or is too slow. */
export async function strikeOverdue(writer: Writer, nowMs: number, limit: number): Promise<void> {
  const overdue = await writer
    .selectFrom('blob_objects')
    .select('object')
    .where('state', '=', 'arriving')
    .where('until_ms', '<=', nowMs)
    .limit(limit)
    .execute()
  if (overdue.length === 0) return
  await writer
    .updateTable('blob_objects')
    .set({ state: 'struck', until_ms: nowMs })
    .where(
      'object',
      'in',
      overdue.map(({ object }) => object),
    )
    // A grant may have made the object valid since the query above.
    .where('state', '=', 'arriving')
    .execute()
}

/** Strikes the objects of all unfinished uploads. Called only at the start, on a store that one process uses alone. */
export async function strikeArriving(writer: Writer): Promise<void> {
  await writer.updateTable('blob_objects').set({ state: 'struck', until_ms: 0 }).where('state', '=', 'arriving').execute()
}

/** Returns at most `limit` struck objects whose bytes may be removed, without the first `skip`. */
export async function struckObjects(db: Connection, nowMs: number, limit: number, skip: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('blob_objects')
    .select('object')
    .where('state', '=', 'struck')
    .where('until_ms', '<=', nowMs)
    .orderBy('until_ms')
    .orderBy('object')
    .limit(limit)
    .offset(skip)
    .execute()
  return rows.map(({ object }) => object)
}

export async function forgetStruck(writer: Writer, object: string): Promise<void> {
  await writer.deleteFrom('blob_objects').where('object', '=', object).where('state', '=', 'struck').execute()
}

const LISTED = 500

/**
 * Records in a restored store which objects have the bytes of its blobs. When several objects have the same hash, records the first. Objects whose
 * hash no workspace holds are not recorded, since they may be newer than the backup. [BLOB-24, OPS-10]
 */
export async function recordObjects(
  writer: Writer,
  objects: AsyncIterable<{ readonly object: string; readonly hash: string }>,
): Promise<void> {
  let batch = new Map<string, string>()
  const flush = async (): Promise<void> => {
    const hashes = [...batch.keys()]
    if (hashes.length === 0) return
    const held = await writer.selectFrom('blob_grants').select('hash').distinct().where('hash', 'in', hashes).execute()
    const known = await writer.selectFrom('blob_objects').select('hash').where('hash', 'in', hashes).execute()
    const recorded = new Set(known.map(({ hash }) => hash))
    const rows = held
      .filter(({ hash }) => !recorded.has(hash))
      .map(({ hash }) => ({ object: batch.get(hash) ?? hash, hash, state: 'valid' as const, until_ms: 0 }))
    if (rows.length > 0) await writer.insertInto('blob_objects').values(rows).execute()
    batch = new Map()
  }
  for await (const { object, hash } of objects) {
    if (!batch.has(hash)) batch.set(hash, object)
    if (batch.size === LISTED) await flush()
  }
  await flush()
  const named = await writer
    .selectFrom('blob_objects')
    .select('object')
    .whereRef('object', '!=', 'hash')
    .limit(1)
    .executeTakeFirst()
  if (named !== undefined) await raiseForNamedObjects(writer)
}
