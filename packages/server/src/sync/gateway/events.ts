import { jsonFrame } from '@docrelay/protocol/codec'
import { type DocEventFrame, TAG } from '@docrelay/protocol/frames'
import { type AccessPolicy, decideLevel, type Level } from '../../access/access.ts'
import type { DocumentEvent, DocumentEvents } from '../../documents/document-events.port.ts'
import { documentMetadata } from '../../documents/metadata.ts'
import type { Connection } from './connection.ts'
import type { Outbox } from './outbox.ts'
import { sharingOf } from './room-table.ts'

export interface DocumentEventsDeps {
  /** Authenticated connections of a workspace. */
  ofWorkspace(workspaceId: string): Iterable<Connection> | undefined
  readonly outbox: Outbox
  readonly accessPolicy: AccessPolicy
}

/**
 * Sends one DOC_EVENT per change to every connection whose caller may read the document now, including the author of the
 * change. [WS-51..WS-53]
 */
export function createDocumentEvents(deps: DocumentEventsDeps): DocumentEvents {
  return {
    publish(event) {
      const head = event.kind === 'deleted' ? event.before : event.head
      const sharing = sharingOf(head)
      const frames = new EventFrames(event)
      for (const connection of deps.ofWorkspace(head.workspaceId) ?? []) {
        const { state } = connection
        if (state.kind !== 'authenticated' && state.kind !== 'joined') continue
        const { access } = state.identity
        const level = decideLevel(access, sharing, deps.accessPolicy)
        const due = event.kind === 'deleted' && takeEventDue(connection, head.key)
        if (level === 'none' && !due) continue
        deps.outbox.sendBehindUpdates(connection, frames.for(level, access.sub))
      }
    },
  }
}

/** Makes the frames of one event. Readers that may see the same metadata get the same bytes. [PERM-7] */
class EventFrames {
  readonly #event: DocumentEvent
  readonly #made = new Map<string, Uint8Array>()

  constructor(event: DocumentEvent) {
    this.#event = event
  }

  for(level: Level, sub: string): Uint8Array {
    // A reader with level view sees only its own shares, so it gets a frame of its own.
    const name = this.#event.kind === 'deleted' ? '' : level === 'view' ? `view:${sub}` : level
    const made = this.#made.get(name)
    if (made) return made
    const frame = jsonFrame(TAG.docEvent, eventOf(this.#event, level, sub))
    this.#made.set(name, frame)
    return frame
  }
}

function eventOf(event: DocumentEvent, level: Level, sub: string): DocEventFrame {
  const userId = event.actor === '' ? 'system' : event.actor
  if (event.kind === 'deleted') {
    const { successor } = event
    return { eventType: 'deleted', docId: event.ref.id, userId, ...(successor !== undefined && { successor }) }
  }
  if (level === 'none') throw new Error('an event was made for someone who may not read the document')
  return { eventType: event.kind, docId: event.head.id, userId, metadata: documentMetadata(event.head, { sub, level }) }
}

/**
 * Whether this connection was joined to the document when the document was deleted. Such a connection gets the event once,
 * even if its caller may not read the document any more.
 */
function takeEventDue(connection: Connection, key: number): boolean {
  const { state } = connection
  if (state.kind !== 'authenticated' || state.ended === null || !state.ended.eventDue || state.ended.room.key !== key)
    return false
  state.ended.eventDue = false
  return true
}
