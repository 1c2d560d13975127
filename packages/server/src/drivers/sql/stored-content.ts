import { crc32 } from 'node:zlib'
import { bodyChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'

/** A stored body with the key and checksum of its row. */
export interface ReadBody {
  readonly key: number
  readonly body: Uint8Array
  /** The stored checksum, as in `bodies`. */
  readonly crc32: number
}

/** What a recovery point records about its body. */
export interface StoredContent {
  readonly digest: string
  /** Checksum of the bytes alone, without the key. */
  readonly crc32: number
  readonly sizeBytes: number
}

/** Checks a stored body and decodes it once. Returns `null` when it is damaged. Takes about 20 ms per MiB. [LIFE-21] */
export function contentOf({ key, body, crc32: expected }: ReadBody): StoredContent | null {
  if (bodyChecksum(key, body) !== expected) return null
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return { digest: contentDigest(body), crc32: crc32(body), sizeBytes: body.byteLength }
  } catch {
    return null
  }
}
