import { createHash } from 'node:crypto'
import { isRefusal, type Warning } from '@docrelay/model/edit'
import { editFlaw, type EditName } from '@docrelay/model/edits'
import { quote } from '@docrelay/model/quote'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Documents } from '../../documents/documents.ts'
import type { Agent } from '../../documents/residents.port.ts'
import type { ArgumentsSchema } from '../arguments.ts'
import { notes, refusal, success } from '../results.ts'
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
  })
  if (isRefusal(outcome)) return refusal(outcome)
  const { head, result, fixes, warnings } = outcome
  return success({
    ...result,
    serverVersion: head.version,
    ...notes({ fixes, warnings: [...lockWarning(head), ...warnings] }),
    ...(dryRun === true && { dryRun: true }),
  })
}

/** A lock is a sign for people: it stops nobody and is told. [TOOL-19, CANVAS-23] */
function lockWarning({ facts }: DocumentHead): readonly Warning[] {
  const { lockedBy, lockedByName } = facts.carried
  if (typeof lockedBy !== 'string' || lockedBy === '') return []
  const holder = typeof lockedByName === 'string' && lockedByName !== '' ? lockedByName : lockedBy
  return [{ reason: `the document is locked by ${quote(holder)}; it was written all the same`, field: 'lockedBy' }]
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
