import type { Access, AccessPolicy } from '../access/access.ts'
import type { Bodies } from '../documents/bodies.ts'
import type { DocumentEvents } from '../documents/document-events.port.ts'
import type { DocumentHead, DocumentRecord, DocumentRef } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import type { Reader } from '../documents/metadata.ts'
import { readable } from '../documents/reader.ts'
import type { Residents } from '../documents/residents.port.ts'
import { auditFields, refuseContended, unknownDocument } from '../documents/writing.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import type { PointHead, PointRecord, RecoveryStore, RestoreOutcome } from './recovery-store.port.ts'

export interface RecoveryDeps {
  readonly documents: Pick<Documents, 'require' | 'inTurn'>
  readonly store: RecoveryStore
  readonly residents: Pick<Residents, 'hasGap' | 'settle' | 'drop'>
  readonly events: DocumentEvents
  readonly bodies: Pick<Bodies, 'for'>
  readonly accessPolicy: AccessPolicy
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Recovery points for callers of one workspace. Every verb checks rights itself and throws RelayError. Changes are durable when the promise
 * resolves, and events are sent only then. [PERM-3, LIFE-2]
 */
export interface Recovery {
  /** Returns the points, newest first. */
  list(access: Access, id: string): Promise<readonly PointHead[]>
  /** Captures the state after every edit applied before the call. Returns false when the newest point is equal. [LIFE-20] */
  capture(access: Access, id: string): Promise<boolean>
  /** Returns a point as a document: with the content, collection and shares of the point, under the present id of the document. [REST-26] */
  read(access: Access, id: string, pointId: string): Promise<{ readonly record: DocumentRecord; readonly reader: Reader }>
  /** Replaces this document by a new one and returns the new head. [LIFE-22, REST-27] */
  restore(access: Access, id: string, pointId: string): Promise<DocumentHead>
}

type Restored = Extract<RestoreOutcome, { kind: 'restored' }>

/**
 * Edits wait for this long while a restore runs. An edit that was acknowledged after the body was stored would be in no recovery point, so such an
 * edit makes the restore fail with a conflict.
 */
const QUIET_MS = 500
const ID_LENGTH = 12

export function createRecovery(deps: RecoveryDeps): Recovery {
  const { documents, store, residents, clock, log } = deps

  async function capture(access: Access, id: string): Promise<boolean> {
    const { key } = await documents.require(access, id, 'edit')
    await residents.settle(refOf(access, id))
    const outcome = await store.capture(key, 'demand', clock.nowMs())
    if (outcome.kind === 'gone') return unknownDocument()
    if (outcome.kind !== 'captured') return false
    log.info('document.captured', 'a recovery point was taken on demand', {
      ...auditFields(access, id),
      pointId: outcome.point.pointId,
    })
    return true
  }

  async function read(access: Access, id: string, pointId: string) {
    const { head, reader } = readable(access, await documents.require(access, id, 'view'), deps)
    const point = await pointOf(store, head.key, pointId)
    const body = (await deps.bodies.for(access.workspaceId).point(point.body, id)) ?? unreadable(pointId)
    const { version } = point.head
    return { record: { head: { ...head, ...point.beside, version, facts: point.facts }, body }, reader }
  }

  async function restore(access: Access, id: string, pointId: string): Promise<DocumentHead> {
    const ref = refOf(access, id)
    const source = await documents.require(access, id, 'owner')
    const point = await pointOf(store, source.key, pointId)
    const newRef = refOf(access, newId('doc-', ID_LENGTH, deps.random))
    const as = { docId: newRef.id, restoredFrom: id, clientVersion: point.facts.clientVersion }
    const body = (await deps.bodies.for(access.workspaceId).restored(point.body, as)) ?? unreadable(pointId)
    // Tool edits wait for the restore as well. Otherwise agents that never pause would make every attempt conflict.
    return documents.inTurn(ref, () =>
      retryCas<DocumentHead>(async () => {
        // A document that cannot be loaded has no edits to settle. The store decides whether its log is unreadable. [LIFE-5]
        const unsettled = await residents.settle(ref, QUIET_MS).then(() => null, unavailable)
        const before = await documents.require(access, id, 'owner')
        // A document with another key is a new document under the same id, with other points.
        if (before.key !== source.key) return unknownDocument()
        const outcome = await store.restore({
          source: before,
          hasGap: residents.hasGap(ref),
          newRef,
          body,
          nowMs: clock.nowMs(),
          actor: access.sub,
        })
        if (outcome.kind === 'conflict' && unsettled !== null) throw unsettled
        if (outcome.kind === 'conflict') return 'again'
        await announce(deps, access, before, outcome, pointId)
        return outcome.head
      }, refuseContended),
    )
  }

  return {
    list: async (access, id) => store.list((await documents.require(access, id, 'view')).key),
    capture,
    read,
    restore,
  }
}

function unavailable(error: unknown): RelayError {
  if (error instanceof RelayError && error.code === 'UNAVAILABLE') return error
  throw error
}

/**
 * Reports the restore to the live side. The new document and the tombstone are durable by then. A failure of the live side only delays the report and
 * must not become an error of the request.
 */
async function announce(
  { residents, events, log }: RecoveryDeps,
  access: Access,
  before: DocumentHead,
  { head, tombstone }: Restored,
  pointId: string,
): Promise<void> {
  const ref: DocumentRef = { workspaceId: before.workspaceId, id: before.id }
  log.info('document.restored', 'a document was restored from a recovery point', {
    ...auditFields(access, ref.id),
    pointId,
    newDocId: head.id,
  })
  await residents.drop(ref).catch((error: unknown) => {
    log.error('document.drop_failed', 'the live copy of a document that was replaced by a restore could not be dropped', {
      docId: ref.id,
      detail: String(error),
    })
  })
  events.publish({ kind: 'deleted', ref, before, tombstone, successor: head.id, actor: access.sub })
  events.publish({ kind: 'created', head, actor: access.sub })
}

async function pointOf(store: RecoveryStore, key: number, pointId: string): Promise<Extract<PointRecord, { kind: 'point' }>> {
  const point = await store.read(key, pointId)
  if (point.kind === 'unreadable') return unreadable(pointId)
  if (point.kind === 'absent') {
    throw new RelayError('NOT_FOUND', 'There is no such recovery point.', { resource: 'recovery point' })
  }
  return point
}

function unreadable(pointId: string): never {
  throw new RelayError('POINT_UNREADABLE', 'The recovery point is damaged in the store and cannot be decoded.', { pointId })
}

function refOf(access: Access, id: string): DocumentRef {
  return { workspaceId: access.workspaceId, id }
}
