import { jsonFrame, readJson } from '@docrelay/protocol/codec'
import { type JoinedFrame, TAG } from '@docrelay/protocol/frames'
import { decideLevel } from '../../access/access.ts'
import type { DocumentHead, DocumentState } from '../../documents/document-store.port.ts'
import { successorOf } from '../../documents/successor.ts'
import { DAMAGED_RETRY_MS, damagedPartOf, damageText } from '../../kernel/damage.ts'
import type { NotLoaded } from '../worker-messages.ts'
import { newAckTracker } from './ack-tracker.ts'
import { type Connection, identityOf } from './connection.ts'
import { damagedPart } from './room-jobs.ts'
import { retryElsewhereMs } from './retry-after.ts'
import { announcedLevel, type NotOpen } from './room-table.ts'
import type { SessionContext } from './session-context.ts'
import { canNameDocument, decideJoin, JOIN_BUCKET, parseJoin, takeOwn } from './session-rules.ts'

/** A document that is deleted or whose sharing changes during a join is looked up again, at most this often. */
const ATTEMPTS = 4

type AskedJoin = NonNullable<ReturnType<typeof parseJoin>>

const REFUSAL_TEXT = {
  ERR_UNKNOWN_DOC: '',
  ERR_VIEW_FORBIDDEN: 'you may not read this document',
} as const

/** Handles JOIN_DOC. After a failure the connection has no document and its socket stays open. [WS-21..WS-24] */
export async function handleJoin(context: SessionContext, connection: Connection, message: Uint8Array): Promise<void> {
  if (identityOf(connection) === null) {
    context.sendError(connection, 'ERR_NOT_AUTHENTICATED', 'authenticate before joining a document')
    return
  }
  const asked = parseJoin(readJson(message))
  if (asked === null) {
    context.sendError(
      connection,
      'ERR_BAD_FRAME',
      'JOIN_DOC is an object with a string docId and, where it has one, a string lineage',
    )
    context.violation(connection)
    return
  }
  const { bucket, taken } = takeOwn(connection.joinBucket, JOIN_BUCKET, context.clock.monotonicMs())
  connection.joinBucket = bucket
  if (!taken) {
    context.counters.rateLimited.join++
    context.sendError(connection, 'ERR_RATE_LIMIT', '')
    return
  }
  context.unbind(connection)
  if (!canNameDocument(asked.docId)) {
    context.sendError(connection, 'ERR_UNKNOWN_DOC', '')
    return
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) if ((await tryJoin(context, connection, asked)) === 'settled') return
  unavailable(context, connection, asked.docId, 'unavailable')
}

/** Tries the join once. Returns `again` when the document was deleted or its sharing changed during the join. */
async function tryJoin(
  context: SessionContext,
  connection: Connection,
  { docId, lineage }: AskedJoin,
): Promise<'settled' | 'again'> {
  const identity = identityOf(connection)
  if (identity === null) return 'settled'
  const { access } = identity
  const { rooms, settings } = context
  using sharing = rooms.watchSharing({ workspaceId: access.workspaceId, id: docId })
  const state = await lookUp(context, access.workspaceId, docId)
  if (connection.state.kind === 'closed') return 'settled'
  if (typeof state === 'string') return unavailable(context, connection, docId, state)
  const decision = decideJoin(state, access, settings.accessPolicy, lineage)
  if (decision.kind === 'other-lineage') {
    context.sendOtherLineage(connection, decision.present)
    return 'settled'
  }
  if (decision.kind === 'deleted') {
    const deps = { store: context.store, accessPolicy: settings.accessPolicy }
    // ERR_DELETED is sent even if the store does not answer which document is the successor.
    const successor = await successorOf(access, state, deps).catch(() => null)
    context.sendDeleted(connection, successor?.id ?? null)
    return 'settled'
  }
  if (decision.kind === 'refuse') {
    context.sendError(connection, decision.code, REFUSAL_TEXT[decision.code])
    if (decision.code === 'ERR_VIEW_FORBIDDEN') {
      context.log.info('ws.join_refused', 'A caller may not read the document.', {
        audit: true,
        sub: access.sub,
        workspace: access.workspaceId,
        docId,
      })
    }
    return 'settled'
  }
  const entered = await rooms.enter(decision.head)
  if (identityOf(connection) === null) return 'settled'
  if (entered.kind === 'gone') return 'again'
  if (entered.kind !== 'open') return unavailable(context, connection, docId, entered.kind)
  if (sharing.changed) return 'again'
  const { room } = entered
  rooms.news.sharingRead(room, decision.head)
  const level = decideLevel(access, room.sharing, settings.accessPolicy)
  // The room knows a newer sharing than the head that this JOIN has read. By the newer sharing, the caller may not read the document.
  if (level === 'none') return 'again'
  const announced = announcedLevel(room, level)
  const join = ++connection.joins
  const binding = {
    room,
    join,
    knowsLineage: lineage !== null,
    level,
    announced,
    acks: newAckTracker(),
    isAsked: false,
    stepOneFree: true,
    stepOne: null,
    stepTwo: null,
    editRefused: false,
    chunks: null,
    presence: null,
  }
  connection.state = { kind: 'joined', identity, binding }
  if (rooms.join(room, connection)) {
    // The frame of `sendJoined` is sent before any answer of the worker.
    if (identity.joined) sendJoined(context, connection, decision.head, announced)
    return 'settled'
  }
  connection.state = { kind: 'authenticated', identity, ended: null }
  return 'again'
}

/** Sends the frame that announces the join and its level. [WS-61] */
function sendJoined(
  { outbox }: SessionContext,
  connection: Connection,
  { id, lineage, version }: DocumentHead,
  level: JoinedFrame['level'],
): void {
  const joined: JoinedFrame = { docId: id, level, ...(lineage !== '' && { lineage }), serverVersion: version }
  outbox.send(connection, jsonFrame(TAG.joined, joined))
}

/** Looks up a document. A store that does not answer is never reported as an absent document. [WS-22, C9] */
async function lookUp(context: SessionContext, workspaceId: string, id: string): Promise<DocumentState | NotLoaded> {
  try {
    return await context.store.state({ workspaceId, id })
  } catch (error) {
    context.log.warn('ws.join_failed', 'The store did not answer, so a JOIN_DOC failed.', {
      workspace: workspaceId,
      docId: id,
      error: String(error),
    })
    const part = damagedPartOf(error)
    return part === null ? 'unavailable' : `damaged-${part}`
  }
}

/** Sends the reason why a document cannot be loaded, and closes the connection. */
export function unavailable(context: SessionContext, connection: Connection, id: string, why: NotOpen): 'settled' {
  const part = damagedPart(why)
  context.sendError(connection, 'ERR_UNAVAILABLE', part === null ? 'the document cannot be loaded now' : damageText(part, id))
  context.close(connection, 1012, 'unavailable', part === null ? retryMs(context, why) : DAMAGED_RETRY_MS)
  return 'settled'
}

/**
 * Returns a short retry-after when the document is open at another node: a client that reconnects to that node can continue at once.
 * [WS-57]
 */
function retryMs({ random }: SessionContext, why: NotOpen): number | undefined {
  return why === 'unreachable' ? retryElsewhereMs(random) : undefined
}
