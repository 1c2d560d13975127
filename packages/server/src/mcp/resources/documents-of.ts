import type { Access } from '../../access/access.ts'
import type { Documents } from '../../documents/documents.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { OpenedDocument } from '../read-facts.ts'

/**
 * Returns a document that the caller may read, else `null`. A caller cannot tell a missing document from an unreadable one. [RES-8]
 */
export async function readableDocument(
  documents: Pick<Documents, 'get'>,
  access: Access,
  id: string,
): Promise<OpenedDocument | null> {
  return documents.get(access, id).catch(nothingToRead)
}

export async function mayReadDocument(documents: Pick<Documents, 'require'>, access: Access, id: string): Promise<boolean> {
  return (await documents.require(access, id, 'view').catch(nothingToRead)) !== null
}

function nothingToRead(error: unknown): null {
  if (error instanceof RelayError && ['NOT_FOUND', 'VIEW_FORBIDDEN', 'BAD_ID'].includes(error.code)) return null
  throw error
}
