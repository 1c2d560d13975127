import { readStoredBody } from '@docrelay/model/body-parse'
import type { DocumentRecord } from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { reconcile } from '../binding/binding-reconcile.ts'
import type { Room } from './room.ts'
import { RELAY } from './room-content.ts'
import { epochMember } from './room-fence.ts'
import type { RoomSaver } from './room-save.ts'

/**
 * Applies the body that another writer has stored to the live document, as edits. [LIFE-13, YDOC-8] The change is one log record, which also
 * removes the mark `bodyAhead`. Edits of clients wait until the record is durable, so that a crash cannot undo the stored body.
 */
export async function mergeColdWrite(room: Room, saver: RoomSaver, record: DocumentRecord): Promise<'merged' | 'lost'> {
  const { host, log, sync } = room
  const { head } = record
  const body = readStoredBody(record.body)
  host.turn(() => sync.pause())
  try {
    if (!room.isReady || !(await log.reach(log.emitted)) || !room.isReady) return 'lost'
    const before = log.emitted
    const { doc } = room.live()
    log.catchingUp = { version: head.version }
    const seen = saver.base?.body ?? saver.project(body)
    host.turn(() => room.watched(() => reconcile(doc, seen, body, RELAY, head.titleChangedAtMs), head.sizeBytes))
    log.catchingUp = null
    if (log.emitted === before) {
      const outcome = await host.documents.write({
        ref: room.ref,
        expect: { kind: 'document', key: head.key, version: head.version },
        set: {},
        bump: false,
        nowMs: host.clock.nowMs(),
        quotaBytes: null,
        log: { kind: 'live', lastSeq: before, append: [], ...epochMember(room.epoch) },
      })
      if (outcome.kind === 'fenced') {
        host.turn(() => room.fenced())
        return 'lost'
      }
      if (outcome.kind !== 'written') throw new RelayError('UNAVAILABLE', 'the document changed while it was merged')
    } else if (!(await log.reach(log.emitted))) {
      return 'lost'
    }
    saver.base = { head: { ...head, bodyAhead: false }, body }
    return 'merged'
  } finally {
    log.catchingUp = null
    if (room.isReady) host.turn(() => sync.resume())
  }
}
