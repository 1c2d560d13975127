import { readJson } from '@docrelay/protocol/codec'
import { decideLevel } from '../../access/access.ts'
import type { DocumentState } from '../../documents/document-store.port.ts'
import { newAckTracker } from './ack-tracker.ts'
import { type Connection, identityOf } from './connection.ts'
import { sharingOf } from './room-table.ts'
import type { SessionContext } from './session-context.ts'
import { canNameDocument, decideJoin, JOIN_BUCKET, parseJoin, takeOwn } from './session-rules.ts'

/** A document that is deleted or shared anew while it is being joined is looked up again, so often at most. */
const ATTEMPTS = 4

const REFUSAL_TEXT = {
  ERR_UNKNOWN_DOC: '',
  ERR_DELETED: '',
  ERR_VIEW_FORBIDDEN: 'you may not read this document',
} as const

/** Handles JOIN_DOC. A failed one leaves the connection without a document, its socket open. [WS-21..WS-24] */
export async function handleJoin(context: SessionContext, connection: Connection, message: Uint8Array): Promise<void> {
  if (identityOf(connection) === null) {
    context.sendError(connection, 'ERR_NOT_AUTHENTICATED', 'authenticate before joining a document')
    return
  }
  const docId = parseJoin(readJson(message))
  if (docId === null) {
    context.sendError(connection, 'ERR_BAD_FRAME', 'JOIN_DOC is an object with a string docId')
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
  if (!canNameDocument(docId)) {
    context.sendError(connection, 'ERR_UNKNOWN_DOC', '')
    return
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) if ((await tryJoin(context, connection, docId)) === 'settled') return
  unavailable(context, connection)
}

/** One look-up and load; `again` when the document changed meanwhile in a way that matters. */
async function tryJoin(context: SessionContext, connection: Connection, docId: string): Promise<'settled' | 'again'> {
  const identity = identityOf(connection)
  if (identity === null) return 'settled'
  const { access } = identity
  const { rooms, settings } = context
  const changes = rooms.sharingChanges
  const state = await lookUp(context, access.workspaceId, docId)
  if (connection.state.kind === 'closed') return 'settled'
  if (state === null) return unavailable(context, connection)
  const decision = decideJoin(state, access, settings.enforcePrivateDocs)
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
  if (entered.kind === 'unavailable') return unavailable(context, connection)
  if (entered.kind === 'gone' || rooms.sharingChanges !== changes) return 'again'
  const { room } = entered
  room.sharing = sharingOf(decision.head)
  const level = decideLevel(access, room.sharing, settings.enforcePrivateDocs)
  const join = ++connection.joins
  const binding = {
    room,
    join,
    level,
    acks: newAckTracker(),
    stepOneFree: true,
    stepOne: null,
    stepTwoPaid: false,
    editRefused: false,
    chunks: null,
    presence: null,
  }
  connection.state = { kind: 'joined', identity, binding }
  if (rooms.join(room, connection)) return 'settled'
  connection.state = { kind: 'authenticated', identity, ended: null }
  return 'again'
}

/** `null` when storage could not answer: that is never told as an absent document. [WS-22, C9] */
async function lookUp(context: SessionContext, workspaceId: string, id: string): Promise<DocumentState | null> {
  try {
    return await context.store.state({ workspaceId, id })
  } catch (error) {
    context.log.warn('ws.join_failed', 'Storage could not answer a JOIN_DOC.', {
      workspace: workspaceId,
      docId: id,
      error: String(error),
    })
    return null
  }
}

function unavailable(context: SessionContext, connection: Connection): 'settled' {
  context.sendError(connection, 'ERR_UNAVAILABLE', 'the document cannot be loaded now')
  context.close(connection, 1012, 'unavailable')
  return 'settled'
}
