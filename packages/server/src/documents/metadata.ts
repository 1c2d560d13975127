import type { DocumentMetadata } from '@docrelay/protocol/rest'
import type { Level } from '../access/access.ts'
import { visibleShares } from '../access/shares.ts'
import type { DocumentHead } from './document-store.port.ts'

/** A reader of a document: the user id, and the level of that user on the document. */
export interface Reader {
  readonly sub: string
  readonly level: Exclude<Level, 'none'>
}

/** Returns a document as lists, saves and events show it to one reader. [BODY-15, PERM-7] */
export function documentMetadata(head: DocumentHead, reader: Reader): DocumentMetadata {
  const { facts } = head
  return {
    ...facts.carried,
    id: head.id,
    title: facts.title,
    name: facts.title,
    updated_at: new Date(head.updatedAtMs).toISOString(),
    modifiedAt: head.updatedAtMs,
    createdAt: facts.createdAt ?? head.createdAtMs,
    owner_id: head.ownerId,
    ownerId: head.ownerId,
    ownerName: head.ownerName,
    workspace_id: head.workspaceId,
    workspaceId: head.workspaceId,
    is_relay_document: true,
    isRelayDocument: true,
    collectionId: head.collectionId,
    sizeBytes: head.sizeBytes,
    serverVersion: head.version,
    ...(head.lineage !== '' && { lineage: head.lineage }),
    pageCount: facts.canvasPageCount + facts.prosePageCount,
    canvasPageCount: facts.canvasPageCount,
    prosePageCount: facts.prosePageCount,
    access: reader.level,
    sharedWith: visibleShares(reader.level, reader.sub, head.sharedWith),
  }
}
