import { createHash } from 'node:crypto'
import { unchangedWarning } from '@docrelay/model/changes/unchanged'
import { isOutdated, isRefusal, type Refusal, type Warning } from '@docrelay/model/edit'
import { editFlaw, type EditName } from '@docrelay/model/edits'
import type { Documents } from '../../documents/documents.ts'
import type { Effects } from '../../documents/effects.ts'
import { editNotes } from '../../documents/notes.ts'
import { contendedEdit } from '../../documents/edit-plan.ts'
import type { Agent, EditOutcome } from '../../documents/residents.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import type { ArgumentsSchema } from '../arguments.ts'
import { callerDigest } from '../memory/callers.ts'
import { refusal, success } from '../results.ts'
import type { CallContext, JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { annotations, FLAG, type Hint } from './schema.ts'
import type { OutputMembers } from './output-members.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

/** A write tool that consists of one edit of one document. */
export interface EditTool
  extends Pick<ToolRow, 'place' | 'title' | 'description' | 'toolset' | 'errors' | 'examples' | 'misnamed' | 'needless'> {
  readonly name: EditName
  readonly input: ArgumentsSchema & JsonObject
  /** Members of each success besides `serverVersion`. */
  readonly result: readonly string[]
  /** Result members that only some successes have. */
  readonly more?: readonly string[]
  /** Schemas of result members that have another meaning in this tool than in others. */
  readonly members?: OutputMembers
  readonly hints?: readonly Hint[]
  /**
   * Fetches or computes what the edit needs and returns it as extra arguments of the edit. Runs after the caller's right to edit was checked and
   * before the edit, also for a dry run. When it refuses, nothing is written. Runs again when the edit finds the result outdated. [REF-5,
   * TOOL-21, DIAG-10]
   *
   * @param attempt counts from 0
   */
  readonly prepare?: (call: ToolCall, attempt: number) => Promise<JsonObject | Refusal>
}

/** What edit tools need from the document service. */
export type Editable = Pick<Documents, 'edit' | 'require'>

/** Makes a tool from an edit of the document model. [CONC-1, TOOL-15, TOOL-20, TOOL-21] */
export function editTool(documents: Editable, tool: EditTool): ToolRow {
  const { input, result, more = [], members, hints = [], prepare, ...row } = tool
  const { name } = row
  return {
    ...row,
    inputSchema: isBriefable(result) ? { ...input, properties: { ...input.properties, brief: FLAG } } : input,
    outputSchema: output(
      [...result.filter((member) => !BRIEF.has(member)), 'changed', 'serverVersion'],
      [...result.filter((member) => BRIEF.has(member)), ...more, 'callId', 'removed'],
      members,
    ),
    annotations: annotations(...hints),
    access: 'edit',
    bucket: 'write',
    flaw(args) {
      const flaw = editFlaw(name, args)
      return flaw && refusal(flaw)
    },
    run(call) {
      const tryPrepared = async (attempt: number): Promise<ToolSuccess | ToolFailure | 'again'> => {
        const more = prepare === undefined ? {} : await prepared(documents, (asked) => prepare(asked, attempt), call)
        if (isRefusal(more)) return refusal(more)
        const outcome = await tryEdit(documents, name, call, more)
        return isOutdated(outcome) ? 'again' : answerOf(name, outcome, call)
      }
      return retryCas(tryPrepared, async () => {
        const { version } = await documents.require(call.access, call.args['docId'] as string, 'edit')
        return refusal(contendedEdit(version))
      })
    },
  }
}

async function prepared(
  documents: Editable,
  prepare: (call: ToolCall) => Promise<JsonObject | Refusal>,
  call: ToolCall,
): Promise<JsonObject | Refusal> {
  try {
    await documents.require(call.access, call.args['docId'] as string, 'edit')
  } catch (error) {
    // The edit itself fails with the same refusal and reports it with a code of the tools.
    if (error instanceof RelayError) return {}
    throw error
  }
  return prepare(call)
}

/** Runs an edit and converts its outcome into the answer of a call. `more`: extra arguments of the edit. */
export async function runEdit(
  documents: Editable,
  edit: EditName,
  call: ToolCall,
  more: JsonObject,
): Promise<ToolSuccess | ToolFailure> {
  return answerOf(edit, await tryEdit(documents, edit, call, more), call)
}

function tryEdit(documents: Editable, edit: EditName, call: ToolCall, more: JsonObject): Promise<EditOutcome> {
  const { docId, dryRun, brief: _, ...args } = call.args
  const { expectedVersion } = args
  return documents.edit(call.access, {
    id: docId as string,
    edit,
    // `expectedVersion` stays in the arguments, because only an edit with an expected version accepts handles. [PROSE-47]
    args: { docId, ...args, ...more, naming: call.naming },
    expectedVersion: typeof expectedVersion === 'number' ? expectedVersion : null,
    dryRun: dryRun === true,
    agent: agentOf(call),
    caller: callerDigest(call),
    signal: call.signal,
    ...(call.once && { once: call.once }),
    ...(call.glance && { writer: call.glance }),
  })
}

function answerOf(edit: EditName, outcome: EditOutcome, { args }: ToolCall): ToolSuccess | ToolFailure {
  if (isRefusal(outcome)) return refusal(outcome)
  const shown = (result: object) => (args['brief'] === true ? inBrief(result) : result)
  if (outcome.kind === 'repeated') {
    const { answer, version } = outcome
    const told = { ...shown(answer.result), ...answer.effects, serverVersion: version }
    return success({ ...told, ...answer.notes, replayed: true })
  }
  const { head, result, effects } = outcome
  return success({
    ...shown(result),
    ...effects,
    serverVersion: head.version,
    ...editNotes(head.facts, { ...outcome, warnings: [...whyUnchanged(edit, effects), ...outcome.warnings] }),
    ...(args['dryRun'] === true && { dryRun: true }),
  })
}

/** Returns a warning when the edit changed nothing. [AG-32] */
function whyUnchanged(edit: EditName, { changed }: Effects): readonly Warning[] {
  const warning = changed > 0 ? null : unchangedWarning(edit)
  return warning === null ? [] : [warning]
}

/** Members that a brief answer leaves out. [AG-43] */
const BRIEF: ReadonlySet<string> = new Set(['blocks', 'table', 'outline'])

function isBriefable(result: readonly string[]): boolean {
  return result.some((member) => BRIEF.has(member))
}

function inBrief(result: object): object {
  return Object.fromEntries(Object.entries(result).filter(([name]) => !BRIEF.has(name.replace(/Total$/, ''))))
}

const MAX_NAME_CHARACTERS = 64

/** The name and colour under which a live document shows the agent. [PRES-2] */
export function agentOf({ access, clientName }: Pick<CallContext, 'access' | 'clientName'>): Agent {
  const name = Array.from((clientName ?? '').trim())
    .slice(0, MAX_NAME_CHARACTERS)
    .join('')
    .trim()
  const digest = createHash('sha256').update(access.sub).digest('hex')
  return { name: name === '' ? 'Agent' : name, color: `#${digest.slice(0, 6)}` }
}
