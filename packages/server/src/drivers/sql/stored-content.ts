import { crc32 } from 'node:zlib'
import { bodyChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'

/** A stored body as it was read. */
export interface ReadBody {
  readonly key: number
  readonly body: Uint8Array
  /** As `bodies` has it. */
  readonly crc32: number
}

/** What a recovery point says of its body besides holding it. */
export interface StoredContent {
  readonly digest: string
  /** Of the bytes alone. */
  readonly crc32: number
  readonly sizeBytes: number
}

/** Checks a stored body and decodes it once; `null`: it is damaged. Some 20 ms per MiB. [LIFE-21] */
export function contentOf({ key, body, crc32: expected }: ReadBody): StoredContent | null {
  if (bodyChecksum(key, body) !== expected) return null
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return { digest: contentDigest(body), crc32: crc32(body), sizeBytes: body.byteLength }
  } catch {
    return null
  }
}
