import type { Access } from '../access/access.ts'

/** What blobs need to know of documents. Declared here, implemented by `documents`, handed over by compose. [BLOB-6, BLOB-13] */
export interface BlobReaders {
  /** Whether the caller may read a document that references the blob, live content included. */
  mayRead(access: Access, hash: string): Promise<boolean>
}
