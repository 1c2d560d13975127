import type { JsonSchema, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const

const READINESS: JsonSchema = {
  title: 'Readiness',
  type: 'object',
  properties: {
    status: { enum: ['ok', 'unavailable'] },
    checks: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { ok: { type: 'boolean' }, detail: TEXT },
        required: ['ok'],
      },
    },
  },
  required: ['status', 'checks'],
}

const VERSION: JsonSchema = {
  title: 'Version',
  type: 'object',
  properties: {
    server: TEXT,
    version: TEXT,
    commit: TEXT,
    built: TEXT,
    protocolVersion: { type: 'integer' },
    protocolMinor: { type: 'integer' },
  },
  required: ['server', 'version', 'commit', 'built', 'protocolVersion', 'protocolMinor'],
}

/** Schemas of the answers of the operation routes. [REST-36] */
export const OPERATION_EXCHANGES = {
  health: { responses: { 200: { description: 'The process answers.', content: { 'text/plain': { const: 'ok' } } } }, errors: [] },
  live: {
    responses: {
      200: {
        description: 'The process is alive.',
        content: { 'application/json': { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] } },
      },
    },
    errors: [],
  },
  ready: {
    responses: {
      200: { description: 'Every part works.', content: { 'application/json': READINESS } },
      503: { description: 'A part does not work.', content: { 'application/json': READINESS } },
    },
    errors: [],
  },
  version: {
    responses: { 200: { description: 'What runs.', content: { 'application/json': VERSION } } },
    errors: [],
  },
  frontPage: {
    responses: {
      200: {
        description: 'What this server is, with links.',
        content: { 'text/html': TEXT },
        headers: {
          'Cache-Control': '`no-cache`.',
          'Content-Security-Policy': 'Nothing may be loaded, run, framed or sent.',
          'Referrer-Policy': '`no-referrer`.',
        },
      },
    },
    errors: [],
  },
  metrics: {
    responses: { 200: { description: 'Prometheus text format 0.0.4.', content: { 'text/plain': TEXT } } },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
