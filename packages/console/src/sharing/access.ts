import type { DocumentMetadata, ShareInput } from '@docrelay/client'

export type ShareLevel = 'view' | 'edit' | 'owner'

/** A person in the share list. */
export interface Share {
  readonly userId: string
  /** `null` when the list has no name for the person. */
  readonly userName: string | null
  readonly level: ShareLevel
  /** When the share was given (ms since 1970); `null` when the list does not say. */
  readonly since: number | null
}

/** Why a person may open a document. [PERM-1] */
export type Reason = 'owner' | 'share' | 'workspace-owner' | 'workspace'

const WORDS: Readonly<Record<string, ShareLevel>> = {
  view: 'view',
  viewer: 'view',
  read: 'view',
  edit: 'edit',
  editor: 'edit',
  write: 'edit',
  owner: 'owner',
}

/** Reads the share list of a document as the relay does; entries that give no right are left out. [BODY-13] */
export function readShares(sharedWith: readonly unknown[]): readonly Share[] {
  return sharedWith.flatMap((entry): readonly Share[] => {
    if (typeof entry === 'string') return [{ userId: entry, userName: null, level: 'view', since: null }]
    if (typeof entry !== 'object' || entry === null) return []
    const members = entry as Readonly<Record<string, unknown>>
    const userId = [members['userId'], members['user_id'], members['id']].find((id) => typeof id === 'string')
    const word = members['permission'] ?? members['role'] ?? 'view'
    const level = typeof word === 'string' && Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
    if (userId === undefined || level === undefined) return []
    const { userName, sharedAt } = members
    return [
      {
        userId: userId as string,
        userName: typeof userName === 'string' && userName !== '' ? userName : null,
        level,
        since: typeof sharedAt === 'number' ? sharedAt : null,
      },
    ]
  })
}

/** Returns the list with this level for a user; `null` removes the user. */
export function withLevel(shares: readonly Share[], userId: string, level: 'view' | 'edit' | null): readonly ShareInput[] {
  const others = shares.filter((share) => share.userId !== userId)
  const known = shares.find((share) => share.userId === userId)
  const changed = level === null ? [] : [{ userId, userName: known?.userName ?? null, level }]
  // Keeps the place of the user in the list, so that rows do not jump.
  const at = known === undefined ? others.length : shares.indexOf(known)
  return [...others.slice(0, at), ...changed, ...others.slice(at)].map((share) => ({
    userId: share.userId,
    ...(share.userName !== null && { userName: share.userName }),
    permission: share.level,
  }))
}

/** Returns why `sub` has the level that the metadata give. */
export function reasonOf(sub: string, { ownerId, access, sharedWith }: DocumentMetadata): Reason {
  if (ownerId === sub) return 'owner'
  const ranks = ['view', 'edit', 'owner']
  const own = readShares(sharedWith).filter(({ userId }) => userId === sub)
  // A share counts as the reason even when the person's role allows less than the share gives.
  if (own.some(({ level }) => ranks.indexOf(level) >= ranks.indexOf(access))) return 'share'
  return access === 'owner' ? 'workspace-owner' : 'workspace'
}

/** Returns why an id cannot be added to the share list, or `null`. An id is any text of at most 256 bytes. [BODY-13] */
export function idFlaw(userId: string, ownerId: string, shares: readonly Share[]): 'empty' | 'long' | 'owner' | 'known' | null {
  if (userId === '') return 'empty'
  if (new TextEncoder().encode(userId).length > 256) return 'long'
  if (userId === ownerId) return 'owner'
  return shares.some((share) => share.userId === userId) ? 'known' : null
}
