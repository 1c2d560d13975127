import { type Access, reaches } from '../access/access.ts'
import { readShares } from '../access/shares.ts'
import { badRequest, fitsUserName } from '../kernel/bad-request.ts'
import type { RelayError } from '../kernel/errors.ts'
import { changeBeside } from './change-beside.ts'
import { type DocumentHead, type DocumentRef, bodyBytes, sharedBytes } from './document-store.port.ts'
import { documentLevel, refuseSize } from './put-plan.ts'
import { refusedWrite } from './refused-write.ts'
import { auditFields, requireLevel, unknownDocument, type WritingDeps } from './writing.ts'

/** The most entries of a share list. [BODY-13] */
export const MAX_SHARES = 1000
/** At most this many documents of a workspace are changed at a time, so that other writers get their turn. */
const PURGED_AT_ONCE = 16

/** One user of a share list as a caller wants it; `none` leaves the user out. */
export interface NewShare {
  readonly userId: string
  /** `null`: the caller gave no name. */
  readonly userName: string | null
  readonly permission: 'view' | 'edit' | 'owner' | 'none'
}

/** The new owner of a document. `name` becomes ownerName; if it is `null`, the user id does. */
export interface NewOwner {
  readonly sub: string
  readonly name: string | null
}

/** Gives a document another owner. Throws unless the caller has level owner. [REST-23] */
export async function transfer(deps: WritingDeps, access: Access, ref: DocumentRef, to: NewOwner): Promise<void> {
  const outcome = await changeBeside(deps, ref, access.sub, (head) => {
    requireLevel(access, head, 'owner', deps)
    if (to.sub === head.ownerId) return null
    return { ownerId: to.sub, ownerName: to.name ?? to.sub, sharedWith: transferredShares(head, to.sub, deps.clock.nowMs()) }
  })
  if (outcome.kind === 'gone') return unknownDocument()
  if (outcome.kind === 'unchanged') return
  deps.log.info('document.transferred', 'a document got another owner', { ...auditFields(access, ref.id), newOwner: to.sub })
}

/**
 * Replaces the share list. Throws unless the caller has level owner, and when the larger list exceeds `max_doc_bytes` or the quota of the
 * caller. [SHARE-6, BODY-14]
 */
export async function replaceShares(
  deps: WritingDeps,
  access: Access,
  ref: DocumentRef,
  shares: readonly NewShare[],
): Promise<void> {
  const replace = (head: DocumentHead) => {
    requireLevel(access, head, 'owner', deps)
    const sharedWith = replacedShares(head, shares, deps.clock.nowMs())
    if (JSON.stringify(sharedWith) === JSON.stringify(head.sharedWith)) return null
    const sizeBytes = bodyBytes(head) + sharedBytes(sharedWith)
    const tooLarge = sizeBytes > head.sizeBytes ? refuseSize(sizeBytes, access) : null
    if (tooLarge !== null) throw refusedWrite(tooLarge, deps.metrics)
    return { sharedWith }
  }
  const outcome = await changeBeside(deps, ref, access.sub, replace, access)
  if (outcome.kind === 'gone') return unknownDocument()
  if (outcome.kind === 'unchanged') return
  deps.log.info('document.shared', 'the share list of a document changed', {
    ...auditFields(access, ref.id),
    version: outcome.head.version,
  })
}

/**
 * Adds a view share for a caller that has no level on the document; a level that it has is not changed. Returns `false` when this life of the
 * document is over, or when `isStillGiven` resolves with false, for example for a share link that was revoked. `isStillGiven` is called right
 * before the write, since the change may wait long for other writes of the document. [SHARE-4]
 */
export async function grantView(
  deps: WritingDeps,
  access: Access,
  target: DocumentRef & { readonly key: number },
  isStillGiven: () => Promise<boolean>,
): Promise<boolean> {
  let given = true
  const outcome = await changeBeside(deps, target, access.sub, async (head) => {
    given = await isStillGiven()
    if (!given || reaches(documentLevel(access, head, deps.accessPolicy), 'view')) return null
    return { sharedWith: withShare(head.sharedWith, { userId: access.sub, permission: 'view', sharedAt: deps.clock.nowMs() }) }
  })
  return given && outcome.kind !== 'gone'
}

