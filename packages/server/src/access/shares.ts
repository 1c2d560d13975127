import { type Level, reaches, type Share, type SharePermission } from './access.ts'

const PERMISSIONS: ReadonlyMap<unknown, SharePermission> = new Map([
  // An entry without a permission allows reading.
  [undefined, 'view'],
  ['view', 'view'],
  ['viewer', 'view'],
  ['read', 'view'],
  ['edit', 'edit'],
  ['editor', 'edit'],
  ['write', 'edit'],
  ['owner', 'owner'],
])

/**
 * Reads a share list in every form that existing editor clients write: a bare string is a user with view; `user_id` and
 * `id` stand for `userId`, `role` for `permission`. An unknown permission grants nothing; an entry without a user is
 * left out. [BODY-13]
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

/** Returns an own member. `null` is a value and not an absent member: as a permission it is an unknown word. */
function own(entry: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(entry, name) ? entry[name] : undefined
}

/**
 * Returns the entries of a share list, as given, that a caller of this level may see: all entries at edit and owner,
 * only the caller's own at view. [PERM-7]
 */
export function visibleShares(level: Level, sub: string, sharedWith: readonly unknown[]): readonly unknown[] {
  if (reaches(level, 'edit')) return sharedWith
  if (level === 'none') return []
  return readShares(sharedWith)
    .filter((share) => share.userId === sub)
    .map((share) => share.raw)
}
