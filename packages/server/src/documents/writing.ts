import { type AccessPolicy, type Access, type Level, reaches, refuse } from '../access/access.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import type { KeyedQueue } from '../kernel/keyed-queue.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Bodies } from './bodies.ts'
import type { ChangeRecords } from './change-records.ts'
import type { DocumentEvents } from './document-events.port.ts'
import type { DocumentHead, DocumentRef, DocumentStore } from './document-store.port.ts'
import { documentLevel } from './put-plan.ts'
import type { RecentHeads } from './recent-heads.ts'
import type { Residents } from './residents.port.ts'

export interface DocumentsDeps {
  readonly store: DocumentStore
  readonly residents: Residents
  readonly events: DocumentEvents
  readonly bodies: Bodies
  readonly accessPolicy: AccessPolicy
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
  /** Records who changed what; absent when nothing is recorded. [AG-20] */
  readonly records?: ChangeRecords
}

/** Dependencies of the document verbs. `queue` runs the writes of one document one after another, so that they do not race. [LIFE-8] */
export interface WritingDeps extends DocumentsDeps {
  readonly queue: KeyedQueue
  readonly recentHeads: RecentHeads
}

/** Runs a write after all earlier writes of the document. NUL separates the parts of the key, as neither can contain it. [BODY-11] */
export function inTurn<T>(deps: WritingDeps, ref: DocumentRef, write: () => Promise<T>): Promise<T> {
  return deps.queue.run(`${ref.workspaceId}\0${ref.id}`, write)
}

/** Returns the error of a write that lost every race; nothing was written. */
export function contended(): RelayError {
  return new RelayError('UNAVAILABLE', 'Too many writers change this document at the same time; try again.')
}

/** Throws the error of a write that lost every race; for `retryCas`. */
export function refuseContended(): never {
  throw contended()
}

/** Returns the fields of an audit line: who did it, in which workspace, to which document. [OPS-7] */
export function auditFields(access: Access, docId: string): { audit: true; workspace: string; sub: string; docId: string } {
  return { audit: true, workspace: access.workspaceId, sub: access.sub, docId }
}

/** Throws the refusal of a caller who has less than `needed` on a document. [PERM-4] */
export function requireLevel(
  access: Access,
  head: DocumentHead,
  needed: Exclude<Level, 'none'>,
  deps: Pick<DocumentsDeps, 'accessPolicy'>,
): void {
  const level = documentLevel(access, head, deps.accessPolicy)
  if (!reaches(level, needed)) throw refuse({ role: access.role, level, needed, docId: head.id })
}

/** Throws the same error for a document that never existed, was deleted, or belongs to another workspace. [REST-6, X6] */
export function unknownDocument(): never {
  throw new RelayError('NOT_FOUND', 'There is no such document.', { resource: 'document' })
}
