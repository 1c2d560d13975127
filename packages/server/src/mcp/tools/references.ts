import { BY_TOOL } from '../arguments.ts'
import type { DoiResolver } from '../../citations/doi-resolver.ts'
import { isRefusal } from '@docrelay/model/edit'
import { type Editable, editTool } from './edit-tool.ts'
import { BOOLEAN } from './output-members.ts'
import { described, DOCUMENT, FLAG, input, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'

const ITEM = { type: 'object', [BY_TOOL]: true } as const

/** The tools of the reference library; none of them writes prose. [REF-2, TOOL-add_reference, TOOL-update_reference, TOOL-delete_reference] */
export function referenceTools(documents: Editable, dois: DoiResolver): readonly ToolRow[] {
  return [
    editTool(documents, {
      name: 'add_reference',
      place: 42,
      title: 'Add reference',
      description: 'Add CSL-JSON items or a DOI. Returns ids to cite.',
      toolset: 'citations',
      // The schema leaves items open, because the edit checks them and has a code for invalid ones.
      input: input(DOCUMENT, { doi: TEXT, items: { type: 'array', minItems: 1, maxItems: 200, items: ITEM }, ...VERSIONED }),
      result: ['added', 'addedCount', 'skipped', 'duplicates'],
      hints: ['ID', 'OW'],
      errors: {
        ERR_BAD_REFERENCE: { items: [{ id: 'fine' }, { title: 'no id' }] },
        ERR_DOI_INVALID: { doi: 'none' },
        ERR_DOI_NOT_FOUND: null,
        ERR_DOI_UNAVAILABLE: null,
      },
      examples: [
        { items: [{ id: 'smith2020', type: 'article-journal', title: 'On relays', DOI: '10.1000/182' }] },
        { items: [{ id: 'knuth' }, { id: 'new', type: 'book' }] },
      ],
      async prepare({ args, access, signal }) {
        if (typeof args['doi'] !== 'string') return {}
        const resolved = await dois.resolve(access.workspaceId, args['doi'], signal)
        return isRefusal(resolved) ? resolved : { resolved: resolved.reference }
      },
    }),
    editTool(documents, {
      name: 'update_reference',
      place: 43,
      title: 'Update reference',
      description: 'Merge members into a reference; null removes. Returns it.',
      toolset: 'citations',
      input: input(
        { ...DOCUMENT, id: described(TEXT, 'to change'), item: ITEM },
        { replace: described(FLAG, 'all members'), ...VERSIONED },
      ),
      result: ['id', 'item'],
      hints: ['DE', 'ID'],
      errors: {
        ERR_BAD_REFERENCE: { id: 'knuth', item: 'text' },
        ERR_REFERENCE_NOT_FOUND: { id: 'knuht', item: {} },
        ERR_REFERENCE_DUPLICATE: { id: 'knuth', item: { DOI: 'doi:10.1000/1' } },
      },
      examples: [
        { id: 'knuth', item: { title: 'Fundamental Algorithms', note: null } },
        { id: 'knuth', item: { type: 'book', title: 'Another' }, replace: true },
      ],
    }),
    editTool(documents, {
      name: 'delete_reference',
      place: 44,
      title: 'Delete reference',
      description: 'Delete a reference; a cited one needs force. Returns citations left.',
      toolset: 'citations',
      input: input({ ...DOCUMENT, id: described(TEXT, 'to delete') }, { force: FLAG, ...VERSIONED }),
      result: ['id', 'deleted', 'orphanedCitations'],
      members: { deleted: BOOLEAN },
      hints: ['DE', 'ID'],
      errors: { ERR_REFERENCE_NOT_FOUND: { id: 'knuht' }, ERR_REFERENCE_CITED: { id: 'cited' } },
      examples: [{ id: 'knuth' }, { id: 'cited', force: true }],
    }),
  ]
}
