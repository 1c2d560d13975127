import { ERRORS, type ErrorCode } from '../../kernel/errors.ts'
import type { JsonSchema } from '../../kernel/exchange.ts'

type DetailName = (typeof ERRORS)[ErrorCode]['details'][number]

const TEXT = { type: 'string' } as const
const COUNT = { type: 'integer', minimum: 0 } as const
const LIST = { type: 'array', items: {} } as const

/** The type of every member that an error body may carry; one name has one type in all errors. [REST-14] */
const DETAILS: Readonly<Record<DetailName, JsonSchema>> = {
  field: TEXT,
  limit: COUNT,
  value: {},
  offset: COUNT,
  path: { type: 'string', format: 'json-pointer' },
  pathId: TEXT,
  bodyId: TEXT,
  index: COUNT,
  expected: TEXT,
  actual: TEXT,
  reason: TEXT,
  docId: TEXT,
  callId: TEXT,
  role: { enum: ['owner', 'member', 'viewer'] },
  access: { enum: ['none', 'view', 'edit', 'owner'] },
  host: TEXT,
  hop: COUNT,
  resource: TEXT,
  successor: TEXT,
  hash: TEXT,
  allow: TEXT,
  currentVersion: COUNT,
  collections: LIST,
  profiles: LIST,
  version: COUNT,
  deletedAt: COUNT,
  lastServerVersion: COUNT,
  sizeBytes: COUNT,
  maxBytes: COUNT,
  source: { enum: ['claim', 'config'] },
  pointId: TEXT,
  retryAfterMs: COUNT,
  requestId: TEXT,
  status: COUNT,
  usedBytes: COUNT,
  addedBytes: COUNT,
  quotaBytes: COUNT,
}

/** Errors that are answered as text instead of JSON. [REST-2] */
const PLAIN: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN_PLAIN', 'PROTOCOL_VERSION_MISMATCH'])

/** The answer of an error code: media type, body, and the headers that only errors have. */
export interface ErrorShape {
  readonly status: number
  readonly when: string
  readonly mediaType: string
  readonly schema: JsonSchema
  readonly headers: readonly string[]
}

export function errorShape(code: ErrorCode): ErrorShape {
  const { status, when, details } = ERRORS[code] as { status: number; when: string; details: readonly DetailName[] }
  const isPlain = PLAIN.has(code)
  const members = Object.fromEntries(details.map((name) => [name, DETAILS[name]]))
  const always = details.filter((name) => name === 'retryAfterMs' || name === 'requestId')
  const schema: JsonSchema = {
    title: `Error.${code}`,
    description: when,
    type: 'object',
    properties: { error: TEXT, errorCode: { const: code }, ...members },
    required: ['error', 'errorCode', ...always],
  }
  return {
    status,
    when,
    mediaType: isPlain ? 'text/plain' : 'application/json',
    schema: isPlain ? TEXT : schema,
    headers: errorHeaders(code, status, details),
  }
}

function errorHeaders(code: ErrorCode, status: number, details: readonly DetailName[]): readonly string[] {
  const retry = details.includes('retryAfterMs') ? ['Retry-After'] : []
  if (status === ERRORS.UNAUTHENTICATED.status) return ['WWW-Authenticate', ...retry]
  if (retry.length > 0) return retry
  if (code === 'RANGE_NOT_SATISFIABLE') return ['Content-Range']
  return code === 'METHOD_NOT_ALLOWED' ? ['Allow'] : []
}
