import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { type KeptFrame, dropKept } from './ack-tracker.ts'
import { type Binding, bindingOf, type Connection, identityOf, memberRights } from './connection.ts'
import type { ConnectionMessage } from './room-sink.ts'
import { beginOpening, type Room } from './room-table.ts'
import type { ToWorker } from '../worker-messages.ts'
import type { EndedRun } from '../worker-pool.port.ts'

/** How a document is opened again. */
export interface Reopening {
  /** What the worker was doing when it ended; `null` when it did not. */
  readonly running: EndedRun | null
  /** A connection that is being closed, 0 for none: its messages are not handed over again. */
  readonly without: number
  /** The room moved with everything that it had of its connections. */
  readonly resumes: boolean
}

/** Ends of workers because of one document within this time are counted together. */
const ENDS_WINDOW_MS = 10 * 60_000
/** After this many ends, joins of the document are refused for a while. */
const ENDS_BARRED = 3
const BARRED_MS = 60_000

/**
 * Restores the rooms of an ended worker: loads the document, joins the connections with their presence, then hands over
 * the kept frames in order, without the one that was running. [C6]
 */
export class RoomRecovery {
  readonly #post: (home: number, message: ToWorker) => void
  readonly #clock: Clock
  readonly #log: Logger
  readonly #ends = new Map<string, number[]>()

  constructor(deps: { readonly post: (home: number, message: ToWorker) => void; readonly clock: Clock; readonly log: Logger }) {
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

  /** Whether a document has ended workers so often that it is not loaded for now. */
  isBarred(ref: DocumentRef): boolean {
    const ends = this.#ends.get(nameOf(ref))
    if (!ends || ends.length < ENDS_BARRED) return false
    return this.#clock.monotonicMs() - (ends.at(-1) ?? 0) < BARRED_MS
  }

  reopen(room: Room, { running, without, resumes }: Reopening): void {
    if (room.phase !== 'opening') beginOpening(room)
    this.#post(room.home, { kind: 'open', room: room.number, ref: room.ref, key: room.key })
    const kept: { readonly connection: Connection; readonly binding: Binding; readonly frame: KeptFrame }[] = []
    for (const connection of room.members) {
      const binding = bindingOf(connection)
      const identity = identityOf(connection)
      if (binding === null || identity === null || connection.id === without) continue
      const { sub } = identity.access
      this.#post(room.home, {
        kind: 'join',
        room: room.number,
        connection: connection.id,
        join: binding.join,
        sub,
        ...memberRights(binding, identity),
        knowsLineage: binding.knowsLineage,
        resumes,
      })
      const { presence } = binding
      if (presence !== null) {
        this.#post(room.home, { kind: 'awareness', room: room.number, connection: connection.id, payload: presence })
      }
      if (running?.connection === connection.id && running.join === binding.join) dropKept(binding.acks, running.ordinal)
      if (binding.stepOne !== null) kept.push({ connection, binding, frame: { ordinal: 0, payload: binding.stepOne, order: 0 } })
      for (const frame of binding.acks.kept) kept.push({ connection, binding, frame })
    }
    kept.sort((a, b) => a.frame.order - b.frame.order)
    for (const { connection, binding, frame } of kept) {
      const { ordinal, payload } = frame
      this.#post(room.home, {
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

/** Returns the answer to the connection whose message the worker was handling when it ended. [C6] */
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
