import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { EditOutcome, EditRequest, EncodedDocument, PutOutcome, PutRequest } from '../../documents/residents.port.ts'
import { sharedSignal } from '../../kernel/given-up.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Room } from './room-table.ts'
import { failed, notWritten } from './room-jobs.ts'
import type { RoomTasks } from './room-tasks.ts'

/** The calls of `documents` into live documents, in rooms of any home. [LIFE-11, LIFE-13, REST-31] */
export class ResidentCalls {
  readonly #tasks: RoomTasks
  readonly #log: Logger

  constructor(tasks: RoomTasks, log: Logger) {
    this.#tasks = tasks
    this.#log = log
  }

  async settle(ref: DocumentRef, quietMs: number, opens: (head: DocumentHead) => boolean): Promise<void> {
    await this.#tasks.runOpened(ref, { kind: 'settle', quietMs }, opens)
  }

  async encode(ref: DocumentRef): Promise<EncodedDocument | null> {
    const outcome = await this.#tasks.runOpened(ref, { kind: 'encode' }, () => true)
    if (outcome === null || outcome.kind === 'encoded') return outcome
    throw failed(outcome)
  }

  async put(request: PutRequest): Promise<PutOutcome | 'not-resident'> {
    const outcome = await this.#tasks.runWrite(request.ref, { kind: 'put', request })
    return outcome.kind === 'put' ? outcome.outcome : notWritten(outcome)
  }

  async edit(request: EditRequest, signal?: AbortSignal): Promise<EditOutcome | 'not-resident'> {
    const task = { kind: 'edit', request, ...(signal && { givenUp: sharedSignal(signal) }) } as const
    const outcome = await this.#tasks.runWrite(request.ref, task, signal)
    if (outcome.kind === 'given-up') signal?.throwIfAborted()
    return outcome.kind === 'edit' ? outcome.outcome : notWritten(outcome)
  }

  bodyChanged(room: Room, version: number): void {
    void this.#tasks.run(room, { kind: 'body-changed', version }).then((outcome) => {
      // A room that is being opened again reads the stored body itself.
      if (outcome.kind !== 'failed' || room.phase === 'opening') return
      const fields = { docId: room.ref.id, workspace: room.ref.workspaceId, code: outcome.code }
      this.#log.warn('room.body-changed.failed', outcome.message, fields)
    })
  }
}
