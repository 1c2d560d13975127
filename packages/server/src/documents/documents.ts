import type { Access, Level } from '../access/access.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import { changeBeside } from './change-beside.ts'
import { createDocument, type CreateOutcome, type Creation } from './create.ts'
import type { DocumentHead, DocumentRecord, DocumentRef } from './document-store.port.ts'
import { editDocument, type EditInput } from './edit.ts'
import { type ListedPage, type ListQuery, pageOf } from './listing.ts'
import { putDocument, type PutInput, type PutResult } from './put.ts'
import { type Readable, readable, readerOf } from './reader.ts'
import { createRecentHeads } from './recent-heads.ts'
import type { EditOutcome, EncodedDocument, Residents } from './residents.port.ts'
import { type Removal, removeDocument } from './remove.ts'
import { grantView, type NewOwner, type NewShare, purgeMember, replaceShares, transfer } from './sharing.ts'
import { noDocument } from './successor.ts'
import { type DocumentsDeps, inTurn, requireLevel, unknownDocument, type WritingDeps } from './writing.ts'

/**
 * Documents, as callers of one workspace may use them. Every verb decides rights itself and throws RelayError. When its
 * promise resolves, the change is durable; events are sent only then. [LIFE-2, PERM-2, WS-53]
 *
 * A document of another workspace, one that never existed and a deleted one give the same NOT_FOUND, byte for byte.
 * [REST-6, X6]
 */
export interface Documents {
  /** Returns the documents that the caller may read, newest change first. [REST-21, PERM-8] */
  list(access: Access, query: ListQuery): Promise<ListedPage>
  /** Returns the head, with every edit that was applied before the call. [LIFE-11] */
  head(access: Access, id: string): Promise<Readable>
  /** Returns head and body of the same moment, with every edit that was applied before the call. [LIFE-11] */
  get(access: Access, id: string): Promise<Readable & { readonly record: DocumentRecord }>
  /** Returns the Yjs state, with every edit that was applied before the call. [REST-31] */
  encode(access: Access, id: string): Promise<EncodedDocument>
  /** Creates or replaces a document. [REST-15..REST-19] */
  put(access: Access, input: PutInput): Promise<PutResult>
  /** Runs the edit of a tool. A refusal is an answer with a code of the table of tool errors. [CONC-1] */
  edit(access: Access, input: EditInput): Promise<EditOutcome>
  /** Creates a blank document of the caller. [BODY-12] */
  create(access: Access, creation: Creation): Promise<CreateOutcome>
  remove(access: Access, id: string, removal?: Removal): Promise<void>
  /** Gives a document another owner. [REST-23] */
  transfer(access: Access, id: string, to: NewOwner): Promise<void>
  setCollection(access: Access, id: string, collectionId: string | null): Promise<void>
  /** Returns the stored head when the caller has at least the level `needed`; otherwise throws the refusal. */
  require(access: Access, id: string, needed: Exclude<Level, 'none'>): Promise<DocumentHead>
  /** Returns, by id, the stored heads of those of `ids` that the caller may read. Asks the store once for all of them. [AG-84] */
  readableOf(access: Access, ids: readonly string[]): Promise<ReadonlyMap<string, DocumentHead>>
  /**
   * Runs a write of another feature on a document, in order with the writes of these verbs. `write` must not call one
   * of these verbs. [LIFE-8]
   */
  inTurn<T>(ref: DocumentRef, write: () => Promise<T>): Promise<T>
  /** Replaces the share list. [SHARE-6] */
  replaceShares(access: Access, id: string, shares: readonly NewShare[]): Promise<void>
  /**
   * Gives the caller a view share. Returns `null` when this life of the document has ended, or when `isStillGiven` resolves with false; it is
   * called right before the share is written. [SHARE-4]
   */
  grantView(
    access: Access,
    target: { readonly id: string; readonly key: number },
    isStillGiven: () => Promise<boolean>,
  ): Promise<Readable | null>
  /** Removes a user from every share list of a workspace; returns how many documents changed. [REST-33] */
  purgeMember(workspaceId: string, userId: string): Promise<number>
}

