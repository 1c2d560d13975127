import { type AccessPolicy, type Access, refuse } from '../access/access.ts'
import type { DocumentHead } from './document-store.port.ts'
import type { Reader } from './metadata.ts'
import { documentLevel } from './put-plan.ts'

/** A document's head with the level its reader has. */
export interface Readable {
  readonly head: DocumentHead
  readonly reader: Reader
}

interface Rules {
  readonly accessPolicy: AccessPolicy
}

/** The level and identity by which a caller reads a document, `null` when it may not. */
export function readerOf(access: Access, head: DocumentHead, { accessPolicy }: Rules): Reader | null {
  const level = documentLevel(access, head, accessPolicy)
  return level === 'none' ? null : { sub: access.sub, level }
}

/** Throws VIEW_FORBIDDEN for a caller who may not read it. [PERM-4] */
export function readable(access: Access, head: DocumentHead, rules: Rules): Readable {
  const reader = readerOf(access, head, rules)
  if (reader === null) throw refuse({ role: access.role, level: 'none', needed: 'view', docId: head.id })
  return { head, reader }
}
