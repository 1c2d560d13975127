import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { RepairStore, Repaired } from '../../repair/repair.port.ts'
import { CallTallies } from './call-tallies.ts'
import { openDatabase } from './database.ts'
import { readState } from './document-rows.ts'
import { writeDocument } from './document-write.ts'
import type { Database } from './engine.ts'
import { insertChanges } from './feed-writing.ts'
import { inspectDocument } from './inspect-document.ts'
import { newLineage } from './lineage.ts'
import { openLongBodies } from './long-bodies.ts'
import { pendingSteps } from './migrations/migrate.ts'
import { readableSteps } from './archive-layout.ts'
import { DEFAULT_RECOVERY_RING } from './recovery-ring.ts'
import type { Capturing } from './recovery-capture.ts'
import { openSqliteBeside } from './sqlite.ts'
import { StoreInUseError } from './store-in-use.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'
import { rebuildLog } from './updates.ts'

/**
 * Opens the store that a `[storage] url` names for the repair of one document, while a relay runs or without one.
 *
 * @throws Error with a sentence for the operator
 */
export async function openRepairStore(url: string, random: Random, log: Logger): Promise<RepairStore> {
  const database = await openBesideRelay(url, log)
  const longBodies = openLongBodies(database.reader)
  const tallies = new CallTallies()
  const capturing: Capturing = { engine: database.engine, ring: DEFAULT_RECOVERY_RING, longBodies, log, random, tallies }
  return {
    async find(id) {
      const inTable = async (table: 'documents' | 'tombstones'): Promise<string[]> => {
        const rows = await database.reader
          .selectFrom(table)
          .select('workspace_id')
          .where('id', '=', id)
          .orderBy('workspace_id')
          .execute()
        return rows.map((row) => originalText(row.workspace_id))
      }
      return { stored: await inTable('documents'), deleted: await inTable('tombstones') }
    },
    async repair(ref, nowMs, decide) {
      const transaction = await database.begin()
      try {
        await repairIn(transaction.writer, ref, nowMs, decide, capturing)
        await transaction.commit()
      } catch (error) {
        await transaction.rollback().catch(() => undefined)
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await longBodies[Symbol.asyncDispose]()
      await database.close()
    },
  }
}

async function openBesideRelay(url: string, log: Logger): Promise<Database> {
  try {
    return await openDatabase(url, { synchronous: 'FULL' }, log)
  } catch (error) {
    if (!(error instanceof StoreInUseError)) throw error
    const database = openSqliteBeside(url.slice('sqlite:'.length))
    const { steps } = await readableSteps(database.reader)
    if (pendingSteps(steps).length === 0) return database
    await database.close()
    throw new Error('the relay that is running on this store is of another release: run its own `relay repair`', { cause: error })
  }
}

async function repairIn(
  writer: Writer,
  ref: DocumentRef,
  nowMs: number,
  decide: Parameters<RepairStore['repair']>[2],
  capturing: Capturing,
): Promise<void> {
  const { engine, random } = capturing
  await engine.lockDocument(writer, ref)
  const row = await writer
    .selectFrom('documents')
    .select('key')
    .where('workspace_id', '=', storedText(ref.workspaceId))
    .where('id', '=', ref.id)
    .executeTakeFirst()
  const document = row === undefined ? null : await inspectDocument(writer, row.key)
  if (row === undefined || document === null) return
  const repaired: Repaired | null = decide(document)
  if (repaired === null || document.head === null) return
  const { key, version, lastSeq } = document.head
  if (repaired.body !== undefined) {
    const outcome = await writeDocument(
      writer,
      engine,
      {
        ref,
        expect: { kind: 'document', key, version },
        set: { body: repaired.body },
        bump: true,
        nowMs,
        quotaBytes: null,
        log: { kind: 'live', lastSeq, append: [], coversNoMore: true },
      },
      null,
      capturing,
      null,
    )
    if (outcome.kind !== 'written') throw new Error(`a locked document was answered ${outcome.kind}`)
  }
  const lineage = repaired.startsAnew ? newLineage(random) : null
  const rebuilt = await rebuildLog(writer, key, { lastSeq, nowMs, ...repaired.log }, lineage)
  if (rebuilt !== 'rebuilt') throw new Error(`the log of a locked document was answered ${rebuilt}`)
  const state = await readState(writer, ref)
  if (state.kind !== 'document' || state.head.coveredSeq !== state.head.lastSeq)
    throw new Error('the repaired document is not whole')
  const told = { kind: 'repaired', head: state.head, actor: '', isSharingChanged: false } as const
  if (await isOfSeveralNodes(writer)) await insertChanges(writer, engine, 'relay repair', [told])
}

/** Whether several nodes use the store. They learn of the repair from the change feed. */
async function isOfSeveralNodes(writer: Writer): Promise<boolean> {
  return (await writer.selectFrom('nodes').select('inc').limit(1).executeTakeFirst()) !== undefined
}
