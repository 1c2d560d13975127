import { chunkAckFrame, readAwareness, readChunk } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { type AckTracker, countOrdinal, keepFrame, takeAck } from './ack-tracker.ts'
import { addChunk, isFirstRefused, newChunkBox } from './chunks.ts'
import { type Binding, bindingOf, type Connection, canWrite, type EndedBinding, type Identity, PAUSE } from './connection.ts'
import { type Taking, writeBucketKey } from '../../access/rate-limiter.port.ts'
import { keptPresence } from './own-presence.ts'
import type { SessionContext } from './session-context.ts'
import { QUEUE_FRAMES, QUEUE_PAYLOADS, syncKind, takeOwn } from './session-rules.ts'

/** When one connection has more unsettled bytes than this, its reading stops, even if a single message has all of these bytes. */
const UNSETTLED_BYTES = 8 * 1024 * 1024

/** A step1 waits at most this long for the answer to an earlier step1 and for a full socket. */
const STEP_ONE_WAIT_MS = 5_000
const STEP_ONE_LOOK_MS = 20
const STEP_ONE_BUFFERED_BYTES = 1024 * 1024

const ENDED_TEXT = 'you are not joined to this document any more'

type WellFormed = 'step1' | 'step2' | 'update'

/** A well-formed SYNC message of a joined connection. */
interface Arrived {
  readonly binding: Binding
  readonly identity: Identity
  readonly kind: WellFormed
  /** The ordinal of the message; 0 for a step1, which is not counted. */
  readonly ordinal: number
  readonly message: Uint8Array
}

/** Handles one SYNC message, sub-type first, in the order of WS-27. Returns `null` when the work is done already. [WS-27] */
export function handleSync(context: SessionContext, connection: Connection, message: Uint8Array): Promise<void> | null {
  const { state } = connection
  const kind = syncKind(message)
  if (state.kind !== 'joined') {
    const writes = kind === 'step2' || kind === 'update'
    if (state.kind === 'authenticated' && state.ended !== null && writes) refuseEnded(context, connection, state.ended)
    return null
  }
  const { binding, identity } = state
  if (kind === 'malformed') {
    context.sendError(connection, 'ERR_BAD_FRAME', 'a SYNC message begins with sub-type 0, 1 or 2')
    context.violation(connection)
    return null
  }
  const ordinal = kind === 'step1' ? 0 : countOrdinal(binding.acks)
  const taken = takeToken(context, connection, identity, binding, kind, message.length)
  const arrived: Arrived = { binding, identity, kind, ordinal, message }
  if (typeof taken === 'boolean') return handleTaken(context, connection, arrived, taken)
  binding.acks.asking = ordinal
  return taken.then(async (known) => {
    binding.acks.asking = 0
    if (bindingOf(connection) === binding) await handleTaken(context, connection, arrived, known)
    else refuseLate(context, connection, arrived)
  })
}

/** Handles a message when its token was taken, and refuses it when there was no token. */
function handleTaken(
  context: SessionContext,
  connection: Connection,
  { binding, identity, kind, ordinal, message }: Arrived,
  taken: boolean,
): Promise<void> | null {
  if (!taken) {
    context.counters.rateLimited.ws++
    refuse(context, connection, binding, identity, 'ERR_RATE_LIMIT', '', ordinal)
    return null
  }
  if (kind === 'update' && !canWrite(binding.level)) {
    refuse(context, connection, binding, identity, 'ERR_EDIT_FORBIDDEN', 'this document is read-only for you', ordinal)
    noteRefusedEdit(context, binding, identity)
    return null
  }
  if (kind === 'step1') return askState(context, connection, binding, message)
  handOver(context, connection, binding, ordinal, message)
  return null
}

/** Refuses a write whose binding the relay ended while the write waited for its token. [WS-54] */
function refuseLate(context: SessionContext, connection: Connection, { kind, ordinal }: Arrived): void {
  const { state } = connection
  if (state.kind !== 'authenticated' || state.ended === null || kind === 'step1') return
  context.sendError(connection, state.ended.code, ENDED_TEXT, ordinal)
}

/** Writes the first edit without permission to the audit log. [OPS-7] */
function noteRefusedEdit(context: SessionContext, binding: Binding, identity: Identity): void {
  if (binding.editRefused) return
  binding.editRefused = true
  const { sub, workspaceId } = identity.access
  const docId = binding.room.ref.id
  context.log.info('ws.edit_refused', 'A caller tried to edit a document that they may only read.', {
    audit: true,
    sub,
    workspace: workspaceId,
    docId,
  })
}

