import { expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments } from './arguments.ts'

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
