import { MAX_SHARES, type NewShare } from '../documents/sharing.ts'
import { badRequest, readMembers, readUserId, readUserName } from '../kernel/bad-request.ts'

const MAX_LINK_ID_BYTES = 64

/** The two requests that the deprecated share route accepts. [SHARE-6] */
export type ShareRequest =
  | { readonly kind: 'link'; readonly expiresAt: unknown }
  | { readonly kind: 'shares'; readonly shares: readonly NewShare[] }

/** Reads the body of the deprecated share route: either `expires_at` or `shares`. Throws BAD_REQUEST. */
export function readShareRequest(json: unknown): ShareRequest {
  const { expires_at: expiresAt, shares } = readMembers(json)
  if ((expiresAt === undefined) === (shares === undefined)) {
    throw badRequest('shares', 'The body has either expires_at or shares.')
  }
  return shares === undefined ? { kind: 'link', expiresAt } : { kind: 'shares', shares: readShareList(shares) }
}

/** Permission words of the route and of the share list in a body, because editors send that list back. [SHARE-6, BODY-13] */
const PERMISSIONS: ReadonlyMap<unknown, NewShare['permission']> = new Map([
  ['viewer', 'view'],
  ['view', 'view'],
  ['editor', 'edit'],
  ['edit', 'edit'],
  ['owner', 'owner'],
  ['none', 'none'],
])

/** Reads a list of shares. Refuses a user named twice, because either permission could be meant. */
function readShareList(list: unknown): readonly NewShare[] {
  if (!Array.isArray(list) || list.length > MAX_SHARES) {
    throw badRequest('shares', `The member shares is a list of at most ${MAX_SHARES} entries.`, { limit: MAX_SHARES })
  }
  const named = new Set<string>()
  const shares: NewShare[] = []
  for (const [at, entry] of (list as readonly unknown[]).entries()) {
    const field = `shares[${at}]`
    const { userId: given, userName, permission: word } = readMembers(entry, field)
    const userId = readUserId(given, `${field}.userId`)
    if (named.has(userId)) throw badRequest(`${field}.userId`, `The member ${field}.userId names a user a second time.`)
    named.add(userId)
    const permission = PERMISSIONS.get(word)
    if (permission === undefined) {
      throw badRequest(`${field}.permission`, `The member ${field}.permission is viewer, view, editor, edit, owner or none.`)
    }
    shares.push({ userId, userName: readUserName(userName ?? null, `${field}.userName`), permission })
  }
  return shares
}

/** Reads the token of a redeem. A token of another form opens nothing and is treated like any other unknown token. [SHARE-4] */
export function readToken(json: unknown): string {
  const { token } = readMembers(json)
  if (typeof token === 'string') return token
  throw badRequest('token', 'The member token is text.')
}

export function isLinkId(id: string): boolean {
  return id !== '' && Buffer.byteLength(id) <= MAX_LINK_ID_BYTES && !/\p{Cc}/u.test(id)
}
