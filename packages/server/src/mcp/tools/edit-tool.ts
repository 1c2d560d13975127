import { createHash } from 'node:crypto'
import { isRefusal } from '@docrelay/model/edit'
import { editFlaw, type EditName } from '@docrelay/model/edits'
import type { Documents } from '../../documents/documents.ts'
import { editNotes } from '../../documents/notes.ts'
import type { Agent } from '../../documents/residents.port.ts'
import type { ArgumentsSchema } from '../arguments.ts'
import { refusal, success } from '../results.ts'
import type { CallContext, JsonObject, ToolCall, ToolDefinition, ToolFailure, ToolSuccess } from '../tool.ts'
import { annotations, type Hint, output } from './schema.ts'

/** A write tool that is one edit of one document. */
export interface EditTool extends Pick<ToolDefinition, 'title' | 'description' | 'toolset'> {
  readonly name: EditName
  readonly input: ArgumentsSchema & JsonObject
  /** Members of each success besides `serverVersion`. */
  readonly result: readonly string[]
  /** Members that only some have. */
  readonly more?: readonly string[]
  readonly hints?: readonly Hint[]
}

/** [CONC-1, TOOL-15, TOOL-20, TOOL-21] */
export function editTool(documents: Pick<Documents, 'edit'>, tool: EditTool): ToolDefinition {
  const { name, title, description, toolset, input, result, more = [], hints = [] } = tool
  return {
    name,
    title,
    description,
    toolset,
    inputSchema: input,
    outputSchema: output([...result, 'serverVersion'], more),
    annotations: annotations(...hints),
    access: 'edit',
    bucket: 'write',
    flaw(args) {
      const flaw = editFlaw(name, args)
      return flaw && refusal(flaw)
    },
    run: (call) => runEdit(documents, name, call),
  }
}

async function runEdit(documents: Pick<Documents, 'edit'>, edit: EditName, call: ToolCall): Promise<ToolSuccess | ToolFailure> {
  const { docId, dryRun, ...args } = call.args
  const { expectedVersion } = args
  const outcome = await documents.edit(call.access, {
    id: docId as string,
    edit,
    // The version stays: an edit that is told of one may be given positions. [PROSE-47]
    args: { docId, ...args },
    expectedVersion: typeof expectedVersion === 'number' ? expectedVersion : null,
    dryRun: dryRun === true,
    agent: agentOf(call),
    signal: call.signal,
    ...(call.once && { once: call.once }),
  })
  if (isRefusal(outcome)) return refusal(outcome)
  if (outcome.kind === 'repeated') {
    const { answer, version } = outcome
    return success({ ...answer.result, serverVersion: version, ...answer.notes, replayed: true })
  }
  const { head, result } = outcome
  return success({
    ...result,
    serverVersion: head.version,
    ...editNotes(head.facts, outcome),
    ...(dryRun === true && { dryRun: true }),
  })
}

const MAX_NAME_CHARACTERS = 64

/** How a live document shows who writes. [PRES-2] */
export function agentOf({ access, clientName }: Pick<CallContext, 'access' | 'clientName'>): Agent {
  const name = Array.from((clientName ?? '').trim())
    .slice(0, MAX_NAME_CHARACTERS)
    .join('')
    .trim()
  const digest = createHash('sha256').update(access.sub).digest('hex')
  return { name: name === '' ? 'Agent' : name, color: `#${digest.slice(0, 6)}` }
}
