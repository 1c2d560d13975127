import type { DocumentBody } from './body.ts'
import { undoEdits } from './changes/undo-calls.ts'
import { fileEdits } from './canvas/add-file.ts'
import { diagramEdits } from './canvas/generate/generate-diagram.ts'
import { canvasPageEdits } from './canvas/page-edits.ts'
import { shapeEdits } from './canvas/shape-edits.ts'
import { type Edit, type Edited, type EditEnvironment, type EditRow, isRefusal, type PlannedEdit, type Refusal } from './edit.ts'
import { fieldEdits } from './fields/set-fields.ts'
import { documentEdits } from './names.ts'
import { withOwnLinksChecked } from './prose/link-targets.ts'
import { prosePageEdits } from './prose/page-edits.ts'
import { blockEdits } from './prose/prose-edits.ts'
import { setBlockEdits } from './prose/set-block.ts'
import { sectionEdits } from './prose/section-edits.ts'
import { referenceEdits } from './references/reference-edits.ts'
import { type EditDocument, runSteps, type StepsDone } from './steps/edit-document.ts'
import { textEdits } from './text-edits/edit-text.ts'
import { tableEdits } from './prose/tables/table-edits.ts'

/**
 * The write tools that edit one document, by name without the prefix. Cold writes, live writes and dry runs all call
 * the same function. [CONC-1]
 */
const simpleEdits = {
  ...documentEdits,
  ...prosePageEdits,
  ...blockEdits,
  ...sectionEdits,
  ...tableEdits,
  ...canvasPageEdits,
  ...shapeEdits,
  ...fileEdits,
  ...diagramEdits,
  ...fieldEdits,
  ...referenceEdits,
  ...undoEdits,
  ...textEdits,
  ...setBlockEdits,
} as const

export type SimpleEditName = keyof typeof simpleEdits

/** Runs several edits as one, all or none. [TOOL-edit_document] */
const editDocument: Edit<EditDocument, StepsDone> = (body, args, environment) =>
  runSteps((tool, now, own, same) => runUnchecked(tool as SimpleEditName, now, own, same), body, args, environment)

const edits = { ...simpleEdits, edit_document: { edit: editDocument, routes: true } } as const

export type EditName = keyof typeof edits

export const editNames = Object.keys(edits) as readonly EditName[]

/** The arguments of the edit with this name. */
export type EditArgs<N extends EditName> = Parameters<(typeof edits)[N]['edit']>[1]

/**
 * Refuses arguments that are wrong for every document, before the document is looked up; `null` otherwise. `args` passed
 * the schema of the tool. [MCP-3]
 */
export function editFlaw(name: EditName, args: unknown): Refusal | null {
  const { flaw } = edits[name] as EditRow<unknown>
  return flaw?.(args) ?? null
}

/** Says whether an edit searches for ways of connectors, which takes long even on a short body. [CONC-13] */
export function editRoutes(name: EditName): boolean {
  return (edits[name] as EditRow).routes === true
}

/** Says whether an edit can be planned while people go on changing the document; `refitEdit` then fits the edit to the newer body. [CONC-14] */
export function canRefit(name: EditName): boolean {
  return (edits[name] as EditRow).refit !== undefined
}

/** Fits a planned edit to the newer body `now`, as if the edit had run on `now`; `null` when the edit has to run again. [CONC-14] */
export function refitEdit(
  name: EditName,
  planned: PlannedEdit<object>,
  now: DocumentBody,
  args: unknown,
  environment: EditEnvironment,
): Edited<object> | null {
  return (edits[name] as EditRow<unknown>).refit?.(planned, now, args, environment) ?? null
}

/**
 * Runs an edit by its name, since a name and plain data can be sent between threads. `args` must have passed the
 * schema of the tool, which this function does not check.
 */
export function runEdit(
  name: EditName,
  body: DocumentBody,
  args: unknown,
  environment: EditEnvironment,
): Edited<object> | Refusal {
  const edited = runUnchecked(name, body, args, environment)
  const { docId } = args as { readonly docId?: unknown }
  return isRefusal(edited) || edited.links === undefined || typeof docId !== 'string'
    ? edited
    : withOwnLinksChecked(edited, docId)
}

function runUnchecked(name: EditName, body: DocumentBody, args: unknown, environment: EditEnvironment): Edited<object> | Refusal {
  const edit = edits[name].edit as Edit<unknown, object>
  return edit(body, args, environment)
}
