import type { DocumentBody } from '../body.ts'
import { changesBetween } from '../changes/changes-between.ts'
import type { GenerateDiagram } from '../canvas/generate/diagram-input.ts'
import type { WithWays } from '../canvas/ways.ts'
import {
  type ContentLink,
  type Edited,
  type EditEnvironment,
  type Fix,
  isRefusal,
  outdated,
  type Refusal,
  type Warning,
} from '../edit.ts'
import { equalLists } from '../prose/equal.ts'
import { pushAll } from '../prose/marks.ts'
import type { TextChange } from '../prose/text-splices.ts'
import type { SeenPage } from '../seen/seen.ts'
import { seenAfter } from '../seen/seen-after.ts'
import type { ShownPage } from '../seen/shown.ts'
import { currentStamps } from './current-stamps.ts'
import { resolved, withIds } from './step-references.ts'

/** One call of a write tool inside of a call. [AG-53] */
export interface Step {
  /** The name of the edit. */
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** Arguments of a step that were made before the write, as the tool of the step takes them. */
export interface PreparedStep extends Pick<GenerateDiagram, 'drawn' | 'fit' | 'isRefused'>, WithWays {}

export interface EditDocument {
  readonly steps: readonly Step[]
  /** By step what was prepared for it. Absent: nothing was, and steps do everything themselves. */
  readonly prepared?: readonly (PreparedStep | null)[] | undefined
  readonly expectedVersion?: number | undefined
  readonly naming?: unknown
}

export interface StepDone {
  readonly tool: string
  readonly changed: number
  /** What the tool answers: the ids that later steps could use. */
  readonly result: object
}

export interface StepsDone {
  readonly steps: readonly StepDone[]
}

/** Runs an edit by its name. */
export type RunStep = (tool: string, body: DocumentBody, args: unknown, environment: EditEnvironment) => Edited<object> | Refusal

/** The refusal of a step as that of the call. [AG-57] */
export function stepRefusal(step: number, tool: string, { code, message, facts, kind }: Refusal): Refusal {
  return { kind, code, message: `step ${step} (service_${tool}): ${message}`, facts: { ...facts, step } }
}

/** Facts that show blocks or shapes as the step found them. */
const SHOWN = ['current', 'nearest', 'matches', 'places', 'changedBlocks']

/** A refusal that shows what earlier steps wrote says that this is not stored, so that nobody takes its ids and stamps for the next call. */
function withoutStore(refusal: Refusal): Refusal {
  if (!SHOWN.some((fact) => Object.hasOwn(refusal.facts, fact))) return refusal
  const note = 'Nothing of the call is stored: what earlier steps wrote, ids and stamps included, is shown for this step alone.'
  return { ...refusal, message: `${refusal.message} ${note}` }
}

/** Runs steps in order on one body, all or none. [AG-53, AG-55 to AG-57] */
export function runSteps(
  run: RunStep,
  before: DocumentBody,
  args: EditDocument,
  environment: EditEnvironment,
): Edited<StepsDone> | Refusal {
  const { steps, prepared, expectedVersion, naming } = args
  const done: StepDone[] = []
  const [fixes, warnings, writtenBlocks, links]: [Fix[], Warning[], string[], ContentLink[]] = [[], [], [], []]
  let textChanges: readonly TextChange[] = []
  const wholePages = new Set<string>()
  let body = before
  let { seen } = environment
  let last: Edited<object> | null = null
  let isBlind = false
  for (const [i, { tool, arguments: given }] of steps.entries()) {
    const step = i + 1
    const found = resolved(
      given,
      step,
      done.map(({ result }) => result),
    )
    if (isRefusal(found)) return stepRefusal(step, tool, found)
    const own = withIds(found.args, currentStamps(before, body, pagesOf(found.args))) as object
    const extra = prepared?.[i]
    if (tool === 'generate_diagram' && prepared !== undefined && extra?.drawn === undefined && extra?.isRefused !== true)
      return outdated('The document changed while the diagram of a step was made.')
    const edited = run(tool, body, { ...own, ...extra, expectedVersion, naming }, { ...environment, ...(seen && { seen }) })
    if (isRefusal(edited)) return stepRefusal(step, tool, done.some(({ changed }) => changed > 0) ? withoutStore(edited) : edited)
    done.push({ tool, changed: changesBetween(body, edited.body, own).counts.changed, result: edited.result })
    pushAll(
      fixes,
      edited.fixes.map((fix) => ({ ...fix, step })),
    )
    pushAll(
      warnings,
      edited.warnings.map((warning) => ({ ...warning, step })),
    )
    pushAll(
      links,
      (edited.links ?? []).map((link) => ({ ...link, step })),
    )
    pushAll(writtenBlocks, edited.writtenBlocks ?? [])
    textChanges = joined(textChanges, edited.textChanges ?? [])
    // What a step answers besides was not shown to anybody yet.
    const whole = (edited.shown ?? []).filter(({ isPart }) => isPart !== true)
    seen &&= seenAfter(seen, { before: body, after: edited.body }, whole)
    for (const { pageId } of whole) wholePages.add(pageId)
    body = edited.body
    last = edited
    isBlind ||= edited.isBlind === true
  }
  const shown = seen === undefined ? [] : seen.pages.filter(({ pageId }) => wholePages.has(pageId)).map(shownPage)
  return {
    kind: 'edited',
    body,
    result: { steps: done },
    fixes,
    warnings,
    writtenBlocks,
    ...(last?.writtenPage === undefined ? {} : { writtenPage: last.writtenPage }),
    ...(last?.selection === undefined ? {} : { selection: last.selection }),
    textChanges,
    ...(links.length > 0 && { links }),
    ...(isBlind && { isBlind }),
    ...(shown.length > 0 && { shown }),
  }
}

/** A page that a step wrote as a whole, as the caller knows it after the last one. */
function shownPage({ pageId, blocks, outline = [] }: SeenPage): ShownPage {
  const headings = outline.filter((heading) => heading !== null)
  return { pageId, blocks, ...(headings.length === outline.length && { headings: { from: 0, blocks: headings, isAll: true } }) }
}

/** The pages that a step names; empty: any. */
function pagesOf(args: unknown): readonly string[] {
  const { pageId, toPageId } = args as { readonly pageId?: unknown; readonly toPageId?: unknown }
  return [pageId, toPageId].filter((id) => typeof id === 'string')
}

/** The words that steps changed, those of one block one after the other. */
function joined(first: readonly TextChange[], then: readonly TextChange[]): readonly TextChange[] {
  const open = [...first]
  for (const change of then) {
    const at = open.findIndex(({ id, to }) => id === change.id && equalLists(to, change.from))
    const earlier = open[at]
    if (earlier === undefined) open.push(change)
    else open[at] = { ...change, from: earlier.from, steps: [...earlier.steps, ...change.steps] }
  }
  return open
}
