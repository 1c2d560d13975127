import { SYNC, TAG } from '@docrelay/protocol/frames'
import { settleThrough } from './ack-tracker.ts'
import { type Binding, type Connection, type EndedBinding, PAUSE } from './connection.ts'
import type { Fanout } from './fanout.ts'
import { noteShown } from './own-presence.ts'
import { clocksIn, noteClocks } from './presence-clocks.ts'
import { isElsewhere, type NotOpen, type Room } from './room-table.ts'
import type { ConnectionMessage, RoomSink } from './room-sink.ts'
import { applyLevel } from './session-auth.ts'
import type { SessionContext } from './session-context.ts'
import { unavailable } from './session-join.ts'
import { acknowledge, isHalfEmpty } from './session-sync.ts'

export interface RoomSinkDeps {
  readonly fanout: Fanout
  connection(id: number): Connection | undefined
  resume(connection: Connection, reason: number): void
}

/** Creates the sink that sends reports of rooms to the connections. */
export function createRoomSink(context: SessionContext, deps: RoomSinkDeps): RoomSink {
  return {
    updates: (room, updates, senders) => deps.fanout.updates(room.members, updates, senders),
    awareness(room, frame, except) {
      noteShown(room.shown, frame, except, (id) => room.members.some((member) => member.id === id))
      deps.fanout.awareness(room.members, frame, except)
    },
    connection: (message) => toConnection(context, deps, message),
    ended: (room, why, writers) => endRoom(context, deps, room, why, writers),
    notStored: () => void context.counters.appendFailures++,
    deleted: (room, connection) => unbindDeleted(context, room, connection),
    sharingChanged(room) {
      for (const connection of room.members.slice()) applyLevel(context, connection)
    },
    resume(room) {
      for (const connection of room.members) deps.resume(connection, PAUSE.link)
    },
    flush: (connection) => context.outbox.flush(connection),
  }
}

function toConnection(context: SessionContext, deps: RoomSinkDeps, message: ConnectionMessage): void {
  if (message.kind === 'refused') countRefusal(context, message.code)
  const connection = deps.connection(message.connection)
  if (connection === undefined) return
  if (message.kind === 'violation') return context.violation(connection)
  if (message.kind === 'expel') return context.close(connection, message.code, message.word)
  const { state } = connection
  // A report about an earlier join of the connection no longer matters to the client.
  if (state.kind !== 'joined' || state.binding.join !== message.join) return
  const { binding, identity } = state
  switch (message.kind) {
    case 'direct':
      context.outbox.sendAll(connection, message.frames)
      for (const frame of message.frames) {
        if (frame[0] === TAG.sync && frame[1] === SYNC.step1) binding.isAsked = true
        else if (frame[0] === TAG.awareness) noteSnapshot(binding.room, frame)
        else if (frame[1] === SYNC.step2) binding.stepOne = null
      }
      return
    case 'settled':
      for (const { chunkAck } of settleThrough(binding.acks, message.ordinal)) {
        if (chunkAck) context.outbox.send(connection, chunkAck)
      }
      if (isHalfEmpty(context, binding.acks)) deps.resume(connection, PAUSE.unsettled)
      return acknowledge(context, connection, binding, identity)
    case 'former':
      context.sendError(connection, 'ERR_DELETED', '', message.ordinal)
      return endBinding(context, connection, { eventDue: false })
    case 'refused':
      context.sendError(connection, message.code, message.text, message.ordinal, message.full)
      if (message.ordinal === 0) binding.stepOne = null
      if (message.violation) context.violation(connection)
  }
}

/**
 * Notes the presence that a member got when it joined a room at another node. Notes the clocks, because the next owner has to send newer
 * clocks. Notes that the ids belong to connections of other nodes, except ids that this node knows as ids of its own connections. [WS-44,
 * WS-47]
 */
function noteSnapshot(room: Room, frame: Uint8Array): void {
  if (!isElsewhere(room)) return
  noteClocks(room.clocks, clocksIn(frame))
  noteShown(room.shown, frame, 0, () => true)
}

/** Counts a refused message by its code. [OPS-4] */
function countRefusal({ counters }: SessionContext, code: Extract<ConnectionMessage, { kind: 'refused' }>['code']): void {
  if (code === 'ERR_RATE_LIMIT') counters.rateLimited.ws++
  else if (code === 'ERR_BAD_UPDATE') counters.badUpdates++
  else if (code === 'ERR_SYNC_GAP') counters.syncGaps++
}

/** Closes the sockets of a room that is gone. First each writer gets ERR_NOT_PERSISTED with the ordinal of its last lost edit. [LIFE-6] */
function endRoom(
  context: SessionContext,
  deps: RoomSinkDeps,
  room: Room,
  why: 'reset' | NotOpen,
  writers: readonly { readonly connection: number; readonly ordinal: number }[],
): void {
  if (why === 'reset') context.counters.appendFailures++
  for (const { connection: id, ordinal } of writers) {
    const connection = deps.connection(id)
    if (connection !== undefined && bindingIn(connection, room) !== null) {
      context.sendError(connection, 'ERR_NOT_PERSISTED', 'the edit could not be stored', ordinal)
    }
  }
  for (const connection of room.members.slice()) {
    if (why === 'reset') context.close(connection, 1012, 'room-reset')
    else unavailable(context, connection, room.ref.id, why)
  }
}

/** Unbinds a connection; the DOC_EVENT deleted that follows informs the client. [WS-54] */
function unbindDeleted(context: SessionContext, room: Room, connection: Connection): void {
  if (bindingIn(connection, room) !== null) endBinding(context, connection, { eventDue: true })
}

/** Unbinds a connection from a document that is deleted for its caller. */
function endBinding(context: SessionContext, connection: Connection, { eventDue }: Pick<EndedBinding, 'eventDue'>): void {
  if (connection.state.kind !== 'joined') return
  const { identity, binding } = connection.state
  const { room, acks } = binding
  const { received } = acks
  context.unbind(connection)
  connection.state = {
    kind: 'authenticated',
    identity,
    ended: { room, code: 'ERR_DELETED', received, eventDue, refusedChunks: [] },
  }
}

function bindingIn(connection: Connection, room: Room): Binding | null {
  return connection.state.kind === 'joined' && connection.state.binding.room === room ? connection.state.binding : null
}