/**
 * Removes a user from every share list of a workspace, and returns how many documents changed. When a document cannot be written, the others
 * are still changed before the promise rejects; a repeated call changes the rest. [REST-33]
 */
export async function purgeMember(deps: WritingDeps, workspaceId: string, userId: string): Promise<number> {
  const named = (await deps.store.list(workspaceId)).filter((head) => withoutUser(head.sharedWith, userId) !== null)
  const failures: unknown[] = []
  let purged = 0
  for (let from = 0; from < named.length; from += PURGED_AT_ONCE) {
    const batch = named.slice(from, from + PURGED_AT_ONCE)
    const outcomes = await Promise.allSettled(batch.map((head) => purgeFrom(deps, head, userId)))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') failures.push(outcome.reason)
      else if (outcome.value) purged++
    }
  }
  if (failures.length > 0) throw failures[0]
  return purged
}

async function purgeFrom(deps: WritingDeps, { workspaceId, id }: DocumentHead, userId: string): Promise<boolean> {
  // The actor is empty, because no user makes this change.
  const outcome = await changeBeside(deps, { workspaceId, id }, '', (head) => {
    const sharedWith = withoutUser(head.sharedWith, userId)
    return sharedWith && { sharedWith }
  })
  if (outcome.kind !== 'changed') return false
  const fields = { audit: true, workspace: workspaceId, docId: id, member: userId, version: outcome.head.version } as const
  deps.log.info('document.member_purged', 'a former member was taken out of a share list', fields)
  return true
}

/** Returns the share list after a transfer: without the new owner, with the former one as an edit share. Other entries stay as given. [REST-23] */
function transferredShares(before: DocumentHead, newOwnerId: string, nowMs: number): readonly unknown[] {
  const others = before.sharedWith.filter((entry) => {
    const userId = userOf(entry)
    return userId !== newOwnerId && userId !== before.ownerId
  })
  if (before.ownerId === '') return others
  // An owner without a name has its user id as name, which may exceed the limit for names in a share list.
  const named = fitsUserName(before.ownerName) ? { userName: before.ownerName } : {}
  return withShare(others, { userId: before.ownerId, ...named, permission: 'edit', sharedAt: nowMs })
}

/** Adds a share. Throws BAD_REQUEST when the list is full: a PUT that sends a longer list back would be refused. [BODY-13] */
function withShare(sharedWith: readonly unknown[], share: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (sharedWith.length < MAX_SHARES) return [...sharedWith, share]
  throw badRequest('sharedWith', `The document is shared with ${MAX_SHARES} users already.`, { limit: MAX_SHARES })
}

/**
 * Returns the share list that replaces the stored one. An entry of the document's owner is ignored, because editors send it too. A user with the
 * same permission as before keeps `sharedAt`. Throws BAD_REQUEST for an owner share that the user does not have yet. [SHARE-6, BODY-13]
 */
export function replacedShares(
  before: Pick<DocumentHead, 'ownerId' | 'sharedWith'>,
  shares: readonly NewShare[],
  nowMs: number,
): readonly unknown[] {
  const known = readShares(before.sharedWith)
  return shares.flatMap(({ userId, userName, permission }, at) => {
    if (permission === 'none' || userId === before.ownerId) return []
    const same = known.find((share) => share.userId === userId && share.permission === permission)
    if (permission === 'owner' && same === undefined) throw noNewOwner(`shares[${at}].permission`)
    const sharedAt = (same?.raw as { readonly sharedAt?: unknown } | undefined)?.sharedAt
    return { userId, ...(userName !== null && { userName }), permission, sharedAt: sharedAt ?? nowMs }
  })
}

function noNewOwner(field: string): RelayError {
  return badRequest(
    field,
    `The member ${field} is owner only for a user who has an owner share already; a transfer makes others owner.`,
  )
}

/** Returns the list without the entries of a user, in any spelling; `null` when the user has none. */
function withoutUser(sharedWith: readonly unknown[], userId: string): readonly unknown[] | null {
  const others = sharedWith.filter((entry) => userOf(entry) !== userId)
  return others.length === sharedWith.length ? null : others
}

function userOf(entry: unknown): string | undefined {
  return readShares([entry])[0]?.userId
}
