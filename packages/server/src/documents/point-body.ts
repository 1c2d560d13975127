import { bodyFacts } from '@docrelay/model/body-facts'
import { withMemberBytes } from '@docrelay/model/body-members'
import { readStoredBody } from '@docrelay/model/body-parse'
import { shownTitle, withMembers, withTitle } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import type { Json } from '@docrelay/model/json'
import type { StoredBody } from './document-store.port.ts'

const RESTORED = ' (Restored)'

/** What a restored document is called and where it comes from. */
export interface RestoredAs {
  readonly docId: string
  readonly restoredFrom: string
  /** Kept beside the point's body. [CFG-2] */
  readonly clientVersion: Json | undefined
}

/** The body of a recovery point under the id its document has now, else byte for byte; `null` when it cannot be decoded. [REST-26] */
export function pointBody(bytes: Uint8Array, docId: string): Uint8Array<ArrayBuffer> | null {
  return decoded(() => {
    readStoredBody(bytes)
    return withMemberBytes(bytes, 'id', new TextEncoder().encode(JSON.stringify(docId)))
  })
}

/** The body of a document restored from a point: content and form of the point, another id and title. `null`: it cannot be decoded. [LIFE-22] */
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

/** Whatever a reader of stored bytes throws, they cannot be decoded. */
function decoded<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
