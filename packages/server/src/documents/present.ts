import { visibleShares } from '../access/shares.ts'
import type { DocumentHead, DocumentRecord } from './document-store.port.ts'
import type { Reader } from './metadata.ts'

const CLOSING_BRACE = 0x7d
const OPENING_BRACE = 0x7b

/**
 * Returns a stored body as GET answers it, in parts: the stored bytes without the closing brace, then the relay's own
 * members with the brace. So reading neither parses nor copies a large body. [BODY-10, PERM-7] With `editorClient` the
 * member `version` is the client's own. [CFG-2]
 */
export function presentBody(
  record: DocumentRecord,
  reader: Reader,
  options: { readonly editorClient: boolean },
): readonly Uint8Array[] {
  const { body, head } = record
  if (body.at(-1) !== CLOSING_BRACE || body[0] !== OPENING_BRACE) throw new Error('a stored body is a compact JSON object')
  const members = JSON.stringify(serverMembers(head, reader, options.editorClient)).slice(1)
  const isEmpty = body.length === 2
  return [body.subarray(0, -1), Buffer.from(isEmpty ? members : `,${members}`)]
}

function serverMembers(head: DocumentHead, reader: Reader, editorClient: boolean): Record<string, unknown> {
  const version = editorClient ? head.facts.clientVersion : head.version
  return {
    ...(version !== undefined && { version }),
    serverVersion: head.version,
    ownerId: head.ownerId,
    ownerName: head.ownerName,
    isRelayDocument: true,
    collectionId: head.collectionId,
    sharedWith: visibleShares(reader.level, reader.sub, head.sharedWith),
  }
}

/** Returns the strong ETag of a body for one reader; callers at level view see other shares. [REST-20] */
export function bodyEtag(head: DocumentHead, reader: Reader): string {
  return reader.level === 'view' ? `"${head.version}-v"` : `"${head.version}"`
}
