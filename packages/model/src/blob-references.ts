import type { DocumentBody } from './body.ts'

/** The member of a body that lists the blobs it references. [BLOB-2] */
export const BLOB_REFERENCES = 'blobReferences'

const DIGITS = /[0-9a-f]{64}/y
const WHOLE = /^[0-9a-f]{64}$/
const SCHEME = '://'
/** In compact JSON, the text between the first four letters of a `blobRef` key and its hash. */
const KEY_REST = 'Ref":"'

/** Whether a value is a SHA-256 as blobs are named. [BLOB-1] */
export function isBlobHash(value: unknown): value is string {
  return typeof value === 'string' && WHOLE.test(value)
}

/**
 * Returns the blobs that a compact JSON text references, sorted, each once: a bare hash under a key `blobRef`, or
 * `blob://<hash>` anywhere in a string. [BLOB-1, BLOB-2] More than 64 digits are no hash. The text must be one that
 * `JSON.stringify` could have written: then both forms occur in it literally, and no value has to be visited.
 */
export function blobReferencesIn(text: string): readonly string[] {
  const found = new Set<string>()
  for (let at = text.indexOf('blob'); at >= 0; at = text.indexOf('blob', at + 4)) {
    const hash = text.startsWith(SCHEME, at + 4) ? inAddress(text, at) : underKey(text, at)
    if (hash !== null) found.add(hash)
  }
  return [...found].sort()
}

/** Returns the well-formed entries of the body's own list. */
export function listedBlobReferences(body: DocumentBody): readonly string[] {
  const listed = body.members.get(BLOB_REFERENCES)
  return Array.isArray(listed) ? listed.filter(isBlobHash) : []
}

function inAddress(text: string, at: number): string | null {
  const start = at + 4 + SCHEME.length
  const hash = hashAt(text, start)
  return hash !== null && !/[0-9a-f]/.test(text.charAt(start + 64)) ? hash : null
}

function underKey(text: string, at: number): string | null {
  // A quote behind a backslash is a part of a longer key.
  if (!text.startsWith(KEY_REST, at + 4) || text[at - 1] !== '"' || text[at - 2] === '\\') return null
  const start = at + 4 + KEY_REST.length
  const hash = hashAt(text, start)
  return hash !== null && text[start + 64] === '"' ? hash : null
}

function hashAt(text: string, start: number): string | null {
  DIGITS.lastIndex = start
  return DIGITS.test(text) ? text.slice(start, start + 64) : null
}
