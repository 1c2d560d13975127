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

/** Several edits as one. [TOOL-edit_document] */
const editDocument: Edit<EditDocument, StepsDone> = (body, args, environment) =>
  runSteps((tool, now, own, same) => runUnchecked(tool as SimpleEditName, now, own, same), body, args, environment)

const edits = { ...simpleEdits, edit_document: { edit: editDocument, routes: true } } as const

export type EditName = keyof typeof edits

export const editNames = Object.keys(edits) as readonly EditName[]

/** The arguments of the edit with this name. */
export type EditArgs<N extends EditName> = Parameters<(typeof edits)[N]['edit']>[1]

/**
 * Returns why a call is refused before its document is looked up; `null` when only the document can tell. `args` passed
 * the tool's schema. [MCP-3]
 */
export function editFlaw(name: EditName, args: unknown): Refusal | null {
  const { flaw } = edits[name] as EditRow<unknown>
  return flaw?.(args) ?? null
}

/** Says whether an edit looks for ways of connectors, which takes long on a short body too. [CONC-13] */
export function editRoutes(name: EditName): boolean {
  return (edits[name] as EditRow).routes === true
}

/** Says whether an edit can be planned while people go on changing the document, since `refitEdit` fits it to what they changed. [CONC-14] */
export function canRefit(name: EditName): boolean {
  return (edits[name] as EditRow).refit !== undefined
}

/** The edit as if it were made of `now`, which is newer than what it was made of; `null` when it has to be made anew. [CONC-14] */
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
 * Runs an edit by its name, since a name and plain data can be sent between threads. `args` must have passed the tool's
 * schema; they are not checked here.
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
