import type { Access } from '../access/access.ts'

/**
 * The question that the blob service asks of documents. This folder declares the port, `documents` implements it, and compose connects the two.
 * [BLOB-6, BLOB-13]
 */
export interface BlobReaders {
  /** Whether the caller may read a document that references the blob, live content included. */
  mayRead(access: Access, hash: string): Promise<boolean>
}
