import { describe, expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments, OR_NULL } from './arguments.ts'
import type { JsonObject } from './tool.ts'
import { TOOL_ROWS } from './tools/all-tools.ts'

const schema: ArgumentsSchema = {
  type: 'object',
  properties: {
    fields: {
      type: 'array',
      minItems: 1,
      maxItems: 9,
      items: { type: 'object', properties: { name: { type: 'string' }, value: {} } },
    },
    order: { type: 'array', minItems: 1, items: { type: 'string' } },
  },
  additionalProperties: false,
}

it('[TOOL-6] [TOOL-8] an argument of another type than the expected list is refused with a description of the list items', () => {
  const expectation = (args: object) => checkArguments(schema, { ...args })
  expect(expectation({ fields: { a: 'b' } })).toMatchObject({
    message: 'fields is an object; expected array of 1 to 9 items with name, value.',
  })
  expect(expectation({ order: 'a' })).toMatchObject({ facts: { expected: 'array of strings of at least 1 items' } })
})

it('[TOOL-add_shapes] [TOOL-6] an item that is no shape is refused with its place in front', () => {
  const tool = TOOL_ROWS.find(({ name }) => name === 'add_shapes')
  const shapes = [{ kind: 'text' }, 'text', 5]
  expect(checkArguments(tool?.inputSchema as unknown as ArgumentsSchema, { docId: 'd', pageId: 'c', shapes })).toEqual({
    kind: 'failure',
    code: 'ERR_BAD_ARGUMENT',
    message: 'shape[1]: shapes[1] is "text"; expected object.',
    facts: { argument: 'shapes[1]', expected: 'object', got: '"text"' },
  })
})

it('[TOOL-6] an unknown argument is answered with the name that means the same in this tool, not with the most similar one', () => {
  const properties = { docId: {}, format: {}, body: {} }
  const refusal = (args: object) => checkArguments({ type: 'object', properties, additionalProperties: false }, { ...args })
  expect(refusal({ content: 'x' })).toMatchObject({
    message: 'There is no argument "content". Did you mean body? Expected is one of docId, format, body.',
    facts: { nearest: 'body' },
  })
  expect(refusal({ delta: 1 })).toMatchObject({
    message: 'There is no argument "delta". Expected is one of docId, format, body.',
    facts: { argument: 'delta', known: ['docId', 'format', 'body'] },
  })
})

describe('arguments in another form than expected', () => {
  const properties = {
    id: { type: 'string' },
    content: { type: 'string' },
    all: { type: 'boolean' },
    index: { type: 'integer' },
    width: { type: 'number' },
    at: { type: 'object', properties: { x: { type: 'number' } } },
    order: { type: 'array', items: { type: 'string' } },
    fields: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string', [OR_NULL]: true } } },
    },
  } as const
  const check = (args: JsonObject) =>
    checkArguments({ type: 'object', properties, required: ['content'], additionalProperties: false }, args)
  const read = (field: string, type: string) => ({
    action: 'unwrapped',
    field,
    reason: `JSON sent as a string was read as ${type}`,
  })

  it('[AG-93] JSON sent as a string is read where another type is expected, at any depth, with a fix', () => {
    expect(check({ content: '[1]', all: 'true', index: ' 3', width: '1.5', at: '{"x":"2"}', order: '["a","b"]' })).toEqual({
      kind: 'fit',
      args: { content: '[1]', all: true, index: 3, width: 1.5, at: { x: 2 }, order: ['a', 'b'] },
      fixes: [
        read('all', 'boolean'),
        read('index', 'integer'),
        read('width', 'number'),
        read('at', 'object'),
        read('at.x', 'number'),
        read('order', 'array'),
      ],
    })
    expect(check({ content: 'x', fields: '[{"name":"a","value":null}]' })).toMatchObject({
      args: { fields: [{ name: 'a', value: null }] },
    })
  })

  it('[AG-93] a string that holds no JSON of the expected type is refused', () => {
    for (const args of [
      { all: 'yes' },
      { index: '1.5' },
      { order: '{"a":1}' },
      { at: '[' },
      { width: 'NaN' },
      { order: '[1]' },
      { all: '1' },
    ])
      expect(check({ content: 'x', ...args }), JSON.stringify(args)).toMatchObject({ kind: 'failure', code: 'ERR_BAD_ARGUMENT' })
  })

  it('[AG-93] an empty optional argument counts as absent with a fix, unless an empty string is a value of its own', () => {
    const dropped = (field: string) => ({ action: 'dropped_invalid', field, reason: 'empty text counts as absent' })
    expect(check({ content: '', id: '', index: '', order: '' })).toEqual({
      kind: 'fit',
      args: { content: '' },
      fixes: [dropped('id'), dropped('index'), dropped('order')],
    })
    expect(check({ content: 'x', fields: [{ name: 'a', value: '' }] })).toMatchObject({
      args: { fields: [{ name: 'a', value: '' }] },
      fixes: [],
    })
    const empty = { docId: 'd', pageId: 'p', op: 'setCellAttrs', backgroundColor: '', align: '', scope: '', id: '' }
    const table = TOOL_ROWS.find(({ name }) => name === 'edit_table')?.inputSchema as unknown as ArgumentsSchema
    expect(checkArguments(table, empty)).toMatchObject({
      args: { backgroundColor: '', align: '', scope: '' },
      fixes: [dropped('id')],
    })
  })
})

