import type { Role } from '../auth/principal.ts'
import type { Access, Level, Share, SharePermission, Sharing } from './access.ts'

const PERMISSIONS: ReadonlyMap<unknown, SharePermission> = new Map([
  // An absent permission lets read.
  [undefined, 'view'],
  ['view', 'view'],
  ['viewer', 'view'],
  ['read', 'view'],
  ['edit', 'edit'],
  ['editor', 'edit'],
  ['write', 'edit'],
  ['owner', 'owner'],
])

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

/**
 * Reads a share list the way existing editor clients write it: a bare string is a user with view; `user_id` and `id` stand for `userId`, `role`
 * for `permission`. A word that is not known grants nothing, and an entry that names nobody is left out. [BODY-13]
 */
export function readShares(sharedWith: readonly unknown[]): Share[] {
  return sharedWith.map(readShare).filter((share) => share !== null)
}

function readShare(raw: unknown): Share | null {
  if (typeof raw === 'string') return { userId: raw, permission: 'view', raw }
  if (typeof raw !== 'object' || raw === null) return null
  const entry = raw as Readonly<Record<string, unknown>>
  const userId = [own(entry, 'userId'), own(entry, 'user_id'), own(entry, 'id')].find((value) => typeof value === 'string')
  if (typeof userId !== 'string') return null
  const word = Object.hasOwn(entry, 'permission') ? entry['permission'] : own(entry, 'role')
  return { userId, permission: PERMISSIONS.get(word) ?? null, raw }
}

/** `null` is a value, not an absent member: as a permission it is no known word. */
function own(entry: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(entry, name) ? entry[name] : undefined
}
