import type { Warning } from '../edit.ts'
import type { EditName } from '../edits.ts'

/** The reason why a call of each edit can change nothing; `null` when the edit gives its own warning. [AG-32] */
const REASONS: { readonly [edit in EditName]?: string | null } = {
  rename_document: 'the document already has this name',
  set_prose: 'the content has no change that is not stored already',
  move_block: 'the block already stands there',
  restructure_outline: 'the section already has this level and place',
  edit_table: 'the table already is like this',
  rename_prose_page: 'the page already has this name',
  rename_canvas_page: 'the page already has this name',
  reorder_prose_pages: 'the pages already stand in this order',
  reorder_canvas_page: 'the pages already stand in this order',
  reorder_shapes: 'the shapes already lie in this order',
  update_shape: null,
  undo: null,
  set_fields: 'the fields already have these values',
  add_reference: 'the document already has these references',
  update_reference: 'the reference already says this',
  edit_text: null,
  set_block: null,
}

/** Returns the warning for a call that changed nothing; `null` when the edit gives its own. */
export function unchangedWarning(edit: EditName): Warning | null {
  const reason = REASONS[edit] === undefined ? 'the document already is as the call says' : REASONS[edit]
  return reason === null ? null : { reason: `nothing was changed: ${reason}` }
}
