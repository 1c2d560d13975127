import { bodyFacts } from '@docrelay/model/body-facts'
import { withMemberBytes } from '@docrelay/model/body-members'
import { readStoredBody } from '@docrelay/model/body-parse'
import { shownTitle, withMembers, withTitle } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import type { Json } from '@docrelay/model/json'
import type { StoredBody } from './document-store.port.ts'

const RESTORED = ' (Restored)'

/** Name and origin of a restored document. */
export interface RestoredAs {
  readonly docId: string
  readonly restoredFrom: string
  /** The client's version, kept beside the body of the point. [CFG-2] */
  readonly clientVersion: Json | undefined
}

/**
 * Returns the body of a recovery point with the current id of its document, otherwise byte for byte; `null` when it
 * cannot be decoded. [REST-26]
 */
export function pointBody(bytes: Uint8Array, docId: string): Uint8Array<ArrayBuffer> | null {
  return decoded(() => {
    readStoredBody(bytes)
    return withMemberBytes(bytes, 'id', new TextEncoder().encode(JSON.stringify(docId)))
  })
}

/**
 * Returns the body of a document restored from a point: content and form of the point, another id and title. `null`
 * when the point cannot be decoded. [LIFE-22]
 */
export function restoredBody(bytes: Uint8Array, as: RestoredAs): StoredBody | null {
  return decoded(() => {
    const point = readStoredBody(bytes)
    const titled = withTitle(point, `${shownTitle(point)}${RESTORED}`)
    const named = withMembers(
      titled,
      new Map<string, Json>([
        ['id', as.docId],
        ['restoredFrom', as.restoredFrom],
      ]),
    )
    const { body, bytes: written, blobReferences } = writeSettledBody(named, true)
    return { bytes: written, facts: bodyFacts(body, as.clientVersion), blobReferences }
  })
}

/** Returns the result of `read`, or `null` when it throws: the stored bytes cannot be decoded. */
function decoded<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
