import type { Role } from '../auth/principal.ts'
import { RelayError } from '../kernel/errors.ts'
import type { ResolvedLimits } from './limits.ts'

/** A verified caller pinned to one workspace. [AUTH-6] */
export interface Access {
  readonly sub: string
  readonly workspaceId: string
  readonly role: Role
  readonly limits: ResolvedLimits
}

/** none < view < edit < owner. [PERM-1] */
export type Level = 'none' | 'view' | 'edit' | 'owner'

export type SharePermission = 'view' | 'edit' | 'owner'

/** One sharedWith entry read tolerantly; `raw` is the entry as it was given and is what answers show. [BODY-13] */
export interface Share {
  readonly userId: string
  /** `null`: a word that grants nothing. */
  readonly permission: SharePermission | null
  readonly raw: unknown
}

/** What deciding a level needs to know of a document. */
export interface Sharing {
  /** `''` for a document without owner. */
  readonly ownerId: string
  readonly shares: readonly Share[]
}

const RANK: Readonly<Record<Level, number>> = { none: 0, view: 1, edit: 2, owner: 3 }

/** Whether `level` is enough for an operation that needs `needed`. */
export function reaches(level: Level, needed: Level): boolean {
  return RANK[level] >= RANK[needed]
}

/**
 * The one decision about rights: what `caller` may do with a document, by its own owner and share list and nothing else. [PERM-1, PERM-2]
 *
 * The highest of what the caller has by owning it, by the workspace role and by its shares; several entries of one user add up to the highest.
 * A member edits what nobody owns, and everything when private documents are not enforced, where a viewer reads everything. The workspace role
 * viewer caps all of it at view.
 */
export function decideLevel(caller: Pick<Access, 'sub' | 'role'>, sharing: Sharing, enforcePrivateDocs: boolean): Level {
  const { sub, role } = caller
  const grants: Level[] = ['none']
  if (sharing.ownerId === sub || role === 'owner') grants.push('owner')
  for (const share of sharing.shares) if (share.userId === sub && share.permission !== null) grants.push(share.permission)
  if (role === 'member' && (sharing.ownerId === '' || !enforcePrivateDocs)) grants.push('edit')
  if (role === 'viewer' && !enforcePrivateDocs) grants.push('view')
  const highest = grants.reduce((best, level) => (reaches(level, best) ? level : best))
  return role === 'viewer' && highest !== 'none' ? 'view' : highest
}

/** Whether the caller may create documents and write what belongs to the workspace: collections, style profiles, blobs. [PERM-3] */
export function mayCreate(role: Role): boolean {
  return role !== 'viewer'
}

/** Whether the caller may put a deleted document back: its recorded owner or a workspace owner, never a viewer. [PERM-3] */
export function mayOverrideTombstone(caller: Pick<Access, 'sub' | 'role'>, recordedOwnerId: string): boolean {
  return caller.role === 'owner' || (caller.role === 'member' && recordedOwnerId === caller.sub)
}

export interface RefusedOperation {
  readonly role: Role
  /** What the caller has; `view` where there is no document to look at, as for creating with role viewer. */
  readonly level: Level
  /** What the operation needs; `edit` also for what only the role forbids. */
  readonly needed: Exclude<Level, 'none'>
  /** Deleting a document is told by a prefix of its own. */
  readonly deletes?: boolean
  readonly docId?: string
}

/**
 * The error for an operation above the caller's rights; its message starts with the prefix that existing editor clients match. [PERM-4, REST-3]
 */
export function refuse({ role, level, needed, deletes = false, docId }: RefusedOperation): RelayError {
  const details = { ...(docId === undefined ? {} : { docId }), role, access: level }
  if (level === 'none') {
    return new RelayError('VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: you may not read this document.', details)
  }
  if (needed === 'owner' && role !== 'viewer') {
    const prefix = deletes ? 'ERR_DELETE_FORBIDDEN' : 'ERR_EDIT_FORBIDDEN'
    return new RelayError('OWNER_REQUIRED', `${prefix}: this needs the owner of the document or of the workspace.`, details)
  }
  return new RelayError('EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: you may read but not write here.', details)
}
