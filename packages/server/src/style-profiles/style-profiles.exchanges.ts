import { registryExchanges } from '../collections/collections.exchanges.ts'
import type { JsonSchema } from '../kernel/exchange.ts'

const STYLE_PROFILE: JsonSchema = {
  title: 'StyleProfile',
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, description: 'At most 64 bytes.' },
    name: { type: 'string', minLength: 1, description: 'At most 120 characters after trimming.' },
    properties: { type: 'object', description: 'At most 16 KiB of JSON.' },
    createdAt: { type: 'integer', description: 'Milliseconds since 1970.' },
    favorite: { type: 'boolean' },
    collectionIds: { type: 'array', items: { type: 'string' }, maxItems: 64 },
  },
  required: ['id', 'name', 'properties', 'createdAt'],
  additionalProperties: true,
}

/** Requests and answers of the style profile routes. [REST-36] */
export const STYLE_PROFILE_EXCHANGES = registryExchanges('profiles', STYLE_PROFILE, STYLE_PROFILE, 500)
