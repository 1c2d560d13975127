import { expect, it } from 'vitest'
import type { ArgumentsSchema } from '../arguments.ts'
import { TOOL_ROWS } from './all-tools.ts'

/** Arguments of many tools that have an effect in every call. */
const OF_CALLS = new Set(['expectedVersion', 'dryRun', 'requestId', 'brief'])

/** By tool: optional arguments that have an effect in every call that succeeds. An explicit default counts as an effect. [AG-33] */
const ALWAYS: Readonly<Record<string, string>> = {
  list_documents: 'query limit cursor',
  get_page: 'lint image limit cursor',
  get_shape: 'image',
  // The arguments choose the page, its format, and whether ids are shown.
  get_prose: 'pageId format id ids',
  get_outline: 'pageId',
  list_references: 'limit cursor',
  get_skills: 'skill',
  list_icons: 'category limit cursor',
  list_files: 'limit cursor',
  get_file: 'id',
  // Given both, the tool compares them.
  get_table: 'id anchor',
  create_document: 'name',
  add_prose_page: 'name content',
  set_prose: 'format id anchor',
  insert_block: 'format id anchor',
  delete_block: 'id anchor untilId',
  move_block: 'id anchor untilId targetId targetAnchor toPageId side',
  insert_section: 'body',
  // `withSubsections` also has an effect on a section without subsections.
  restructure_outline: 'index withSubsections',
  delete_section: 'withSubsections',
  edit_table: 'id anchor',
  add_canvas_page: 'name',
  connect: 'fromAnchor toAnchor label routing',
  // The answer names layout, direction and routing even for a single node without edges.
  generate_diagram: 'edges layout direction routing',
  add_file: 'url base64 blobRef mimeType x y width height label',
  add_reference: 'doi items',
  update_reference: 'replace',
  delete_reference: 'force',
  set_fields: 'fields',
  edit_text: 'pageId scope edits[0].id edits[0].all',
  set_block: 'type kind',
  undo: 'callId',
  search: 'docId limit cursor',
  wait_for_change: 'timeoutSecs agents',
}

/** Lists optional arguments. For `edit_text` includes the members of its items, because each edit counts as a call of its own. */
function optionalArguments({ properties, required = [] }: ArgumentsSchema): readonly string[] {
  const own = Object.keys(properties).filter((name) => !required.includes(name) && !OF_CALLS.has(name))
  const items = properties['edits']?.items
  const inner = Object.keys(items?.properties ?? {}).map((name) => `edits[0].${name}`)
  return [...own, ...inner.filter((name) => name !== 'edits[0].find')]
}

it('[AG-33] for every optional argument the tables say that it always has an effect, or name a call without one', () => {
  const known = TOOL_ROWS.map(({ name, needless = {} }) => {
    const always = (ALWAYS[name] ?? '').split(' ').filter((argument) => argument !== '')
    return [name, [...always, ...Object.keys(needless)].sort()]
  })
  const there = TOOL_ROWS.map(({ name, inputSchema }) => [
    name,
    [...optionalArguments(inputSchema as unknown as ArgumentsSchema)].sort(),
  ])
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(there))
})
