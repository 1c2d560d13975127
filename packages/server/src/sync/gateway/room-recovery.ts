import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { type KeptFrame, dropKept } from './ack-tracker.ts'
import { type Binding, memberRights } from './connection.ts'
import { replayed } from './own-presence.ts'
import type { ConnectionMessage } from './room-sink.ts'
import { beginOpening, joinedOf, type Room } from './room-table.ts'
import type { ToWorker } from '../worker-messages.ts'
import type { EndedRun } from '../worker-pool.port.ts'

/** How a document is opened again. */
export interface Reopening {
  /** A connection that is being closed, 0 for none. Its messages are not sent to the room again. */
  readonly without: number
  /** Whether the room moved together with all edits of its connections. Then the relay does not ask the connections for these edits again. */
  readonly resumes: boolean
}

export interface RoomRecoveryDeps {
  /** Sends a message to the home of a room. When this home must not get the message, the room moves first. [C8] */
  readonly post: (room: Room, message: ToWorker) => void
  readonly clock: Clock
  readonly log: Logger
  /** Whether a record of the changes in a document is held, with the person who made each change. [AG-20] */
  readonly isWatched: (ref: DocumentRef) => boolean
}

/** Ends of workers that one document caused within this time are counted together. */
const ENDS_WINDOW_MS = 10 * 60_000
/** After this many ends, joins of the document are refused for a while. */
const ENDS_BARRED = 3
const BARRED_MS = 60_000

/**
 * Restores rooms in their next home: loads the document, joins the connections with their presence, then sends the kept frames in
 * order. [C6]
 */
export class RoomRecovery {
  readonly #deps: RoomRecoveryDeps
  readonly #ends = new Map<string, number[]>()

  constructor(deps: RoomRecoveryDeps) {
    this.#deps = deps
  }

  noteEnd(ref: DocumentRef | null): void {
    this.#deps.log.error(
      'worker.ended',
      'A document worker ended; its documents are loaded again.',
      ref ? { docId: ref.id, workspace: ref.workspaceId } : {},
    )
    if (ref === null) return
    const nowMs = this.#deps.clock.monotonicMs()
    const ends = (this.#ends.get(nameOf(ref)) ?? []).filter((atMs) => nowMs - atMs < ENDS_WINDOW_MS)
    ends.push(nowMs)
    this.#ends.set(nameOf(ref), ends)
  }

  /** Whether a document has ended so many workers that it is not loaded for now. */
  isBarred(ref: DocumentRef): boolean {
    const ends = this.#ends.get(nameOf(ref))
    if (!ends || ends.length < ENDS_BARRED) return false
    return this.#deps.clock.monotonicMs() - (ends.at(-1) ?? 0) < BARRED_MS
  }

  /**
   * Bars a document that seems to have ended several nodes, for 60 s. Returns false when the document was already barred in the last ten
   * minutes, and may therefore be opened. [LIFE-26]
   */
  bar(ref: DocumentRef): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    const ends = this.#ends.get(nameOf(ref)) ?? []
    if (ends.length >= ENDS_BARRED && nowMs - (ends.at(-1) ?? 0) < ENDS_WINDOW_MS) return false
    this.#ends.set(
      nameOf(ref),
      Array.from({ length: ENDS_BARRED }, () => nowMs),
    )
    return true
  }

  /**
   * Forgets the frame that the home of a room was handling when the home ended. Must be called at once: when the next opening fails,
   * later openings do not know which frame it was. [C6]
   */
  dropRunning(room: Room, { connection, join, ordinal }: EndedRun): void {
    for (const joined of [...room.members.map(joinedOf), ...room.left]) {
      if (joined?.id === connection && joined.binding.join === join) dropKept(joined.binding.acks, ordinal)
    }
  }

  reopen(room: Room, { without, resumes }: Reopening): void {
    if (room.phase !== 'opening') beginOpening(room)
    this.#deps.post(room, {
      kind: 'open',
      room: room.number,
      ref: room.ref,
      key: room.key,
      clocks: [...room.clocks],
      ...(room.epoch !== null && { epoch: room.epoch }),
      ...(room.since !== null && room.members.length > 0 && { since: room.since }),
      ...(room.sinceTenure !== null && { sinceTenure: room.sinceTenure }),
    })
    // The `watch` message comes before the kept frames, so that the room reports the changes of these frames too.
    if (this.#deps.isWatched(room.ref)) this.#deps.post(room, { kind: 'watch', room: room.number, isOn: true })
    const members = room.members.map(joinedOf).filter((joined) => joined !== null)
    // The connection `without` is dropped for good, because its message would end the home of the room at the next opening too.
    room.left = room.left.filter(({ id }) => id !== without)
    // A connection that has joined again is a member, and its earlier join no longer counts.
    const left = room.left.filter(({ id }) => !members.some((member) => member.id === id))
    const kept: { readonly id: number; readonly binding: Binding; readonly frame: KeptFrame }[] = []
    const joined = [...members, ...left].filter(({ id }) => id !== without)
    const presence: { readonly id: number; readonly update: Uint8Array }[] = []
    for (const { id, binding, identity } of joined) {
      const { sub } = identity.access
      const { ids, update } = replayed(binding.presence, room.shown, id)
      if (update !== null) presence.push({ id, update })
      this.#deps.post(room, {
        kind: 'join',
        room: room.number,
        connection: id,
        join: binding.join,
        sub,
        ...memberRights(binding, identity),
        knowsLineage: binding.knowsLineage,
        resumes: resumes && binding.isAsked,
        again: binding.acks.received,
        ...(ids.length > 0 && { shows: ids }),
      })
      if (binding.stepOne !== null) kept.push({ id, binding, frame: { ordinal: 0, payload: binding.stepOne, order: 0 } })
      for (const frame of binding.acks.kept) kept.push({ id, binding, frame })
    }
    // The presence comes after all joins, which tell the home who has introduced which id. [WS-44]
    for (const { id, update } of presence)
      this.#deps.post(room, { kind: 'awareness', room: room.number, connection: id, payload: update })
    kept.sort((a, b) => a.frame.order - b.frame.order)
    for (const { id, binding, frame } of kept) {
      const { ordinal, payload } = frame
      this.#deps.post(room, { kind: 'sync', room: room.number, connection: id, join: binding.join, ordinal, payload })
    }
    for (const { id } of left) this.#deps.post(room, { kind: 'leave', room: room.number, connection: id })
  }
}

/** Returns the answers to the connection whose message the worker was handling when the worker ended. [C6] */
export function expulsion({ connection, join, ordinal }: EndedRun): readonly ConnectionMessage[] {
  const code = 'ERR_BAD_UPDATE'
  const text = 'The update could not be applied in the time an update may take.'
  return [
    { kind: 'refused', connection, join, ordinal, code, text, violation: false },
    { kind: 'expel', connection, code: 1003, word: 'protocol' },
  ]
}

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
