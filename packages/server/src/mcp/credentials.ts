import { createHash, timingSafeEqual } from 'node:crypto'
import { type Access, STATIC_PRINCIPAL } from '../access/access.ts'
import type { ResolvedLimits } from '../access/limits.ts'
import { readBearer } from '../auth/bearer.ts'
import type { Membership, Recheck, TokenRefusal, TokenVerifier } from '../auth/principal.ts'
import { chooseMembership, DEFAULT_WORKSPACE_ID, type Tenancy } from '../auth/tenancy.ts'
import type { McpCaller } from './tool.ts'

/** Subject of the principal of the static token, and owner of the documents it creates. [MCP-20] */

export interface CredentialDeps {
  /** `null` when the static token is not accepted here. [MCP-18] */
  readonly staticToken: string | null
  readonly verify: TokenVerifier
  readonly recheck: Recheck
  readonly tenancy: Tenancy
  readonly limitsOf: (claims: Membership['claims']) => ResolvedLimits
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
  /** Like `isGood`, but counts a refusal. For a request that is refused when the result is false. [AUTH-16] */
  checkAgain(): boolean
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
    const refusal = () => deps.recheck(principal)
    return { kind: 'accepted', caller: callerOf(access, false, refusal, deps) }
  }
}

function staticCaller(namedWorkspace: string | undefined, deps: CredentialDeps): CredentialOutcome {
  const { tenancy, limitsOf } = deps
  const workspaceId = tenancy.mode === 'dedicated' ? tenancy.workspaceId : DEFAULT_WORKSPACE_ID
  if (namedWorkspace !== undefined && namedWorkspace !== '' && namedWorkspace !== workspaceId) return { kind: 'forbidden' }
  const access: Access = { sub: STATIC_PRINCIPAL, workspaceId, role: 'owner', limits: limitsOf({}) }
  return { kind: 'accepted', caller: callerOf(access, true, () => null, deps) }
}

/** Makes the caller. Its keys are JSON, so no character in one part can be mistaken for a separator. */
function callerOf(
  access: Access,
  isStatic: boolean,
  refusal: () => TokenRefusal | null,
  { refused }: Pick<CredentialDeps, 'refused'>,
): EndpointCaller {
  return {
    access,
    isStatic,
    principalKey: JSON.stringify([isStatic, access.sub]),
    key: JSON.stringify([isStatic, access.sub, access.workspaceId]),
    isGood: () => refusal() === null,
    checkAgain() {
      const reason = refusal()
      if (reason !== null) refused(reason)
      return reason === null
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
