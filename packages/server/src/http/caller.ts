import type { Access } from '../access/access.ts'
import type { ResolvedLimits } from '../access/limits.ts'
import { readBearer } from '../auth/bearer.ts'
import type { Membership, Principal, Recheck, TokenVerifier } from '../auth/principal.ts'
import { refusalError, unauthenticated } from '../auth/refusals.ts'
import { chooseMembership, noMembership, type Tenancy } from '../auth/tenancy.ts'
import { RelayError } from '../kernel/errors.ts'

/** The caller of a request, and the workspace of the request. */
export interface Caller {
  readonly principal: Principal
  readonly access: Access
}

export interface CallerDeps {
  readonly verify: TokenVerifier
  readonly recheck: Recheck
  readonly tenancy: Tenancy
  /** Merges claims and configuration. [LIM-1] */
  readonly limitsOf: (claims: Membership['claims']) => ResolvedLimits
  /** Counts a refused credential by its reason. [OPS-4] */
  readonly refused: (reason: string) => void
}

/**
 * Turns a bearer into the caller of one workspace, in the order of the interface's steps. [AUTH-1, AUTH-2, AUTH-6]
 * Throws the error to answer: 400 for text that is no token, 401 for a bad token, 403 when the workspace is not the
 * caller's.
 */
export async function readCaller(
  authorization: string | undefined,
  namedWorkspace: string | undefined,
  deps: CallerDeps,
): Promise<Caller> {
  const token = readBearer(authorization)
  if (token === null) throw unauthenticated()
  const verification = await deps.verify(token)
  if (verification.kind === 'refused') {
    deps.refused(verification.reason)
    throw refusalError(verification.reason)
  }
  const choice =
    verification.kind === 'verified'
      ? chooseMembership(verification.principal, deps.tenancy, namedWorkspace)
      : noMembership(deps.tenancy)
  if (choice.kind === 'forbidden-plain') throw new RelayError('FORBIDDEN_PLAIN', 'forbidden')
  if (choice.kind === 'forbidden' || verification.kind !== 'verified') {
    throw new RelayError('FORBIDDEN', 'The token has no usable membership of the named workspace.')
  }
  const { membership } = choice
  const limits = deps.limitsOf(membership.claims)
  return {
    principal: verification.principal,
    access: { sub: verification.principal.sub, workspaceId: membership.workspaceId, role: membership.role, limits },
  }
}

/**
 * Checks a token again after the body has arrived: a body may take hours, in which the token may expire or be revoked. Throws the error for such
 * a token. [AUTH-5, AUTH-16]
 */
export function checkAgain(caller: Caller | null, { recheck, refused }: Pick<CallerDeps, 'recheck' | 'refused'>): void {
  const reason = caller === null ? null : recheck(caller.principal)
  if (reason === null) return
  refused(reason)
  throw refusalError(reason)
}

/** Returns the caller of a request. Only for routes with the credential `bearer`, whose requests always have one. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new RelayError('INTERNAL', 'A bearer route ran without a caller.')
  return request.caller
}
