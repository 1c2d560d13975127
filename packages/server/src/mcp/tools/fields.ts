import { OR_NULL } from '../arguments.ts'
import { type Editable, editTool } from './edit-tool.ts'
import type { ToolRow } from './tool-row.ts'
import { DOCUMENT, input, TEXT, VERSIONED } from './schema.ts'

/** The tool `set_fields`. [TOOL-set_fields] */
export function fieldTools(documents: Editable): readonly ToolRow[] {
  return [
    editTool(documents, {
      name: 'set_fields',
      place: 45,
      title: 'Set fields',
      description: 'Set or remove fields. Returns names.',
      toolset: 'fields',
      input: input(DOCUMENT, {
        fields: {
          type: 'array',
          minItems: 1,
          maxItems: 500,
          items: {
            type: 'object',
            properties: { name: TEXT, value: { type: 'string', [OR_NULL]: true } },
            required: ['name'],
            additionalProperties: false,
          },
        },
        remove: { type: 'array', minItems: 1, maxItems: 500, items: TEXT },
        ...VERSIONED,
      }),
      result: ['set', 'setCount', 'added', 'updated', 'chipsUpdated'],
      more: ['removedNames'],
      hints: ['ID'],
      errors: { ERR_BAD_FIELD_NAME: { fields: [{ name: 'a' }, { name: 'b}' }] } },
      examples: [
        {
          fields: [
            { name: 'client', value: 'Bob' },
            { name: 'until', value: '30 June' },
          ],
        },
        { remove: ['client'] },
      ],
      needless: { remove: { refused: { fields: [{ name: 'client', value: 'x' }], remove: ['client'] } } },
    }),
  ]
}
