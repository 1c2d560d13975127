import type { Fix } from '@docrelay/model/edit'
import { editFlaw, type EditName, editNames } from '@docrelay/model/edits'
import { isRoutedEdit } from '@docrelay/model/canvas/shape-edits'
import { quote } from '@docrelay/model/quote'
import { type EditDocument, type PreparedStep, type Step, stepRefusal } from '@docrelay/model/steps/edit-document'
import { type ArgumentsSchema, badArgument, checkArguments } from '../arguments.ts'
import { failure, withFixes } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import type { Documents } from '../../documents/documents.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { DiagramLayouts } from './diagram-layouts.ts'
import { type Editable, editTool } from './edit-tool.ts'
import { withProgress } from './progress.ts'
import { DOCUMENT, FLAG, input, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import { type IconDeps, unknownIconsOf } from './shape-icons.ts'
import { storedBody } from './stored-body.ts'
import type { ToolRow } from './tool-row.ts'

const MOST_STEPS = 50
const STEPS_PER_TOKEN = 10
const PREFIX = 'service_'

/** Write tools that cannot be steps: each prepares something before its write, once for a call. */
const NO_STEPS: ReadonlySet<string> = new Set(['edit_document', 'undo', 'add_file'])

/** Arguments that belong to the whole call and not to a step. [AG-54] */
const OF_THE_CALL = ['expectedVersion', 'dryRun', 'requestId', 'brief'] as const

export interface StepDeps extends IconDeps {
  readonly documents: Pick<Documents, 'get'>
  readonly layouts: Pick<DiagramLayouts, 'prepare'>
  readonly timers: Timers
}

type Checked = { readonly kind: 'steps'; readonly steps: readonly Step[]; readonly fixes: readonly Fix[] } | ToolFailure

/** Makes the tool that runs several edits as one. `tools`: the other tools; those that consist of one edit can be steps. [TOOL-edit_document] */
export function editDocumentTool(edits: Editable, deps: StepDeps, tools: readonly ToolRow[]): ToolRow {
  const allowed = new Map(
    tools
      .filter(({ name }) => (editNames as readonly string[]).includes(name) && !NO_STEPS.has(name))
      .map((tool) => [tool.name, tool]),
  )
  const { run, ...row } = editTool(edits, {
    name: 'edit_document',
    place: 49,
    title: 'Edit document',
    description: 'Run writes of one document, all or none. Returns what each did.',
    toolset: 'author',
    input: input(
      {
        ...DOCUMENT,
        steps: {
          description: '$1.blocks[0].id: id from step 1',
          type: 'array',
          minItems: 1,
          maxItems: MOST_STEPS,
          items: {
            type: 'object',
            properties: { tool: TEXT, arguments: { type: 'object' } },
            required: ['tool', 'arguments'],
            additionalProperties: false,
          },
        },
      },
      { brief: FLAG, ...VERSIONED, ...REPEATABLE },
    ),
    result: ['steps'],
    hints: ['DE'],
    errors: {
      ERR_STEP_TOOL: { steps: [{ tool: 'delete_document', arguments: {} }] },
      ERR_STEP_REF: { steps: [{ tool: 'delete_block', arguments: { pageId: 'p', id: '$1.blocks[0].id' } }] },
      ERR_ID_NOT_FOUND: { steps: [{ tool: 'delete_block', arguments: { pageId: 'p', id: 'blk-z' } }] },
      ERR_BLOCK_CHANGED: { steps: [{ tool: 'delete_block', arguments: { pageId: 'p', id: 'blk-a#0000' } }] },
    },
    examples: [
      {
        steps: [
          { tool: 'insert_block', arguments: { pageId: 'p', id: 'blk-a', content: 'New.' } },
          { tool: 'set_block', arguments: { pageId: 'p', id: '$1.blocks[0].id', level: 2 } },
        ],
      },
      {
        steps: [
          { tool: 'add_shape', arguments: { pageId: 'c', shape: { kind: 'rectangle', x: 900, y: 900, text: 'API' } } },
          {
            tool: 'generate_diagram',
            arguments: {
              pageId: 'c',
              nodes: [{ id: 'api', shapeId: '$1.id' }, { id: 'db' }],
              edges: [{ from: 'api', to: 'db' }],
            },
          },
        ],
      },
    ],
    prepare: (call, attempt) => prepared(call, attempt, deps),
  })
  return {
    ...row,
    tokens: (args) => Math.max(1, Math.ceil(stepCount(args) / STEPS_PER_TOKEN)),
    flaw(args) {
      const checked = checkSteps(args, allowed)
      return checked.kind === 'failure' ? checked : null
    },
    async run(call) {
      const checked = checkSteps(call.args, allowed)
      if (checked.kind === 'failure') return checked
      const hidden = outsideToolsets(call, checked.steps, allowed)
      if (hidden !== null) return hidden
      const stepped = { ...call, args: { ...call.args, steps: checked.steps } }
      const draws = checked.steps.some(({ tool }) => tool === 'generate_diagram')
      const done = draws ? withProgress(call, deps.timers, 'drawing the diagrams', () => run(stepped)) : run(stepped)
      const outcome = withFixes(await done, checked.fixes)
      return call.args['brief'] === true ? withoutResults(outcome) : outcome
    },
  }
}

/** After this many preparations that a change made outdated, the edit fits the diagrams to the moved shapes. [AG-106] */
const MADE_AGAIN = 2

/**
 * Computes before the write whatever would hold up a live document: layouts of diagrams, and routes of connectors. A single step that routes
 * is first left to the edit, which can route a few connectors itself. [AG-58, DIAG-17, CONC-13]
 */
async function prepared(call: ToolCall, attempt: number, { documents, layouts, ...icons }: StepDeps): Promise<JsonObject> {
  const { docId, steps, expectedVersion } = call.args as unknown as EditDocument & { readonly docId: string }
  const isRouted = steps.map(({ tool }) => isRoutedEdit(tool))
  const routed = isRouted.filter(Boolean).length
  const draws = steps.some(({ tool }) => tool === 'generate_diagram')
  if (routed === 0 && !draws) return {}
  const unknownIcons = await Promise.all(
    steps.map(async ({ arguments: args }, i) => (isRouted[i] ? await unknownIconsOf({ ...call, args }, icons) : {})),
  )
  const withIcons = (made: readonly (PreparedStep | null)[]): JsonObject => ({
    prepared: steps.map((_, i) => ({ ...unknownIcons[i], ...made[i] })),
  })
  if (!draws && routed === 1 && attempt === 0) return withIcons(isRouted.map((is) => (is ? { ways: 'few' } : null)))
  const body = await storedBody(documents, call.access, docId)
  // The document is gone, so the edit refuses every step. If the document is restored meanwhile, the edit finds nothing prepared.
  if (body === 'none')
    return withIcons(
      steps.map(({ tool }, i) => (isRouted[i] ? { ways: 'few' } : tool === 'generate_diagram' ? { isRefused: true } : null)),
    )
  const args = { steps, expectedVersion, naming: call.naming }
  const made = await layouts.prepare({ workspaceId: call.access.workspaceId, body, args, signal: call.signal })
  const fit = attempt >= MADE_AGAIN
  return withIcons(made.map((extra) => (extra?.drawn === undefined ? extra : { ...extra, fit })))
}

/** Counts the steps in arguments that are not checked yet. */
function stepCount(args: unknown): number {
  const steps = typeof args === 'object' && args !== null ? (args as JsonObject)['steps'] : undefined
  return Array.isArray(steps) ? Math.min(steps.length, MOST_STEPS) : 0
}

/** Checks each step by the schema of its tool, before any step runs. [AG-53, AG-54] */
function checkSteps({ docId, steps }: JsonObject, allowed: ReadonlyMap<string, ToolRow>): Checked {
  const checked: Step[] = []
  const fixes: Fix[] = []
  for (const [i, { tool: given, arguments: args }] of (steps as readonly Step[]).entries()) {
    const name = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given
    const tool = allowed.get(name)
    if (tool === undefined || (name === 'add_reference' && args['doi'] !== undefined)) return noStep(i + 1, given, allowed)
    const { docId: own, ...rest } = args
    const fit = own === undefined || own === docId ? checkArguments(stepSchema(tool), rest, tool) : otherDocument()
    const flaw = fit.kind === 'failure' ? fit : editFlaw(name as EditName, { docId, ...fit.args })
    if (flaw !== null) return inStep(i + 1, name, flaw)
    if (fit.kind === 'failure') continue
    checked.push({ tool: name, arguments: { docId, ...fit.args } })
    fixes.push(...fit.fixes.map((fix) => ({ ...fix, step: i + 1 })))
  }
  return { kind: 'steps', steps: checked, fixes }
}

/** Returns the tool's schema without the arguments that belong to the whole call. */
function stepSchema({ inputSchema }: ToolRow): ArgumentsSchema {
  const schema = inputSchema as unknown as ArgumentsSchema
  const left = new Set<string>(['docId', ...OF_THE_CALL])
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !left.has(name))),
    required: (schema.required ?? []).filter((name) => !left.has(name)),
  }
}