describe('a name that a tool has no argument for', () => {
  const nearest = (tool: string, args: JsonObject, required = true) => {
    const row = TOOL_ROWS.find(({ name }) => name === tool)
    const schema = row?.inputSchema as unknown as ArgumentsSchema
    const names = required ? (schema.required ?? []) : []
    const right = Object.fromEntries(names.filter((name) => !Object.hasOwn(args, name)).map((name) => [name, 'x']))
    const answer = checkArguments(schema, { ...right, ...args }, row)
    if (answer.kind === 'fit') throw new Error(`${tool} takes ${JSON.stringify(args)}`)
    return { nearest: answer.facts['nearest'] ?? null, message: answer.message }
  }

  /** Calls that a model made with wrong argument names, and the argument it meant; `null`: the tool has none for it. */
  const SLIPS: readonly (readonly [tool: string, args: JsonObject, meant: string | null])[] = [
    ['set_prose', { blockId: 'b' }, 'id'],
    ['delete_block', { blockId: 'b' }, 'id'],
    ['get_prose', { blockId: 'b' }, 'id'],
    ['move_block', { blockId: 'b', targetId: 't' }, 'id'],
    ['move_block', { id: 'b', targetBlockId: 't' }, 'targetId'],
    ['insert_section', { level: 2, title: 'T', content: 'x' }, 'body'],
    ['insert_section', { level: 2, title: 'T', text: 'x' }, 'body'],
    ['insert_block', { id: 'b', after: 'c' }, 'side'],
    ['insert_block', { id: 'b', before: true }, 'side'],
    ['move_block', { id: 'b', before: 't' }, 'side'],
    ['insert_block', { id: 'b', position: 'after' }, 'side'],
    ['edit_table', { op: 'addRow', rowIndex: 1 }, 'row'],
    ['edit_table', { op: 'addColumn', columnIndex: 1 }, 'col'],
    ['edit_table', { op: 'addColumn', column: 1 }, 'col'],
    ['edit_table', { op: 'setCellAttrs', row: 0, col: 0, text: 'x' }, null],
    ['reorder_prose_pages', { pageIds: ['p'] }, 'order'],
    ['reorder_canvas_page', { pageIds: ['p'] }, 'order'],
    ['get_outline', { page: 'p' }, 'pageId'],
    ['get_document', { document: 'd' }, 'docId'],
    ['get_document', { documentId: 'd' }, 'docId'],
    ['set_prose', { id: 'b', version: 3 }, 'expectedVersion'],
    ['set_prose', { content: 'new', old_string: 'a' }, null],
    ['set_prose', { content: 'new', text: 'a' }, null],
    ['get_prose', { docId: 'd', pageId: 'p', documentId: 'd' }, null],
    ['delete_block', { id: 'b', blockId: 'b' }, null],
    ['rename_prose_page', { title: 'T' }, null],
  ]

  it('[AG-95] each of 26 wrong argument names is answered with the argument that was meant, or with none', () => {
    const wrong = SLIPS.filter(([tool, args, meant]) => {
      const required = meant === null || !['pageId', 'docId', 'order', 'content'].includes(meant)
      return nearest(tool, args, required).nearest !== meant
    })
    expect(wrong.map(([tool, args]) => [tool, Object.keys(args)])).toEqual([])
    expect(SLIPS).toHaveLength(26)
  })

  it('[AG-95] an argument name of another tool or protocol is matched by meaning before spelling', () => {
    const slip = (name: string, ...known: string[]) => {
      const schema = {
        type: 'object',
        properties: Object.fromEntries(known.map((one) => [one, {}])),
        additionalProperties: false,
      } as const
      const answer = checkArguments(schema, { [name]: 1 })
      return answer.kind === 'failure' ? answer.facts['nearest'] : undefined
    }
    for (const name of ['old', 'old_string']) expect(slip(name, 'find', 'replace', 'fold')).toBe('find')
    for (const name of ['new', 'new_string']) expect(slip(name, 'find', 'replace', 'newest')).toBe('replace')
    expect(slip('text', 'find', 'replace')).toBe('find')
    expect(slip('after', 'afterId', 'side')).toBe('afterId')
    expect(slip('content', 'format', 'body')).toBe('body')
  })

  it('[AG-95] text given to edit_table is answered with the call that sets the text of a cell', () => {
    for (const name of ['text', 'content', 'value']) {
      const { message } = nearest('edit_table', { op: 'addRow', [name]: 'x' })
      for (const part of ['in values', "service_set_prose with the cell's id"]) expect(message).toContain(part)
    }
  })
})