/** Refuses a write of a connection whose binding the relay has ended. [WS-54] */
function refuseEnded(context: SessionContext, connection: Connection, ended: EndedBinding): void {
  context.sendError(connection, ended.code, ENDED_TEXT, ++ended.received)
}

/**
 * Sends a step1 to the room. Only one step1 is unanswered at a time, and none is sent while the socket is full, because the answer may
 * be the whole document. [G12]
 */
function askState(context: SessionContext, connection: Connection, binding: Binding, message: Uint8Array): Promise<void> | null {
  const mustWait = (): boolean =>
    bindingOf(connection) === binding &&
    (binding.stepOne !== null || context.outbox.bufferedBytes(connection) > STEP_ONE_BUFFERED_BYTES)
  const ask = (): void => {
    if (bindingOf(connection) !== binding) return
    binding.stepOne = message
    handOver(context, connection, binding, 0, message)
  }
  if (!mustWait()) {
    ask()
    return null
  }
  const untilMs = context.clock.monotonicMs() + STEP_ONE_WAIT_MS
  const wait = async (): Promise<void> => {
    while (mustWait() && context.clock.monotonicMs() < untilMs) {
      await new Promise<void>((resolve) => void context.timers.after(STEP_ONE_LOOK_MS, resolve))
    }
    ask()
  }
  return wait()
}

/** Handles one AWARENESS message, which takes no write token. [WS-43, WS-48] */
export function handleAwareness(context: SessionContext, connection: Connection, message: Uint8Array): void {
  if (connection.state.kind !== 'joined') return
  const { binding } = connection.state
  const { room } = binding
  const update = readAwareness(message)
  if (update === null) return context.violation(connection)
  binding.presence = keptPresence(binding.presence, update, room.shown, connection.id)
  context.rooms.post(room, { kind: 'awareness', room: room.number, connection: connection.id, payload: update })
}

/** Handles one piece; the last piece completes the message, which is then handled. [WS-35..WS-37] */
export function handleChunk(context: SessionContext, connection: Connection, message: Uint8Array): Promise<void> | null {
  const { state } = connection
  const chunk = readChunk(message)
  if (state.kind !== 'joined') {
    const ended = state.kind === 'authenticated' ? state.ended : null
    if (ended !== null && chunk !== null && isFirstRefused(ended.refusedChunks, chunk)) refuseEnded(context, connection, ended)
    return null
  }
  const { binding, identity } = state
  if (chunk === null) {
    context.sendError(connection, 'ERR_BAD_FRAME', 'a SYNC_CHUNK is shorter than its header')
    context.violation(connection)
    return null
  }
  binding.chunks ??= newChunkBox()
  const outcome = addChunk(binding.chunks, context.chunkBudget, chunk, context.clock.monotonicMs())
  switch (outcome.kind) {
    case 'waiting':
    case 'ignored':
      return null
    case 'refused': {
      refuse(context, connection, binding, identity, 'ERR_MESSAGE_TOO_LARGE', '', countOrdinal(binding.acks))
      if (outcome.fault === 'client') context.violation(connection)
      else context.requestResync(connection, 1_000)
      return null
    }
    case 'complete': {
      const before = binding.acks.received
      if (outcome.frame[0] !== TAG.sync) {
        context.sendError(connection, 'ERR_BAD_FRAME', 'a chunked message is one whole SYNC frame')
        context.violation(connection)
      }
      const work = outcome.frame[0] === TAG.sync ? handleSync(context, connection, outcome.frame.subarray(1)) : null
      const ordinal = binding.acks.received > before ? binding.acks.received : 0
      const acknowledged = (): void => acknowledgeChunks(context, connection, binding, ordinal, chunkAckFrame(chunk.messageId))
      if (work !== null) return work.then(acknowledged)
      acknowledged()
      return null
    }
  }
}

/**
 * Acknowledges the pieces of a chunked message. When the room has the message, the acknowledgement waits until the message is settled,
 * so that it follows an ERROR of the room. `ordinal`: 0 for a message that is not write-bearing. [WS-37]
 */
function acknowledgeChunks(
  context: SessionContext,
  connection: Connection,
  { acks }: Binding,
  ordinal: number,
  ack: Uint8Array,
): void {
  const last = acks.kept.at(-1)
  if (ordinal > 0 && last?.ordinal === ordinal) last.chunkAck = ack
  else context.outbox.send(connection, ack)
}

