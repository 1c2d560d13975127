import { expect, it } from 'vitest'
import { TOOL_ROWS } from './all-tools.ts'
import { errorsOf } from './tool-errors.ts'

const EVERY = ['ERR_RATE_LIMIT', 'ERR_BAD_ARGUMENT', 'ERR_TOOL_DISABLED', 'ERR_STORE_UNAVAILABLE', 'ERR_INTERNAL']
const EXAMPLES: readonly (readonly [tool: string, ...codes: string[]])[] = [
  ['get_storage', ...EVERY],
  ['get_skills', ...EVERY, 'ERR_SKILL_NOT_FOUND'],
  ['create_document', ...EVERY, 'ERR_EDIT_FORBIDDEN', 'ERR_REQUEST_ID_REUSED', 'ERR_STORAGE_QUOTA'],
  ['list_fields', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_VIEW_FORBIDDEN'],
  ['list_files', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_VIEW_FORBIDDEN', 'ERR_CURSOR_EXPIRED'],
  [
    ...(['delete_prose_page', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_EDIT_FORBIDDEN', 'ERR_LOCAL_READ_ONLY'] as const),
    ...[
      'ERR_PAGE_NOT_FOUND',
      'ERR_LAST_PAGE',
      'ERR_VERSION_CONFLICT',
      'ERR_NEEDS_REPAIR',
      'ERR_DOC_TOO_LARGE',
      'ERR_STORAGE_QUOTA',
    ],
  ],
]

it.each(EXAMPLES)('[TOOL-9] the error codes that %s may answer are the pinned ones', (name, ...codes) => {
  const tool = TOOL_ROWS.find((one) => one.name === name)
  expect(tool && new Set(errorsOf(tool))).toEqual(new Set(codes))
})
