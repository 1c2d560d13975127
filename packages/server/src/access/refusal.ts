import { RelayError } from '../kernel/errors.ts'
import type { Access, Level } from './access.ts'

export interface RefusedOperation {
  readonly access: Pick<Access, 'role'>
  /** What the caller has; `view` where there is no document to look at, as for creating with role viewer. */
  readonly level: Level
  /** What the operation needs; `edit` also for what only the role forbids. */
  readonly needs: Exclude<Level, 'none'>
  /** Deleting a document is told by a prefix of its own. */
  readonly deletes?: boolean
  readonly docId?: string
}

/**
 * The error for an operation above the caller's rights; its message starts with the prefix that existing editor clients match. [PERM-4, REST-3]
 */
export function rightRefusal({ access: { role }, level, needs, deletes = false, docId }: RefusedOperation): RelayError {
  const details = { ...(docId === undefined ? {} : { docId }), role, access: level }
  if (level === 'none') {
    return new RelayError('VIEW_FORBIDDEN', 'ERR_VIEW_FORBIDDEN: you may not read this document.', details)
  }
  if (needs === 'owner' && role !== 'viewer') {
    const prefix = deletes ? 'ERR_DELETE_FORBIDDEN' : 'ERR_EDIT_FORBIDDEN'
    return new RelayError('OWNER_REQUIRED', `${prefix}: this needs the owner of the document or of the workspace.`, details)
  }
  return new RelayError('EDIT_FORBIDDEN', 'ERR_EDIT_FORBIDDEN: you may read but not write here.', details)
}
