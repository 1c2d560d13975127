import { PRIVATE_CONTENT } from '../documents/documents.exchanges.ts'
import type { JsonSchema, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const

const HIT: JsonSchema = {
  title: 'SearchHit',
  type: 'object',
  properties: {
    docId: TEXT,
    name: { type: 'string', description: 'The name of the document.' },
    pageId: TEXT,
    kind: { enum: ['name', 'prose', 'cell', 'shape', 'reference', 'field'] },
    section: { type: 'string', description: 'The heading that the text stands below, at most 60 characters.' },
    sectionIndex: { type: 'integer', minimum: 0 },
    id: { type: 'string', description: 'Of the text block, shape, reference or field.' },
    snippet: { type: 'string', description: 'At most 120 characters around the first match.' },
    cut: { const: true, description: 'The text or its document says more than is searched.' },
  },
  required: ['docId', 'name', 'kind', 'snippet'],
}

/** Schemas of the request and the answer of the search route. [REST-36] */
export const SEARCH_EXCHANGES = {
  get: {
    query: {
      q: { description: 'Words; quotes around several make a phrase.', schema: { type: 'string', minLength: 1, maxLength: 200 } },
      docId: { description: 'Search in this document only.', schema: { type: 'string', minLength: 1 } },
      limit: { description: 'Most hits in the answer.', schema: { type: 'integer', minimum: 1, maximum: 20, default: 10 } },
      cursor: { description: '`nextCursor` of the answer before.', schema: TEXT },
    },
    responses: {
      200: {
        description: 'Hits in documents that the caller may read, best first.',
        content: {
          'application/json': {
            type: 'object',
            properties: {
              hits: { type: 'array', items: HIT },
              returned: { type: 'integer', minimum: 0 },
              nextCursor: { type: 'string', description: 'Absent in the last answer.' },
              partial: { const: true, description: 'Nothing holds all words; these hold at least half of them.' },
              incomplete: { const: true, description: 'Not everything was looked at.' },
              behind: { type: 'integer', minimum: 1, description: 'Documents with newer edits that were not looked at.' },
            },
            required: ['hits', 'returned'],
          },
        },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['BAD_REQUEST', 'RATE_LIMITED', 'VIEW_FORBIDDEN', 'NOT_FOUND'],
  },
} as const satisfies Record<string, RouteExchange>
