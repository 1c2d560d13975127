import { type AccessPolicy, type Access, refuse } from '../access/access.ts'
import type { DocumentHead } from './document-store.port.ts'
import type { Reader } from './metadata.ts'
import { documentLevel } from './put-plan.ts'

/** A document's head, with the reader and the level it has. */
export interface Readable {
  readonly head: DocumentHead
  readonly reader: Reader
}

interface Rules {
  readonly accessPolicy: AccessPolicy
}

/** Returns the caller as a reader of the document, with its level; `null` when the caller may not read it. */
export function readerOf(access: Access, head: DocumentHead, { accessPolicy }: Rules): Reader | null {
  const level = documentLevel(access, head, accessPolicy)
  return level === 'none' ? null : { sub: access.sub, level }
}

/** Returns the head with its reader. Throws VIEW_FORBIDDEN when the caller may not read the document. [PERM-4] */
export function readable(access: Access, head: DocumentHead, rules: Rules): Readable {
  const reader = readerOf(access, head, rules)
  if (reader === null) throw refuse({ role: access.role, level: 'none', needed: 'view', docId: head.id })
  return { head, reader }
}
