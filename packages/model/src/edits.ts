import type { DocumentBody } from './body.ts'
import type { Edit, Edited, EditEnvironment, Refusal } from './edit.ts'
import { setFields } from './fields/set-fields.ts'
import { renameDocument } from './names.ts'
import { addProsePage, deleteProsePage, renameProsePage, reorderProsePages } from './prose/page-edits.ts'
import { deleteBlock, insertBlock, moveBlock, setProse } from './prose/prose-edits.ts'
import { insertSection, restructureOutline } from './prose/section-edits.ts'
import { editTableOfPage } from './prose/tables/table-edits.ts'

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
