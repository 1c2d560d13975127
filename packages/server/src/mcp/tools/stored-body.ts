import type { Access } from '../../access/access.ts'
import type { Documents } from '../../documents/documents.ts'
import { RelayError } from '../../kernel/errors.ts'

/** Returns the current body of a document; `none` when the document does not exist any more. */
export async function storedBody(documents: Pick<Documents, 'get'>, access: Access, docId: string): Promise<Uint8Array | 'none'> {
  try {
    return (await documents.get(access, docId)).record.body
  } catch (error) {
    if (error instanceof RelayError && error.code === 'NOT_FOUND') return 'none'
    throw error
  }
}
