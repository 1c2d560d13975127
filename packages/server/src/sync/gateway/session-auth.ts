import { jsonFrame, readJson } from '@docrelay/protocol/codec'
import { type AuthResponseFrame, type JoinedFrame, TAG } from '@docrelay/protocol/frames'
import { PROTOCOL_MINOR, PROTOCOL_VERSION } from '@docrelay/protocol/version'
import { type Access, decideLevel } from '../../access/access.ts'
import { resolveLimits } from '../../access/limits.ts'
import type { Principal, Verification } from '../../auth/principal.ts'
import { chooseMembership, regionMatches } from '../../auth/tenancy.ts'
import { type Connection, type Identity, identityOf, memberRights } from './connection.ts'
import { countIn } from './gateway-counters.ts'
import { announcedLevel } from './room-table.ts'
import type { SessionContext, SessionDeps } from './session-context.ts'
import {
  type AuthFailure,
  type AuthForm,
  FORBIDDEN,
  parseAuth,
  PLAIN_FORM,
  seatFailure,
  TEMPORARILY_UNAVAILABLE,
  tokenFailure,
} from './session-rules.ts'

export type PinnedToken =
  | { readonly kind: 'pinned'; readonly access: Access; readonly jti: string; readonly expMs: number }
  /** `sub`: the subject of a token that was verified and still refused. */
  | { readonly kind: 'failed'; readonly failure: AuthFailure; readonly sub?: string }

/** Handles the first AUTH of a connection, or a renewal. [WS-15..WS-19] */
export async function handleAuth(context: SessionContext, connection: Connection, message: Uint8Array): Promise<void> {
  const parsed = parseAuth(readJson(message))
  const form = parsed ?? PLAIN_FORM
  const pinned = parsed ? await checkToken(context, parsed.token, connection.namedWorkspace) : malformed()
  if (connection.state.kind === 'closed') return
  const current = identityOf(connection)
  if (current === null) await authenticate(context, connection, pinned, form)
  else await renew(context, connection, current, pinned, form)
}

/** Verifies a token and pins it to its workspace and region. Never rejects. [AUTH-6, AUTH-8] */
export async function checkToken(deps: SessionDeps, token: string, namedWorkspace: string | undefined): Promise<PinnedToken> {
  let verification: Verification
  try {
    verification = await deps.verifyToken(token)
  } catch {
    return { kind: 'failed', failure: TEMPORARILY_UNAVAILABLE }
  }
  if (verification.kind === 'refused') return { kind: 'failed', failure: tokenFailure(verification.reason) }
  if (verification.kind === 'forbidden') return { kind: 'failed', failure: FORBIDDEN }
  return pin(deps, verification.principal, namedWorkspace)
}

/** Pins a verified caller to the workspace of the socket. */
export function pin(deps: SessionDeps, principal: Principal, namedWorkspace: string | undefined): PinnedToken {
  const { tenancy, region, configuredLimits } = deps.settings
  const choice = chooseMembership(principal, tenancy, namedWorkspace)
  if (choice.kind !== 'chosen' || !regionMatches(region, choice.membership))
    return { kind: 'failed', failure: FORBIDDEN, sub: principal.sub }
  const { workspaceId, role, claims } = choice.membership
  const access: Access = { sub: principal.sub, workspaceId, role, limits: resolveLimits(claims, configuredLimits) }
  return { kind: 'pinned', access, jti: principal.jti, expMs: principal.expSec * 1000 }
}

/** Takes a seat and makes the connection act for its token. The seat counts from this moment. [WS-15] */
export async function authenticate(
  context: SessionContext,
  connection: Connection,
  pinned: PinnedToken,
  form: AuthForm,
): Promise<void> {
  if (pinned.kind === 'failed') return refuseFirst(context, connection, pinned.failure, pinned.sub)
  const { access } = pinned
  const refused = await takeSeat(context, connection, access, 'take')
  if (connection.state.kind === 'closed') {
    if (refused === null) releaseSeat(context, connection, access.workspaceId)
    return
  }
  if (refused !== null) return refuseFirst(context, connection, refused, access.sub)
  const identity: Identity = { access, jti: pinned.jti, expMs: pinned.expMs, ack: form.ack, joined: form.joined }
  connection.seat = access.workspaceId
  connection.state = { kind: 'authenticated', identity, ended: null }
  context.authenticated(connection, access.workspaceId)
  context.outbox.send(connection, jsonFrame(TAG.authResponse, success(context, identity, form)))
}

/** Replaces the token of a live connection, or changes nothing. [WS-18, WS-19] */
async function renew(
  context: SessionContext,
  connection: Connection,
  current: Identity,
  pinned: PinnedToken,
  form: AuthForm,
): Promise<void> {
  if (pinned.kind === 'failed') return refuseRenewal(context, connection, pinned.failure)
  const { access } = pinned
  const sameCaller = access.sub === current.access.sub && access.workspaceId === current.access.workspaceId
  if (!sameCaller) return refuseRenewal(context, connection, FORBIDDEN)
  if (isEditor(access) !== isEditor(current.access)) {
    const refused = await takeSeat(context, connection, access, 'change')
    if (connection.state.kind === 'closed') return
    if (refused !== null) return refuseRenewal(context, connection, refused)
  }
  const granted = { ack: current.ack || form.ack, joined: current.joined || form.joined }
  const identity: Identity = { access, jti: pinned.jti, expMs: pinned.expMs, ...granted }
  const { state } = connection
  if (state.kind === 'authenticated') connection.state = { kind: 'authenticated', identity, ended: state.ended }
  else if (state.kind === 'joined') connection.state = { kind: 'joined', identity, binding: state.binding }
  if (access.role !== current.access.role) {
    const { sub, workspaceId } = access
    context.log.info('ws.role_changed', 'The role of a live socket changed.', {
      audit: true,
      sub,
      workspace: workspaceId,
      role: access.role,
    })
  }
  context.outbox.send(connection, jsonFrame(TAG.authResponse, success(context, identity, form)))
  applyLevel(context, connection)
}

