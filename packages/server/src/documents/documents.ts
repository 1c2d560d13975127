import { type Access, type Level, reaches, refuse } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import type { DocumentHead, DocumentRecord, DocumentRef, DocumentStore } from './document-store.port.ts'
import { type ListedPage, type ListQuery, pageOf } from './listing.ts'
import type { Reader } from './metadata.ts'
import { putDocument, type PutInput, type PutResult } from './put.ts'
import { documentLevel } from './put-plan.ts'
import type { Residents } from './residents.port.ts'
import { transferredShares } from './transfer.ts'
import { auditFields, contended, type DocumentsDeps, inTurn, MAX_ATTEMPTS, type WritingDeps } from './writing.ts'

/** A document's head with the level its reader has. */
export interface Readable {
  readonly head: DocumentHead
  readonly reader: Reader
}

/** `name` is shown as ownerName; without one the user id is. */
export interface NewOwner {
  readonly sub: string
  readonly name: string | null
}

/**
 * Documents as callers of one workspace may use them. Every verb decides rights itself and throws RelayError; what it says is durable when
 * its promise resolves, and events leave only then. [LIFE-2, PERM-2, WS-53]
 *
 * A document of another workspace, one that never was and a deleted one are all NOT_FOUND, alike to the byte. [REST-6, X6]
 */
export interface Documents {
  /** Documents the caller may read, newest change first. [REST-21, PERM-8] */
  list(access: Access, query: ListQuery): Promise<ListedPage>
  /** The head after every edit applied before the call. [LIFE-11] */
  head(access: Access, id: string): Promise<Readable>
  /** Head and body of one moment, after every edit applied before the call. [LIFE-11] */
  get(access: Access, id: string): Promise<Readable & { readonly record: DocumentRecord }>
  /** Creates or replaces. [REST-15..REST-19] */
  put(access: Access, input: PutInput): Promise<PutResult>
  remove(access: Access, id: string): Promise<void>
  /** [REST-23] */
  transfer(access: Access, id: string, to: NewOwner): Promise<void>
  setCollection(access: Access, id: string, collectionId: string | null): Promise<void>
}

