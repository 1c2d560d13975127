import { quote } from '@docrelay/model/quote'
import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import type { ToolFailure } from './tool.ts'

/** Finds the document that a restore put in the place of a deleted one; `null` when the caller may read no such document. */
export type Successor = (access: Access, docId: string) => Promise<DocumentHead | null>

/** Adds to the failure of a call for a deleted document the document that replaced it. [MCP-27] */
export async function withSuccessor(outcome: ToolFailure, access: Access, successorOf: Successor): Promise<ToolFailure> {
  const { docId, deleted } = outcome.facts
  if (outcome.code !== 'ERR_DOC_NOT_FOUND' || deleted !== true || typeof docId !== 'string') return outcome
  const head = await successorOf(access, docId)
  if (head === null) return outcome
  const message = `Document ${docId} was restored from a recovery point and goes on as ${head.id}.`
  return { ...outcome, message, facts: { ...outcome.facts, nearest: [{ id: head.id, name: quote(head.facts.title) }] } }
}