/**
 * Decides the rights of a joined connection again, with its current role and the current shares. Unbinds the connection at once when its
 * level is below view. A change between view and edit applies from the next message on. [WS-54, PERM-2]
 */
export function applyLevel(context: SessionContext, connection: Connection): void {
  const { state } = connection
  if (state.kind !== 'joined') return
  const { binding, identity } = state
  const { room } = binding
  const level = decideLevel(identity.access, room.sharing, context.settings.accessPolicy)
  if (level === 'none') {
    const { received } = binding.acks
    context.unbind(connection)
    connection.state = {
      kind: 'authenticated',
      identity,
      ended: { room, code: 'ERR_VIEW_FORBIDDEN', received, eventDue: false, refusedChunks: [] },
    }
    context.sendError(connection, 'ERR_VIEW_FORBIDDEN', 'you may no longer read this document')
    const { sub, workspaceId } = identity.access
    context.log.info('ws.view_lost', 'A joined caller may no longer read the document.', {
      audit: true,
      sub,
      workspace: workspaceId,
      docId: room.ref.id,
    })
    return
  }
  const announced = announcedLevel(room, level)
  if (identity.joined && announced !== binding.announced) {
    const joined: JoinedFrame = { docId: room.ref.id, level: announced }
    context.outbox.send(connection, jsonFrame(TAG.joined, joined))
  }
  binding.level = level
  binding.announced = announced
  // The room gets this message after every change of token or shares, because a new token may have another size limit at the same level.
  context.rooms.post(room, { kind: 'rights', room: room.number, connection: connection.id, ...memberRights(binding, identity) })
}

/** Releases the seat of a connection. A failure is logged, and the seat expires by itself. [WS-17] */
export function releaseSeat(deps: SessionDeps, connection: Connection, workspaceId: string): void {
  deps.seats.release(workspaceId, seatName(deps, connection)).catch((error: unknown) => {
    deps.log.warn('ws.seat_release_failed', 'A seat could not be given back.', { workspace: workspaceId, error: String(error) })
  })
}

async function takeSeat(
  context: SessionContext,
  connection: Connection,
  access: Access,
  verb: 'take' | 'change',
): Promise<AuthFailure | null> {
  const seat = { workspaceId: access.workspaceId, connectionId: seatName(context, connection), editor: isEditor(access) }
  const limits = { connections: context.settings.maxConnectionsPerWorkspace, editors: access.limits.editorLimit }
  try {
    const outcome = await context.seats[verb](seat, limits)
    if (outcome === 'taken') return null
    context.counters.capRejections[outcome === 'connection-limit' ? 'connections' : 'editors']++
    return seatFailure(outcome)
  } catch {
    return TEMPORARILY_UNAVAILABLE
  }
}

/**
 * Answers a failed first AUTH at once. The close waits when the same caller was refused recently. `sub`: the subject of the token, when
 * the token was verified. [WS-16]
 */
function refuseFirst(context: SessionContext, connection: Connection, failure: AuthFailure, sub: string | undefined): void {
  refuseRenewal(context, connection, failure)
  const close = (): void => context.close(connection, failure.code, failure.word)
  const who = sub === undefined ? `because ${failure.error}` : `sub ${sub}`
  const waitMs = context.refusedSignIns.waitMs(connection.address, who, context.clock.monotonicMs())
  if (connection.state.kind !== 'unauthenticated' || waitMs === 0 || !context.holdRefused(connection)) return close()
  connection.state = { ...connection.state, isRefused: true }
  context.timers.after(waitMs, close)
}

function refuseRenewal(context: SessionContext, connection: Connection, failure: AuthFailure): void {
  countIn(context.counters.authFailures, failure.error)
  const response: AuthResponseFrame = { success: false, error: failure.error }
  context.outbox.send(connection, jsonFrame(TAG.authResponse, response))
}

function success(context: SessionContext, identity: Identity, form: AuthForm): AuthResponseFrame {
  const { sub, role, workspaceId } = identity.access
  const base = { success: true, userId: sub, username: sub, role, maxMessageSize: context.settings.maxPayloadBytes }
  if (!form.objectForm) return base
  const features = [...(identity.ack ? ['ack'] : []), ...(identity.joined ? ['joined'] : [])]
  return { ...base, features, tokenExpiresAt: identity.expMs, workspaceId, protocol: `${PROTOCOL_VERSION}.${PROTOCOL_MINOR}` }
}

function malformed(): PinnedToken {
  return { kind: 'failed', failure: tokenFailure('token malformed') }
}

function isEditor(access: Access): boolean {
  return access.role !== 'viewer'
}

function seatName(deps: SessionDeps, connection: Connection): string {
  return `${deps.settings.nodeId}:${connection.id}`
}

/** Returns the word with which to close a connection whose token is no longer valid, otherwise `null`. [WS-20] */
export function tokenEnd(deps: SessionDeps, connection: Connection, nowMs: number): 'token-expired' | 'token-revoked' | null {
  const identity = identityOf(connection)
  if (identity === null) return null
  if (nowMs >= identity.expMs) return 'token-expired'
  return deps.isRevoked(identity.jti) ? 'token-revoked' : null
}
