import type { RouteExchange } from '../kernel/exchange.ts'

const COUNT = { type: 'integer', minimum: 0 } as const
const LIMIT = { type: ['integer', 'null'], minimum: 0, description: 'null: unlimited.' } as const

/** What the usage route returns. [REST-36, REST-28] */
export const USAGE_EXCHANGES = {
  get: {
    responses: {
      200: {
        description: 'Counts only.',
        content: {
          'application/json': {
            title: 'Usage',
            type: 'object',
            properties: {
              storageBytes: { ...COUNT, description: 'docBytes and blobBytes together.' },
              docBytes: COUNT,
              blobBytes: COUNT,
              configBytes: COUNT,
              storageQuota: LIMIT,
              maxDocBytes: LIMIT,
              activeEditors: COUNT,
              editorLimit: LIMIT,
            },
            required: [
              ...['storageBytes', 'docBytes', 'blobBytes', 'configBytes', 'storageQuota', 'maxDocBytes'],
              ...['activeEditors', 'editorLimit'],
            ],
          },
        },
      },
    },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
