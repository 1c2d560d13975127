import type { Documents } from '../../documents/documents.ts'
import type { ToolDefinition } from '../tool.ts'
import { editTool } from './edit-tool.ts'
import { DOCUMENT, input, TEXT, VERSIONED } from './schema.ts'

/** [TOOL-set_fields] */
export function fieldTools(documents: Pick<Documents, 'edit'>): readonly ToolDefinition[] {
  return [
    editTool(documents, {
      name: 'set_fields',
      title: 'Set fields',
      description: 'Set fields; null removes. Returns names.',
      toolset: 'fields',
      input: input(
        {
          ...DOCUMENT,
          fields: {
            type: 'array',
            minItems: 1,
            maxItems: 500,
            items: {
              type: 'object',
              properties: { name: TEXT, value: { type: ['string', 'null'] } },
              required: ['name'],
              additionalProperties: false,
            },
          },
        },
        VERSIONED,
      ),
      result: ['set', 'setCount', 'added', 'updated', 'chipsUpdated'],
      more: ['removed'],
      hints: ['ID'],
    }),
  ]
}
