import { type BlobStore, type DirectTransfer, hashOfObject } from '../blob-store.port.ts'
import { collected, hashOf, keepBytes } from './blob-bytes.ts'

export interface DirectStore {
  readonly store: BlobStore
  /** Staged bytes by staging key. A test puts bytes here as a client would. */
  readonly staged: Map<string, Uint8Array>
  /** The links that were made, with their types and dispositions. */
  readonly links: { readonly object: string; readonly mimeType: string; readonly attachment: boolean }[]
  /** Called after each inspection of a staged object. */
  afterInspect: (stagingKey: string) => void
}

/** Adds direct transfer to a store that has none. Staged objects are kept in memory. */
export function directStore(files: BlobStore): DirectStore {
  const staged = new Map<string, Uint8Array>()
  const inspected = new Map<string, string>()
  const links: DirectStore['links'] = []
  const direct: DirectTransfer = {
    uploadUrl: async ({ stagingKey, mimeType }) => ({
      url: `https://store.test/${stagingKey}`,
      headers: { 'content-type': mimeType },
    }),
    async inspect(stagingKey, maxBytes) {
      const bytes = staged.get(stagingKey)
      if (bytes === undefined) return { kind: 'missing' }
      if (maxBytes !== null && bytes.byteLength > maxBytes) return { kind: 'too-large', sizeBytes: bytes.byteLength }
      const hash = hashOf(bytes)
      inspected.set(stagingKey, hash)
      opened.afterInspect(stagingKey)
      return { kind: 'object', hash, sizeBytes: bytes.byteLength }
    },
    async promote(stagingKey, object) {
      const bytes = staged.get(stagingKey)
      if (bytes === undefined || hashOf(bytes) !== inspected.get(stagingKey)) return 'changed'
      await keepBytes(files, bytes, object)
      return 'promoted'
    },
    async isIntact(object) {
      const bytes = await collected(await files.read(object, null))
      return bytes !== null && hashOf(bytes) === hashOfObject(object)
    },
    removeStaged: async (stagingKey) => void staged.delete(stagingKey),
    removeStagedBefore: async (_beforeMs, limit) => {
      const keys = [...staged.keys()].slice(0, limit)
      for (const key of keys) staged.delete(key)
      return keys.length
    },
    async downloadUrl({ object, mimeType, attachment }) {
      links.push({ object, mimeType, attachment })
      return `https://store.test/blobs/${object}`
    },
  }
  const opened: DirectStore = { store: { ...files, direct }, staged, links, afterInspect: () => {} }
  return opened
}
