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

/**
 * One sharedWith entry, read tolerantly. `raw` is the entry as it was given, and answers show it in that form.
 * [BODY-13]
 */
export interface Share {
  readonly userId: string
  /** `null`: the given word is unknown and grants nothing. */
  readonly permission: SharePermission | null
  readonly raw: unknown
}

/** The facts of a document that decide a caller's level. */
export interface Sharing {
  /** `''` when the document has no owner. */
  readonly ownerId: string
  readonly shares: readonly Share[]
}

/** The principal of the static MCP token; it owns what is created with the token. [MCP-20] */
export const STATIC_PRINCIPAL = 'service:mcp'

/** Configured rights in addition to those of owners, share lists and workspace owners. [PERM-1] */
export interface AccessPolicy {
  /** False: members may edit every document of their workspace, and viewers may read it. */
  readonly enforcePrivateDocs: boolean
  /** The level of everybody in the workspace on documents of the static MCP token. [AG-89] */
  readonly staticTokenShare: 'none' | 'view' | 'edit'
}

const RANK: Readonly<Record<Level, number>> = { none: 0, view: 1, edit: 2, owner: 3 }

/** Whether `level` is enough for an operation that requires `needed`. */
export function reaches(level: Level, needed: Level): boolean {
  return RANK[level] >= RANK[needed]
}

/**
 * Decides what `caller` may do with a document, from its owner and share list alone. All rights are decided here.
 * [PERM-1, PERM-2]
 *
 * The result is the highest level that the caller has by ownership, by the workspace role, or by a share; of several
 * entries for one user the highest counts. A member may edit a document without owner. When private documents are not
 * enforced, a member may edit every document and a viewer may read every document. Documents of the static MCP token are
 * shared with the workspace as configured. The workspace role viewer never gets more than view.
 */
export function decideLevel(caller: Pick<Access, 'sub' | 'role'>, sharing: Sharing, policy: AccessPolicy): Level {
  const { sub, role } = caller
  const { enforcePrivateDocs, staticTokenShare } = policy
  const grants: Level[] = ['none']
  if (sharing.ownerId === sub || role === 'owner') grants.push('owner')
  for (const share of sharing.shares) if (share.userId === sub && share.permission !== null) grants.push(share.permission)
  if (role === 'member' && (sharing.ownerId === '' || !enforcePrivateDocs)) grants.push('edit')
  if (role === 'viewer' && !enforcePrivateDocs) grants.push('view')
  if (sharing.ownerId === STATIC_PRINCIPAL) grants.push(staticTokenShare)
  const highest = grants.reduce((best, level) => (reaches(level, best) ? level : best))
  return role === 'viewer' && highest !== 'none' ? 'view' : highest
}

/**
 * Whether the caller may create documents and write what belongs to the workspace: collections, style profiles, blobs.
 * [PERM-3]
 */
export function mayCreate(role: Role): boolean {
  return role !== 'viewer'
}

/**
 * Whether the caller may put a deleted document back: its recorded owner or a workspace owner may, a viewer never.
 * [PERM-3]
 */
export function mayOverrideTombstone(caller: Pick<Access, 'sub' | 'role'>, recordedOwnerId: string): boolean {
  return caller.role === 'owner' || (caller.role === 'member' && recordedOwnerId === caller.sub)
}

export interface RefusedOperation {
  readonly role: Role
  /** The level of the caller; `view` when there is no document, as when a viewer creates one. */
  readonly level: Level
  /** The level that the operation requires; `edit` also when only the role forbids it. */
  readonly needed: Exclude<Level, 'none'>
  /** True for a deletion, whose message has a prefix of its own. */
  readonly deletes?: boolean
  readonly docId?: string
}

/**
 * Makes the error for an operation above the caller's rights. Its message starts with the prefix that existing editor
 * clients compare. [PERM-4, REST-3]
 */
export function refuse({ role, level, needed, deletes = false, docId }: RefusedOperation): RelayError {
  const details = { ...(docId === undefined ? {} : { docId }), role, access: level }
  if (level === 'none') {
    return new RelayError('VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: you may not read this document.', details)
  }
  if (needed === 'owner' && role !== 'viewer') {
    const prefix = deletes ? 'ERR_DELETE_FORBIDDEN' : 'ERR_EDIT_FORBIDDEN'
    return new RelayError('OWNER_REQUIRED', `${prefix}: only an owner of the document or of the workspace may do this.`, details)
  }
  return new RelayError('EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: you may read but not write here.', details)
}

/** Throws EDIT_FORBIDDEN for the role viewer, which may write nothing that belongs to the workspace. [PERM-3] */
export function requireWriter({ role }: Pick<Access, 'role'>): void {
  if (!mayCreate(role)) throw refuse({ role, level: 'view', needed: 'edit' })
}