function otherDocument(): ToolFailure {
  const expected = 'that of the call, or none'
  return badArgument('docId', `docId of a step is another one; expected ${expected}.`, { expected })
}

function noStep(step: number, tool: string, allowed: ReadonlyMap<string, ToolRow>): ToolFailure {
  const names = [...allowed.keys()].map((name) => PREFIX + name)
  const called = quote(tool.startsWith(PREFIX) ? tool : PREFIX + tool)
  return failure('ERR_STEP_TOOL', `step ${step}: ${called} is no step; it may be ${names.join(', ')}.`, {
    step,
    tool: quote(tool),
    allowed: names,
  })
}

function inStep(
  step: number,
  tool: string,
  { code, message, facts }: Pick<ToolFailure, 'code' | 'message' | 'facts'>,
): ToolFailure {
  const told = stepRefusal(step, tool, { kind: 'refused', code, message, facts })
  return failure(told.code, told.message, told.facts)
}

function outsideToolsets({ view }: ToolCall, steps: readonly Step[], allowed: ReadonlyMap<string, ToolRow>): ToolFailure | null {
  const { toolsets } = view
  const at = steps.findIndex(({ tool }) => toolsets !== null && !toolsets.includes((allowed.get(tool) as ToolRow).toolset))
  const step = steps[at]
  if (step === undefined) return null
  const { toolset } = allowed.get(step.tool) as ToolRow
  const tool = PREFIX + step.tool
  const message = `${tool} belongs to the toolset ${toolset}, which this request leaves out.`
  return inStep(at + 1, step.tool, { code: 'ERR_TOOL_DISABLED', message, facts: { tool, toolset } })
}

/** Removes the results of the steps from a success, for a brief answer. [AG-57] */
function withoutResults(outcome: ToolSuccess | ToolFailure): ToolSuccess | ToolFailure {
  if (outcome.kind === 'failure') return outcome
  const steps = outcome.structured['steps'] as readonly JsonObject[]
  return { ...outcome, structured: { ...outcome.structured, steps: steps.map(({ tool, changed }) => ({ tool, changed })) } }
}