export function createDocuments(given: DocumentsDeps): Documents {
  const deps: WritingDeps = { ...given, queue: createKeyedQueue() }
  const { store, residents, events, log, clock } = deps

  async function list(access: Access, query: ListQuery): Promise<ListedPage> {
    const heads = await store.list(access.workspaceId)
    const live = heads.filter((head) => residents.isResident(head) && readerOf(access, head, deps) !== null)
    // A document whose live side does not answer is listed as it is stored: it must not fail the others. [LIFE-8]
    await Promise.allSettled(live.map((head) => residents.settle(head)))
    const current = live.length === 0 ? heads : await store.list(access.workspaceId)
    return pageOf(current, query, (head) => readerOf(access, head, deps))
  }

  async function head(access: Access, id: string): Promise<Readable> {
    const ref = { workspaceId: access.workspaceId, id }
    const first = readable(access, await stored(store, ref), deps)
    if (!isBehind(first.head, residents)) return first
    await residents.settle(ref)
    return readable(access, await stored(store, ref), deps)
  }

  async function get(access: Access, id: string): Promise<Readable & { readonly record: DocumentRecord }> {
    const ref = { workspaceId: access.workspaceId, id }
    // A live document is settled before its body is read at all; a cold one is read at once.
    const wasLive = residents.isResident(ref)
    if (wasLive) await head(access, id)
    const record = (await store.read(ref)) ?? unknownDocument()
    const seen = readable(access, record.head, deps)
    if (wasLive || !isBehind(record.head, residents)) return { ...seen, record }
    await residents.settle(ref)
    const settled = (await store.read(ref)) ?? unknownDocument()
    return { ...readable(access, settled.head, deps), record: settled }
  }

  async function remove(access: Access, ref: DocumentRef): Promise<void> {
    const { id } = ref
    const before = await stored(store, ref)
    const level = documentLevel(access, before, deps.enforcePrivateDocs)
    if (!reaches(level, 'owner')) throw refuse({ role: access.role, level, needed: 'owner', deletes: true, docId: id })
    const outcome = await store.remove(ref, before.key, clock.nowMs())
    if (outcome.kind === 'gone') return unknownDocument()
    log.info('document.deleted', 'a document was deleted', {
      ...auditFields(access, id),
      version: outcome.tombstone.lastServerVersion,
    })
    // The tombstone is durable, so a failing live side can only be late; it must not turn the answer into an error.
    await residents.drop(ref).catch((error: unknown) => {
      log.error('document.drop_failed', 'a deleted document could not be dropped', { docId: id, detail: String(error) })
    })
    events.publish({ kind: 'deleted', ref, before, tombstone: outcome.tombstone, actor: access.sub })
  }

  /** Changes what is kept beside the body; `change` answers `null` when there is nothing to do. */
  async function changeBeside(
    access: Access,
    ref: DocumentRef,
    needed: Exclude<Level, 'none'>,
    change: (
      head: DocumentHead,
    ) => Pick<DocumentHead, 'collectionId'> | Pick<DocumentHead, 'ownerId' | 'ownerName' | 'sharedWith'> | null,
  ): Promise<DocumentHead | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await stored(store, ref)
      const level = documentLevel(access, before, deps.enforcePrivateDocs)
      if (!reaches(level, needed)) throw refuse({ role: access.role, level, needed, docId: ref.id })
      const set = change(before)
      if (set === null) return null
      const expect = { kind: 'document', key: before.key, version: before.version } as const
      const outcome = await store.write({
        ref,
        expect,
        set,
        bump: true,
        nowMs: clock.nowMs(),
        quotaBytes: null,
        log: { kind: 'none' },
      })
      if (outcome.kind !== 'written') continue
      residents.bodyChanged(ref, outcome.head.version)
      events.publish({ kind: 'updated', head: outcome.head, actor: access.sub })
      return outcome.head
    }
    throw contended()
  }

  async function transfer(access: Access, ref: DocumentRef, to: NewOwner): Promise<void> {
    const head = await changeBeside(access, ref, 'owner', (before) =>
      to.sub === before.ownerId
        ? null
        : { ownerId: to.sub, ownerName: to.name ?? to.sub, sharedWith: transferredShares(before, to.sub, clock.nowMs()) },
    )
    if (head === null) return
    residents.sharingChanged(head)
    log.info('document.transferred', 'a document got another owner', { ...auditFields(access, ref.id), newOwner: to.sub })
  }

  async function setCollection(access: Access, ref: DocumentRef, collectionId: string | null): Promise<void> {
    await changeBeside(access, ref, 'edit', (before) => (before.collectionId === collectionId ? null : { collectionId }))
  }

  const refOf = (access: Access, id: string): DocumentRef => ({ workspaceId: access.workspaceId, id })
  return {
    list,
    head,
    get,
    put: (access, input) => putDocument(access, input, deps),
    remove: (access, id) => inTurn(deps, refOf(access, id), () => remove(access, refOf(access, id))),
    transfer: (access, id, to) => inTurn(deps, refOf(access, id), () => transfer(access, refOf(access, id), to)),
    setCollection: (access, id, collectionId) =>
      inTurn(deps, refOf(access, id), () => setCollection(access, refOf(access, id), collectionId)),
  }
}

/** The level and identity by which a caller reads a document, `null` when it may not. */
function readerOf(access: Access, head: DocumentHead, deps: DocumentsDeps): Reader | null {
  const level = documentLevel(access, head, deps.enforcePrivateDocs)
  return level === 'none' ? null : { sub: access.sub, level }
}

function readable(access: Access, head: DocumentHead, deps: DocumentsDeps): Readable {
  const reader = readerOf(access, head, deps)
  if (reader === null) throw refuse({ role: access.role, level: 'none', needed: 'view', docId: head.id })
  return { head, reader }
}

/** Whether the stored body may lack applied edits: someone has it open, or the log holds more than the body. */
function isBehind(head: DocumentHead, residents: Residents): boolean {
  return residents.isResident(head) || head.coveredSeq < head.lastSeq
}

async function stored(store: DocumentStore, ref: DocumentRef): Promise<DocumentHead> {
  const state = await store.state(ref)
  return state.kind === 'document' ? state.head : unknownDocument()
}

function unknownDocument(): never {
  throw new RelayError('NOT_FOUND', 'There is no such document.', { resource: 'document' })
}
