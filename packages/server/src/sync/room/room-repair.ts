import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { RoomHost } from './room-host.ts'

/** How often the room checks whether another process has repaired its document. */
const REPAIR_LOOK_MS = 1_000

/** A room whose log may lack content. */
interface Repairable {
  readonly host: RoomHost
  readonly ref: DocumentRef
  readonly key: number
  readonly hasGap: boolean
  readonly isReady: boolean
  readonly log: { readonly emitted: number }
  reset(mayStay: boolean): void
}

/**
 * Checks every second whether another process has repaired the log of a document that is open here. Then resets the room, so that its
 * connections join the repaired document. [CFG-11]
 */
export function watchRepair(room: Repairable): void {
  room.host.after(REPAIR_LOOK_MS, () => {
    if (!room.hasGap) return
    void isRepaired(room).then((repaired) => {
      if (!repaired) watchRepair(room)
      else if (room.hasGap) room.host.turn(() => room.reset(false))
    })
  })
}

async function isRepaired(room: Repairable): Promise<boolean> {
  const state = await room.host.documents.state(room.ref).catch(() => null)
  return state?.kind === 'document' && state.head.key === room.key && room.isReady && state.head.lastSeq > room.log.emitted
}

/** Reports that a client has sent the content that the log lacked. Everybody joined may edit again as the shares allow. [LIFE-5] */
export function tellMended({ host, id, ref }: Pick<Repairable, 'host' | 'ref'> & { readonly id: number }): void {
  host.count('documents_mended')
  const fields = { workspace: ref.workspaceId, docId: ref.id }
  const text = 'A client sent the edit that the log of a document lacked; the document can be edited again.'
  host.log.info('document.mended', text, fields)
  host.emit({ kind: 'mended', room: id })
}
