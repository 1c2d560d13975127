import type { ReadFacts } from '@docrelay/model/reads'
import type { DocumentRecord } from '../documents/document-store.port.ts'
import type { Readable } from '../documents/reader.ts'
import { sourceOf } from './local-access.ts'

export type OpenedDocument = Readable & { readonly record: DocumentRecord }

/** Returns facts about a document that the answer to a read contains besides the body. [TOOL-15, TOOL-get_document] */
export function factsOf({ record: { head }, reader }: OpenedDocument): ReadFacts {
  return {
    id: head.id,
    serverVersion: head.version,
    source: sourceOf(head),
    modifiedAt: head.updatedAtMs,
    access: reader.level,
    collectionId: head.collectionId,
  }
}
