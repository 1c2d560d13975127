import { createHash, timingSafeEqual } from 'node:crypto'
import { type Access, STATIC_PRINCIPAL } from '../access/access.ts'
import type { ResolvedLimits } from '../access/limits.ts'
import { readBearer } from '../auth/bearer.ts'
import type { Membership, TokenVerifier } from '../auth/principal.ts'
import { chooseMembership, DEFAULT_WORKSPACE_ID, type Tenancy } from '../auth/tenancy.ts'
import type { Clock } from '../kernel/clock.ts'
import type { McpCaller } from './tool.ts'

/** The principal of the static token, and the owner of what it creates. [MCP-20] */

export interface CredentialDeps {
  /** `null` when the static token is not accepted here. [MCP-18] */
  readonly staticToken: string | null
  readonly verify: TokenVerifier
  readonly isRevoked: (jti: string) => boolean
  readonly tenancy: Tenancy
  readonly limitsOf: (claims: Membership['claims']) => ResolvedLimits
  readonly clock: Clock
  /** Counts a refused token by its reason. [OPS-4] */
  readonly refused: (reason: string) => void
}

export interface EndpointCaller extends McpCaller {
  /** Identifies the caller: kind of credential, workspace and principal. */
  readonly key: string
  /** Identifies the principal over all workspaces. */
  readonly principalKey: string
  /** Whether the credential would still be accepted. [MCP-28] */
  isGood(): boolean
}

/**
 * `refused`: 401, whatever the reason. `forbidden`: a good token, but not for a workspace of this relay. [MCP-21,
 * MCP-22]
 */
export type CredentialOutcome =
  | { readonly kind: 'accepted'; readonly caller: EndpointCaller }
  | { readonly kind: 'refused' }
  | { readonly kind: 'forbidden' }

export type ReadCredential = (authorization: readonly string[], namedWorkspace: string | undefined) => Promise<CredentialOutcome>

/** Makes a reader of credentials: tries the static token first, then a token of the issuer. [MCP-18] */
export function createCredentialReader(deps: CredentialDeps): ReadCredential {
  const expected = deps.staticToken === null ? null : digest(deps.staticToken)
  return async (authorization, namedWorkspace) => {
    const bearer = readBearer(authorization)
    if (bearer === null) return { kind: 'refused' }
    // Compares digests, so that the duration reveals neither content nor length.
    if (expected !== null && timingSafeEqual(expected, digest(bearer))) return staticCaller(namedWorkspace, deps)
    const verification = await deps.verify(bearer)
    if (verification.kind === 'refused') {
      deps.refused(verification.reason)
      return { kind: 'refused' }
    }
    if (verification.kind === 'forbidden') return { kind: 'forbidden' }
    const { principal } = verification
    const choice = chooseMembership(principal, deps.tenancy, namedWorkspace)
    if (choice.kind !== 'chosen') return { kind: 'forbidden' }
    const { workspaceId, role, claims } = choice.membership
    const access: Access = { sub: principal.sub, workspaceId, role, limits: deps.limitsOf(claims) }
    const isGood = () => principal.expSec > deps.clock.nowMs() / 1000 && !deps.isRevoked(principal.jti)
    return { kind: 'accepted', caller: callerOf(access, false, isGood) }
  }
}

function staticCaller(namedWorkspace: string | undefined, { tenancy, limitsOf }: CredentialDeps): CredentialOutcome {
  const workspaceId = tenancy.mode === 'dedicated' ? tenancy.workspaceId : DEFAULT_WORKSPACE_ID
  if (namedWorkspace !== undefined && namedWorkspace !== '' && namedWorkspace !== workspaceId) return { kind: 'forbidden' }
  const access: Access = { sub: STATIC_PRINCIPAL, workspaceId, role: 'owner', limits: limitsOf({}) }
  return { kind: 'accepted', caller: callerOf(access, true, () => true) }
}

/** JSON keeps the parts apart, whatever characters they have. */
function callerOf(access: Access, isStatic: boolean, isGood: () => boolean): EndpointCaller {
  const principalKey = JSON.stringify([isStatic, access.sub])
  return { access, isStatic, isGood, principalKey, key: JSON.stringify([isStatic, access.sub, access.workspaceId]) }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
