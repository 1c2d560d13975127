import { quote } from '@docrelay/model/quote'
import type { Documents } from '../../documents/documents.ts'
import type { ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import type { ToolRow } from './tool-row.ts'

interface NamedDeps {
  readonly documents: Pick<Documents, 'list'>
}

const MOST_NAMED = 3

/** Wraps a tool so that a call with a document's name in place of its id is answered with the readable documents of that name. [AG-85] */
export function withNamedDocuments(tool: ToolRow, deps: NamedDeps): ToolRow {
  return { ...tool, run: async (call) => withNearest(await tool.run(call), call, deps) }
}

async function withNearest(
  outcome: ToolSuccess | ToolFailure,
  { access, args }: ToolCall,
  { documents }: NamedDeps,
): Promise<ToolSuccess | ToolFailure> {
  const { docId } = args
  if (outcome.kind !== 'failure' || outcome.code !== 'ERR_DOC_NOT_FOUND' || typeof docId !== 'string') return outcome
  const name = docId.trim().toLowerCase()
  if (name === '') return outcome
  const { items } = await documents.list(access, { limit: null, after: null, titlePart: name, collectionId: undefined })
  const nearest = items
    .filter(({ head }) => head.facts.title.trim().toLowerCase() === name)
    .slice(0, MOST_NAMED)
    .map(({ head }) => ({ id: head.id, name: quote(head.facts.title) }))
  if (nearest.length === 0) return outcome
  const ids = nearest.map(({ id }) => id).join(', ')
  const message = `${outcome.message} That is a name; ids of documents with it: ${ids}.`
  return { ...outcome, message, facts: { ...outcome.facts, nearest } }
}
