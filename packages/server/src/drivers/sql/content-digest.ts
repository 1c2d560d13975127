import { createHash } from 'node:crypto'
import { memberSpans } from '@docrelay/model/body-members'

/** Members that every save sets and that do not count as content. The stored body has neither serverVersion nor version. [LIFE-20] */
const STAMPS: ReadonlySet<string> = new Set(['modifiedAt', 'lastModifiedBy', 'lastModifiedByName'])

/**
 * SHA-256 of a stored body without the members that every save sets: equal exactly when two bodies are equal up to the
 * order of members. Linear, and parses nothing. Throws when the bytes are not a compact JSON object.
 */
export function contentDigest(body: Uint8Array): string {
  const hash = createHash('sha256')
  for (const { name, start, end } of memberSpans(body)) {
    if (!STAMPS.has(name)) hash.update(body.subarray(start, end)).update(',')
  }
  return hash.digest('hex')
}
