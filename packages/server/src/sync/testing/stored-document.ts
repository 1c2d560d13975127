import type { DocumentHead, DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import { headOf } from './gateway-bench.ts'

/** Writes a document without pages that nobody has open. `more` has further members of its body. */
export async function writeDocument(documents: DocumentStore, ref: DocumentRef, more: object = {}): Promise<DocumentHead> {
  const { facts } = headOf(ref.id)
  const body = { bytes: Buffer.from(JSON.stringify({ id: ref.id, pages: [], ...more })), facts, blobReferences: [] }
  const outcome = await documents.write({
    ref,
    expect: { kind: 'absent' },
    set: { ownerId: 'ann', ownerName: 'ann', collectionId: null, sharedWith: [], body },
    bump: true,
    nowMs: 1,
    quotaBytes: null,
    log: { kind: 'cold' },
  })
  if (outcome.kind !== 'written') throw new Error('the document was not written')
  return outcome.head
}
