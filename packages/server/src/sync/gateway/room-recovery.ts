import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { type KeptFrame, dropKept } from './ack-tracker.ts'
import { type Binding, bindingOf, type Connection, canWrite, identityOf } from './connection.ts'
import { beginOpening, type Room } from './room-table.ts'
import type { ToWorker } from '../worker-messages.ts'

/** The message a worker was at when it ended. */
export interface EndedRun {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** 0: not a write-bearing message. */
  readonly ordinal: number
}

/** Ends of a worker by one document within this time are counted together. */
const ENDS_WINDOW_MS = 10 * 60_000
/** After this many ends the document's joins are refused for a while. */
const ENDS_BARRED = 3
const BARRED_MS = 60_000

/** Brings the rooms of an ended worker back: load, joins with their presence, then the kept frames in their order, less the running one. [C6] */
export class RoomRecovery {
  readonly #post: (worker: number, message: ToWorker) => void
  readonly #clock: Clock
  readonly #log: Logger
  readonly #ends = new Map<string, number[]>()

  constructor(deps: { readonly post: (worker: number, message: ToWorker) => void; readonly clock: Clock; readonly log: Logger }) {
    this.#post = deps.post
    this.#clock = deps.clock
    this.#log = deps.log
  }

  noteEnd(ref: DocumentRef | null): void {
    this.#log.error(
      'worker.ended',
      'A document worker ended; its documents are loaded again.',
      ref ? { docId: ref.id, workspace: ref.workspaceId } : {},
    )
    if (ref === null) return
    const nowMs = this.#clock.monotonicMs()
    const ends = (this.#ends.get(nameOf(ref)) ?? []).filter((atMs) => nowMs - atMs < ENDS_WINDOW_MS)
    ends.push(nowMs)
    this.#ends.set(nameOf(ref), ends)
  }

  /** Whether a document has ended workers so often that it is not loaded now. */
  isBarred(ref: DocumentRef): boolean {
    const ends = this.#ends.get(nameOf(ref))
    if (!ends || ends.length < ENDS_BARRED) return false
    return this.#clock.monotonicMs() - (ends.at(-1) ?? 0) < BARRED_MS
  }

  reopen(room: Room, running: EndedRun | null): void {
    if (room.phase !== 'opening') beginOpening(room)
    this.#post(room.worker, { kind: 'open', room: room.number, ref: room.ref, key: room.key })
    const kept: { readonly connection: Connection; readonly binding: Binding; readonly frame: KeptFrame }[] = []
    for (const connection of room.members) {
      const binding = bindingOf(connection)
      const identity = identityOf(connection)
      if (binding === null || identity === null) continue
      const { sub } = identity.access
      const join = { room: room.number, connection: connection.id, join: binding.join, sub, canWrite: canWrite(binding.level) }
      this.#post(room.worker, { kind: 'join', ...join })
      const { presence } = binding
      if (presence !== null) {
        this.#post(room.worker, { kind: 'awareness', room: room.number, connection: connection.id, payload: presence })
      }
      if (running?.connection === connection.id && running.join === binding.join) dropKept(binding.acks, running.ordinal)
      if (binding.stepOne !== null) kept.push({ connection, binding, frame: { ordinal: 0, payload: binding.stepOne, order: 0 } })
      for (const frame of binding.acks.kept) kept.push({ connection, binding, frame })
    }
    kept.sort((a, b) => a.frame.order - b.frame.order)
    for (const { connection, binding, frame } of kept) {
      const { ordinal, payload } = frame
      this.#post(room.worker, {
        kind: 'sync',
        room: room.number,
        connection: connection.id,
        join: binding.join,
        ordinal,
        payload,
      })
    }
  }
}

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
