import type { Access, AccessPolicy } from '../access/access.ts'
import type { BlobReaders } from '../blobs/blob-readers.port.ts'
import type { DocumentHead, DocumentStore } from './document-store.port.ts'
import { documentLevel } from './put-plan.ts'
import type { Residents } from './residents.port.ts'

/** Decides who may read a blob through a document: whoever may read the document. [BLOB-6, BLOB-13, PERM-8] */
export function createBlobReaders(deps: {
  readonly store: Pick<DocumentStore, 'list' | 'referencing'>
  readonly residents: Pick<Residents, 'isResident' | 'settleAll'>
  readonly accessPolicy: AccessPolicy
}): BlobReaders {
  const { store, residents, accessPolicy } = deps
  const isReadable = (access: Access) => (head: DocumentHead) => documentLevel(access, head, accessPolicy) !== 'none'

  return {
    async mayRead(access, hash) {
      const { workspaceId } = access
      const referenced = async () => (await store.referencing(workspaceId, hash)).some(isReadable(access))
      if (await referenced()) return true
      // Live content may have a reference that no stored body has yet. Only live documents that the caller may read are searched. [BLOB-2]
      const behind = (await store.list(workspaceId)).filter(
        (head) => isReadable(access)(head) && (residents.isResident(head) || head.coveredSeq < head.lastSeq),
      )
      if (behind.length === 0) return false
      await residents.settleAll(behind)
      return referenced()
    },
  }
}