/** Acknowledges newly settled messages. [WS-40, WS-41] */
export function acknowledge(context: SessionContext, connection: Connection, binding: Binding, identity: Identity): void {
  if (!identity.ack) return
  const ordinal = takeAck(binding.acks)
  if (ordinal > 0) context.outbox.acknowledge(connection, ordinal)
}

/**
 * Takes the token for a message: none, one of the connection's own bucket, or one of the workspace's. Returns a promise when the
 * bucket is shared with other nodes; later frames of the connection wait for it. [WS-28, WS-11, W4]
 */
function takeToken(
  context: SessionContext,
  connection: Connection,
  identity: Identity,
  binding: Binding,
  kind: WellFormed,
  bytes: number,
): boolean | Promise<boolean> {
  const nowMs = context.clock.monotonicMs()
  const { workspaceId } = identity.access
  if (kind === 'update' && isResyncOwed(connection, binding, nowMs)) return false
  const bytesWaitMs = context.byteBuckets.take(workspaceId, bytes, nowMs)
  // The first step1 takes bytes if there are any, but is never refused: a client that does not repeat it would wait for its document for
  // ever.
  if (kind === 'step1' && binding.stepOneFree) {
    binding.stepOneFree = false
    return true
  }
  if (bytesWaitMs > 0) return resyncLater(context, connection, binding, kind, bytesWaitMs)
  if (kind === 'step2' && binding.stepTwo !== null) {
    binding.stepTwo = null
    return true
  }
  if (!canWrite(binding.level)) {
    const { bucket, taken } = takeOwn(connection.viewBucket, context.settings.writes, nowMs)
    connection.viewBucket = bucket
    return taken
  }
  const take = context.rateLimiter.take(writeBucketKey(workspaceId), context.settings.writes, 1, { kind: 'person' })
  const known = (taking: Taking): boolean =>
    taking.taken || (bindingOf(connection) === binding && resyncLater(context, connection, binding, kind, taking.retryAfterMs))
  return take instanceof Promise ? take.then(known) : known(take)
}

/** Whether a step2 is due that will contain the content of this update. Then the update is dropped without taking a token. [WS-29] */
function isResyncOwed(connection: Connection, binding: Binding, nowMs: number): boolean {
  return connection.resync?.drops === true || nowMs < (binding.stepTwo?.dropsUntilMs ?? 0)
}

/** Requests a later step1, whose answer contains the dropped updates of this writer. [WS-29] */
function resyncLater(context: SessionContext, connection: Connection, binding: Binding, kind: string, afterMs: number): false {
  if (kind !== 'step1' && canWrite(binding.level)) context.requestResync(connection, afterMs, 'drops-updates')
  return false
}

/** Refuses one message. The SYNC_ACK that covers the message follows its ERROR. */
function refuse(
  context: SessionContext,
  connection: Connection,
  binding: Binding,
  identity: Identity,
  code: 'ERR_RATE_LIMIT' | 'ERR_EDIT_FORBIDDEN' | 'ERR_MESSAGE_TOO_LARGE',
  text: string,
  ordinal: number,
): void {
  context.sendError(connection, code, text, ordinal)
  if (ordinal > 0) acknowledge(context, connection, binding, identity)
}

function handOver(context: SessionContext, connection: Connection, binding: Binding, ordinal: number, message: Uint8Array): void {
  const { room, join, acks } = binding
  if (ordinal > 0) {
    keepFrame(acks, { ordinal, payload: message, order: context.nextOrder() })
    if (unsettledShare(context, acks) >= 1) context.pause(connection, PAUSE.unsettled)
  }
  context.rooms.post(room, { kind: 'sync', room: room.number, connection: connection.id, join, ordinal, payload: message })
  if (context.rooms.isFull(room)) context.pause(connection, PAUSE.link)
}

/** Whether reading may resume: the unsettled messages use at most half of the connection's allowance. */
export function isHalfEmpty(context: SessionContext, acks: AckTracker): boolean {
  return unsettledShare(context, acks) <= 0.5
}

/**
 * Returns the share of its allowance that a connection's unsettled messages use. At 1 its reading stops. The oldest message counts only
 * for the limit of 8 MiB, so that heartbeats behind it are still read while it is applied. [WS-12, WS-49]
 */
function unsettledShare({ settings }: SessionContext, { kept, keptBytes }: AckTracker): number {
  const behindBytes = keptBytes - (kept[0]?.payload.length ?? 0)
  return Math.max(
    (kept.length - 1) / QUEUE_FRAMES,
    behindBytes / (QUEUE_PAYLOADS * settings.maxPayloadBytes),
    keptBytes / UNSETTLED_BYTES,
  )
}
