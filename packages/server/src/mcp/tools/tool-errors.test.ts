import { expect, it } from 'vitest'
import { allTools, type ToolDeps } from './all-tools.ts'
import { TOOL_ARGUMENTS, TOOL_CODES } from './testing/tool-table.ts'
import { errorsOf, TOOL_ERRORS } from './tool-errors.ts'

const tools = allTools({} as ToolDeps)

it('[TOOL-9] the codes are those of the specification, in its order', () => {
  expect(Object.keys(TOOL_ERRORS)).toEqual(TOOL_CODES)
})

it('[TOOL-9] every code that is told by name is of a tool that there is, or will be', () => {
  const named = Object.values(TOOL_ERRORS).flatMap(({ tools }) => (typeof tools === 'string' ? [] : tools))
  expect(named.filter((name) => !Object.hasOwn(TOOL_ARGUMENTS, name))).toEqual([])
})

const EVERY = ['ERR_RATE_LIMIT', 'ERR_BAD_ARGUMENT', 'ERR_TOOL_DISABLED', 'ERR_STORE_UNAVAILABLE', 'ERR_INTERNAL']
const EXAMPLES: readonly (readonly [tool: string, ...codes: string[]])[] = [
  ['get_storage', ...EVERY],
  ['get_skills', ...EVERY, 'ERR_SKILL_NOT_FOUND'],
  ['create_document', ...EVERY, 'ERR_EDIT_FORBIDDEN', 'ERR_REQUEST_ID_REUSED', 'ERR_STORAGE_QUOTA'],
  ['list_fields', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_VIEW_FORBIDDEN'],
  ['list_files', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_VIEW_FORBIDDEN', 'ERR_CURSOR_EXPIRED'],
  [
    ...(['delete_prose_page', ...EVERY, 'ERR_DOC_NOT_FOUND', 'ERR_EDIT_FORBIDDEN', 'ERR_LOCAL_READ_ONLY'] as const),
    ...['ERR_PAGE_NOT_FOUND', 'ERR_LAST_PAGE', 'ERR_VERSION_CONFLICT', 'ERR_DOC_TOO_LARGE', 'ERR_STORAGE_QUOTA'],
  ],
]

it.each(EXAMPLES)('[TOOL-9] what %s may answer', (name, ...codes) => {
  const tool = tools.find((one) => one.name === name)
  expect(tool && new Set(errorsOf(tool))).toEqual(new Set(codes))
})
