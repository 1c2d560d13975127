import type { Membership, Principal } from './principal.ts'

/**
 * The workspaces that this relay serves. `workspaceId` is the pinned one, `default` when the configuration leaves it
 * blank. [AUTH-7]
 */
export type Tenancy = { readonly mode: 'dedicated'; readonly workspaceId: string } | { readonly mode: 'shared' }

/** The workspace of a request, or a refusal. `forbidden-plain` is answered with the bare word `forbidden`, and names no workspace. */
export type MembershipChoice =
  | { readonly kind: 'chosen'; readonly membership: Membership }
  | { readonly kind: 'forbidden-plain' }
  | { readonly kind: 'forbidden' }

/** The id of a dedicated workspace when the configuration names none; existing stores have it. */
export const DEFAULT_WORKSPACE_ID = 'default'

/** Returns the tenancy; a blank or missing id becomes `default`. [AUTH-7] */
export function tenancyOf(mode: Tenancy['mode'], workspaceId: string | null): Tenancy {
  return mode === 'shared' ? { mode } : { mode, workspaceId: workspaceId || DEFAULT_WORKSPACE_ID }
}

/**
 * Picks the workspace of a request. `namedWorkspace` is `X-Workspace-Id`, or the query member `workspace` of a socket; `undefined` or blank
 * when the request names none. A dedicated relay refuses a request that names another workspace even when the token has the pin. [AUTH-6]
 */
export function chooseMembership(
  principal: Pick<Principal, 'memberships'>,
  tenancy: Tenancy,
  namedWorkspace: string | undefined,
): MembershipChoice {
  const named = namedWorkspace === '' ? undefined : namedWorkspace
  if (tenancy.mode === 'dedicated' && named !== undefined && named !== tenancy.workspaceId) return { kind: 'forbidden-plain' }
  const wanted = tenancy.mode === 'dedicated' ? tenancy.workspaceId : named
  const membership = principal.memberships.find((entry) => wanted === undefined || entry.workspaceId === wanted)
  return membership ? { kind: 'chosen', membership } : noMembership(tenancy)
}

/** Returns the answer to a valid token without a usable `wsp` entry. */
export function noMembership(tenancy: Tenancy): { readonly kind: 'forbidden-plain' } | { readonly kind: 'forbidden' } {
  return { kind: tenancy.mode === 'dedicated' ? 'forbidden-plain' : 'forbidden' }
}

/**
 * Whether this relay may serve a socket of this membership; a blank `serverRegion` serves every region. WebSocket only.
 * [AUTH-8]
 */
export function regionMatches(serverRegion: string, membership: Pick<Membership, 'region'>): boolean {
  return serverRegion === '' || membership.region === serverRegion
}
