import type { RouteExchange } from '../kernel/exchange.ts'

const COUNT = { type: 'integer', minimum: 0 } as const
const LIMIT = { type: ['integer', 'null'], minimum: 0, description: 'null: unlimited.' } as const
const SOURCE = { type: 'string', enum: ['claim', 'config'] } as const

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
              connections: { ...COUNT, description: 'Open WebSocket connections, those of viewers included.' },
              connectionLimit: LIMIT,
              writes: {
                type: ['object', 'null'],
                description: 'The write bucket of the workspace; null: unlimited.',
                properties: {
                  perSecond: { ...COUNT, description: 'How many writes come back in a second.' },
                  burst: { ...COUNT, description: 'The most writes at once.' },
                  left: { ...COUNT, description: 'Writes that are possible now.' },
                },
                required: ['perSecond', 'burst', 'left'],
              },
              sources: {
                type: 'object',
                description: 'Whether a limit comes from the token of the caller (claim) or from the configuration.',
                properties: { storageQuota: SOURCE, maxDocBytes: SOURCE, editorLimit: SOURCE },
                required: ['storageQuota', 'maxDocBytes', 'editorLimit'],
              },
            },
            required: [
              ...['storageBytes', 'docBytes', 'blobBytes', 'configBytes', 'storageQuota', 'maxDocBytes'],
              ...['activeEditors', 'editorLimit', 'connections', 'connectionLimit', 'writes', 'sources'],
            ],
          },
        },
      },
    },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
