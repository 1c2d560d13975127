import type { DocumentBody } from '../body.ts'
import { changesBetween } from '../changes/changes-between.ts'
import type { GenerateDiagram } from '../canvas/generate/diagram-input.ts'
import { fewRouter, type WithWays } from '../canvas/ways.ts'
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

/** One step of edit_document: a call of a write tool inside of a call. [AG-53] */
export interface Step {
  /** The name of the edit. */
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** Arguments of a step that were prepared before the write, in the form that the tool of the step takes. */
export interface PreparedStep extends Pick<GenerateDiagram, 'drawn' | 'fit' | 'isRefused'>, Pick<WithWays, 'ways'> {}

export interface EditDocument {
  readonly steps: readonly Step[]
  /** The preparation of each step, by step. When absent, steps compute layouts and ways themselves. */
  readonly prepared?: readonly (PreparedStep | null)[] | undefined
  readonly expectedVersion?: number | undefined
  readonly naming?: unknown
}

export interface StepDone {
  readonly tool: string
  readonly changed: number
  /** The result of the tool, with the ids that later steps can refer to. */
  readonly result: object
}

export interface StepsDone {
  readonly steps: readonly StepDone[]
}

/** Runs an edit by its name. */
export type RunStep = (tool: string, body: DocumentBody, args: unknown, environment: EditEnvironment) => Edited<object> | Refusal

/** Turns the refusal of a step into the refusal of the whole call. [AG-57] */
export function stepRefusal(step: number, tool: string, { code, message, facts, kind }: Refusal): Refusal {
  return { kind, code, message: `step ${step} (service_${tool}): ${message}`, facts: { ...facts, step } }
}

/** The facts of a refusal that show blocks or shapes as the step found them. */
const SHOWN = ['current', 'nearest', 'matches', 'places', 'changedBlocks']

/** Adds to a refusal that shows writes of earlier steps that they are not stored, so that no later call uses their ids and stamps. */
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
  // The preparation has most ways. For the other ways, all steps together may search no longer than one edit may. [CONC-13]
  const ways: WithWays = prepared === undefined ? {} : { ways: [], rest: fewRouter() }
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
    const edited = run(
      tool,
      body,
      { ...own, ...ways, ...extra, expectedVersion, naming },
      { ...environment, ...(seen && { seen }) },
    )
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
    // Other parts that a step reports as shown are dropped, since its answer was not shown to anybody yet.
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

/** Returns what the caller knows, after the last step, of a page that a step wrote as a whole. */
function shownPage({ pageId, blocks, outline = [] }: SeenPage): ShownPage {
  const headings = outline.filter((heading) => heading !== null)
  return { pageId, blocks, ...(headings.length === outline.length && { headings: { from: 0, blocks: headings, isAll: true } }) }
}

/** Returns the ids of the pages that a step names; empty when it names none. */
function pagesOf(args: unknown): readonly string[] {
  const { pageId, toPageId } = args as { readonly pageId?: unknown; readonly toPageId?: unknown }
  return [pageId, toPageId].filter((id) => typeof id === 'string')
}

/** Appends the word changes of a step to those of the steps before. Changes of one block are joined into one. */
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
