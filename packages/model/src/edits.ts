import type { DocumentBody } from './body.ts'
import type { Edit, Edited, EditEnvironment, Refusal } from './edit.ts'
import { setFields, setFieldsFlaw } from './fields/set-fields.ts'
import { nameFlaw, renameDocument } from './names.ts'
import { addProsePage, addProsePageFlaw, deleteProsePage, renameProsePage, reorderProsePages } from './prose/page-edits.ts'
import {
  deleteBlock,
  deleteBlockFlaw,
  insertBlock,
  insertBlockFlaw,
  moveBlock,
  moveBlockFlaw,
  setProse,
  setProseFlaw,
} from './prose/prose-edits.ts'
import { insertSection, insertSectionFlaw, restructureOutline, restructureOutlineFlaw } from './prose/section-edits.ts'
import { editTableFlaw, editTableOfPage } from './prose/tables/table-edits.ts'

/** The write tools that edit one document, by name without the prefix; the one function of each for every way to write. [CONC-1] */
export const edits = {
  rename_document: renameDocument,
  add_prose_page: addProsePage,
  set_prose: setProse,
  insert_block: insertBlock,
  delete_block: deleteBlock,
  move_block: moveBlock,
  rename_prose_page: renameProsePage,
  insert_section: insertSection,
  restructure_outline: restructureOutline,
  edit_table: editTableOfPage,
  delete_prose_page: deleteProsePage,
  reorder_prose_pages: reorderProsePages,
  set_fields: setFields,
} as const

export type EditName = keyof typeof edits

/** What the edit of a name is given. */
export type EditArgs<N extends EditName> = Parameters<(typeof edits)[N]>[1]

/** What is wrong with the arguments of an edit whatever the document; each edit asks again itself. [MCP-3] */
const flaws: { readonly [N in EditName]?: (args: EditArgs<N>) => Refusal | null } = {
  rename_document: nameFlaw,
  add_prose_page: addProsePageFlaw,
  set_prose: setProseFlaw,
  insert_block: insertBlockFlaw,
  delete_block: deleteBlockFlaw,
  move_block: moveBlockFlaw,
  rename_prose_page: nameFlaw,
  insert_section: insertSectionFlaw,
  restructure_outline: restructureOutlineFlaw,
  edit_table: editTableFlaw,
  set_fields: setFieldsFlaw,
}

/** Why a call is refused before its document is looked up, `null` when only the document can tell. `args` passed the tool's schema. [MCP-3] */
export function editFlaw(name: EditName, args: unknown): Refusal | null {
  const flaw = flaws[name] as ((args: unknown) => Refusal | null) | undefined
  return flaw?.(args) ?? null
}

/**
 * Runs the edit of a name, as which it travels between threads. `args` are plain data that passed the tool's schema, as an `Edit` asks; nothing
 * checks them here.
 */
export function runEdit(
  name: EditName,
  body: DocumentBody,
  args: unknown,
  environment: EditEnvironment,
): Edited<object> | Refusal {
  const edit = edits[name] as Edit<unknown, object>
  return edit(body, args, environment)
}
