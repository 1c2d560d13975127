import { unknownDocument, versionConflict } from '../../documents/edit-plan.ts'
import { RelayError } from '../../kernel/errors.ts'
import { localRefusal } from '../local-access.ts'
import { failure, refusal } from '../results.ts'
import type { CallContext, ToolFailure } from '../tool.ts'

/** A refused call: its document, and what the tool tried to do with it. */
export interface RefusedCall extends Pick<CallContext, 'access'> {
  /** `null` when the document does not exist yet. */
  readonly docId: string | null
  readonly does: 'read' | 'create' | 'delete'
  /** The version that the call expected. A call without one cannot get a version conflict. */
  readonly expectedVersion?: number | undefined
}

/** Tells whether this workspace holds the tombstone of a document. [MCP-27] */
export type WasDeleted = (workspaceId: string, docId: string) => Promise<boolean>

/** Converts a refusal of the document service into a failure with a code of the tools; rethrows any other error. [TOOL-28] */
export async function documentFailure(error: unknown, call: RefusedCall, wasDeleted: WasDeleted): Promise<ToolFailure> {
  if (!(error instanceof RelayError)) throw error
  const { access, does } = call
  const docId = call.docId ?? ''
  const document = call.docId === null ? {} : { docId }
  switch (error.code) {
    case 'NOT_FOUND': {
      const local = localRefusal(error)
      if (local !== null) return failure(local.code, local.message, local.facts)
      return refusal(unknownDocument(docId, await wasDeleted(access.workspaceId, docId)))
    }
    case 'VIEW_FORBIDDEN':
    case 'EDIT_FORBIDDEN':
    case 'OWNER_REQUIRED': {
      if (does === 'read') return failure('ERR_VIEW_FORBIDDEN', `You may not read document ${docId}.`, { docId })
      const facts = { ...document, role: access.role }
      if (does === 'create') return failure('ERR_EDIT_FORBIDDEN', `The role ${access.role} may not create documents.`, facts)
      return failure('ERR_DELETE_FORBIDDEN', `Only the owner of document ${docId} or of the workspace may delete it.`, facts)
    }
    case 'VERSION_CONFLICT':
      return refusal(versionConflict(Number(call.expectedVersion), Number(error.details['currentVersion'])))
    case 'DOC_TOO_LARGE':
      return failure('ERR_DOC_TOO_LARGE', error.message, error.details)
    case 'STORAGE_QUOTA':
      return failure('ERR_STORAGE_QUOTA', error.message, error.details)
    default:
      throw error
  }
}
