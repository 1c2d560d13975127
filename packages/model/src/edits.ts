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