export function createDocuments(given: DocumentsDeps): Documents {
  const deps: WritingDeps = { ...given, queue: createKeyedQueue(), recentHeads: createRecentHeads() }
  const { store, residents } = deps

  async function list(access: Access, query: ListQuery): Promise<ListedPage> {
    const heads = await store.list(access.workspaceId)
    const isMine = (head: DocumentHead): boolean => readerOf(access, head, deps) !== null
    const behind = heads.filter((head) => (residents.isResident(head) || isBehindElsewhere(head)) && isMine(head))
    // A live document that does not answer is listed as stored, so that it does not fail the whole list. [LIFE-8]
    if (behind.length > 0) await residents.settleAll(behind)
    const current = behind.length === 0 ? heads : await store.list(access.workspaceId)
    return pageOf(current, query, (head) => readerOf(access, head, deps))
  }

  async function head(access: Access, id: string): Promise<Readable> {
    const ref = { workspaceId: access.workspaceId, id }
    const first = readable(access, await stored(access, ref, deps), deps)
    if (!isBehind(first.head, residents)) return first
    await residents.settle(ref)
    return readable(access, await stored(access, ref, deps), deps)
  }

  async function get(access: Access, id: string): Promise<Readable & { readonly record: DocumentRecord }> {
    const ref = { workspaceId: access.workspaceId, id }
    // A live document is settled before its body is read; a cold one is read at once.
    const wasLive = residents.isResident(ref)
    if (wasLive) await head(access, id)
    const record = (await store.read(ref)) ?? (await unread(access, ref, deps))
    const seen = readable(access, record.head, deps)
    if (wasLive || !isBehind(record.head, residents)) return { ...seen, record }
    await residents.settle(ref)
    const settled = (await store.read(ref)) ?? (await unread(access, ref, deps))
    return { ...readable(access, settled.head, deps), record: settled }
  }

  async function encode(access: Access, id: string): Promise<EncodedDocument> {
    const ref = { workspaceId: access.workspaceId, id }
    readable(access, await stored(access, ref, deps), deps)
    return (await residents.encode(ref)) ?? unknownDocument()
  }

  async function setCollection(access: Access, ref: DocumentRef, collectionId: string | null): Promise<void> {
    const outcome = await changeBeside(deps, ref, access.sub, (before) => {
      requireLevel(access, before, 'edit', deps)
      return before.collectionId === collectionId ? null : { collectionId }
    })
    if (outcome.kind === 'gone') unknownDocument()
  }

  const refOf = (access: Access, id: string): DocumentRef => ({ workspaceId: access.workspaceId, id })
  return {
    list,
    head,
    get,
    encode,
    put: (access, input) => putDocument(access, input, deps),
    edit: (access, input) => editDocument(access, input, deps),
    create: (access, creation) => createDocument(access, creation, deps),
    remove: (access, id, removal) => removeDocument(access, id, removal ?? {}, deps),
    transfer: (access, id, to) => transfer(deps, access, refOf(access, id), to),
    setCollection: (access, id, collectionId) => setCollection(access, refOf(access, id), collectionId),
    inTurn: (ref, write) => inTurn(deps, ref, write),
    require: async (access, id, needed) => {
      const found = await stored(access, refOf(access, id), deps)
      requireLevel(access, found, needed, deps)
      return found
    },
    readableOf: async (access, ids) => {
      const heads = ids.length === 0 ? [] : await store.heads(access.workspaceId, ids)
      return new Map(heads.filter((found) => readerOf(access, found, deps) !== null).map((found) => [found.id, found]))
    },
    replaceShares: (access, id, shares) => replaceShares(deps, access, refOf(access, id), shares),
    grantView: async (access, { id, key }, isStillGiven) =>
      (await grantView(deps, access, { ...refOf(access, id), key }, isStillGiven)) ? head(access, id) : null,
    purgeMember: (workspaceId, userId) => purgeMember(deps, workspaceId, userId),
  }
}

/** Whether another node may have edits that the stored body lacks. */
function isBehindElsewhere({ owner, coveredSeq, lastSeq }: DocumentHead): boolean {
  return owner !== null && coveredSeq < lastSeq
}

/** Whether the stored body may lack applied edits: the document is open, or the log is ahead of the body. */
function isBehind(head: DocumentHead, residents: Residents): boolean {
  return residents.isResident(head) || head.coveredSeq < head.lastSeq
}

async function stored(access: Access, ref: DocumentRef, deps: WritingDeps): Promise<DocumentHead> {
  const state = await deps.store.state(ref)
  return state.kind === 'document' ? state.head : noDocument(access, state, deps)
}

/** Throws the error for a document that had no body when it was read. */
async function unread(access: Access, ref: DocumentRef, deps: WritingDeps): Promise<never> {
  return noDocument(access, await deps.store.state(ref), deps)
}
