import type { EditRow } from '../edit.ts'
import { addReferences, addReferencesFlaw } from './add-references.ts'
import { deleteReference } from './delete-reference.ts'
import { updateReference, updateReferenceFlaw } from './update-reference.ts'

export const referenceEdits = {
  add_reference: { edit: addReferences, flaw: addReferencesFlaw },
  update_reference: { edit: updateReference, flaw: updateReferenceFlaw },
  delete_reference: { edit: deleteReference },
} as const satisfies Record<string, EditRow>
