/**
 * THE table of errors: code -> HTTP status and the members that the body may carry. [REST-2, REST-14] No other file
 * contains an HTTP error status. docs/reference/errors.md is rendered from it, and test/pins holds it.
 */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    details: ['field', 'limit', 'value'],
    when: 'bad query, header, member or structure not named below',
  },
  BAD_JSON: { status: 400, details: ['offset'], when: 'the body is not JSON in UTF-8, or is nested deeper than 128 levels' },
  BAD_BODY: {
    status: 400,
    details: ['path'],
    when: 'a part of the document body has a wrong type, a repeated id or an ill-formed id; `path` is a JSON Pointer',
  },
  BAD_ID: { status: 400, details: ['field'], when: 'ill-formed document, blob, point, link or collection id' },
  ID_MISMATCH: { status: 400, details: ['pathId', 'bodyId'], when: 'the id in the body is not the id of the path' },
  BAD_COLLECTIONS: { status: 400, details: ['index', 'field', 'limit'], when: 'collections or style-profiles structure' },
  BAD_URL: { status: 400, details: ['field'], when: 'ingest URL not https or unparsable' },
  HASH_MISMATCH: { status: 400, details: ['expected', 'actual'], when: 'the bytes do not have the hash of the path' },
  TOKEN_MALFORMED: { status: 400, details: [], when: 'the bearer is not a JWT' },
  UNAUTHENTICATED: { status: 401, details: [], when: 'no usable bearer credential' },
  TOKEN_INVALID: { status: 401, details: ['reason'], when: 'the token failed validation; `reason` names the check' },
  TOKEN_REVOKED: { status: 401, details: [], when: 'the jti of the token is revoked' },
  JWKS_UNAVAILABLE: { status: 401, details: ['retryAfterMs'], when: 'no key set within its grace' },
  FORBIDDEN: { status: 403, details: [], when: 'the named workspace is not in the claim, or no usable wsp entry' },
  FORBIDDEN_PLAIN: { status: 403, details: [], when: 'dedicated tenancy and another workspace: plain body `forbidden`' },
  VIEW_FORBIDDEN: { status: 403, details: ['docId', 'role', 'access'], when: 'the caller may not read the document' },
  EDIT_FORBIDDEN: { status: 403, details: ['docId', 'role', 'access'], when: 'the caller may read but not write' },
  OWNER_REQUIRED: { status: 403, details: ['docId', 'role', 'access'], when: 'level owner is needed' },
  INGEST_DISABLED: { status: 403, details: [], when: 'no ingest host allowlist is configured' },
  URL_NOT_ALLOWED: { status: 403, details: ['host', 'hop'], when: 'ingest URL outside the allowlist or a blocked address' },
  NOT_FOUND: {
    status: 404,
    details: ['resource', 'successor'],
    when: 'unknown route or resource; `successor` took the place of a restored document',
  },
  OBJECT_NOT_UPLOADED: { status: 404, details: ['hash'], when: 'finalize before the upload' },
  METHOD_NOT_ALLOWED: { status: 405, details: ['allow'], when: 'a known route with another method' },
  VERSION_CONFLICT: {
    status: 409,
    details: ['currentVersion', 'collections', 'profiles', 'version'],
    when: 'expectedVersion differs from the stored version',
  },
  NEEDS_REPAIR: { status: 409, details: ['docId'], when: 'write to a document whose log lacks an edit' },
  NOT_UNDOABLE: {
    status: 409,
    details: ['callId', 'reason'],
    when: 'undo of a call that was undone before, expired, changed too much to be kept, or created the document',
  },
  PRESIGN_UNSUPPORTED: { status: 409, details: [], when: 'presign route on a filesystem backend' },
  TOMBSTONED: { status: 410, details: ['deletedAt', 'lastServerVersion'], when: 'PUT of a deleted id without override' },
  PRECONDITION_FAILED: { status: 412, details: ['currentVersion'], when: 'If-Match or If-None-Match does not hold' },
  DOC_TOO_LARGE: { status: 413, details: ['sizeBytes', 'maxBytes', 'source'], when: 'document above max_doc_bytes' },
  BLOB_TOO_LARGE: { status: 413, details: ['sizeBytes', 'maxBytes'], when: 'blob above max_blob_bytes' },
  BODY_TOO_LARGE: { status: 413, details: ['maxBytes'], when: 'request body above the limit of its route' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, details: [], when: 'a JSON route got another content type, or a content encoding' },
  RANGE_NOT_SATISFIABLE: { status: 416, details: ['sizeBytes'], when: 'blob range outside the blob' },
  POINT_UNREADABLE: { status: 422, details: ['pointId'], when: 'stored recovery point cannot be decoded' },
  PROTOCOL_VERSION_MISMATCH: { status: 426, details: [], when: 'WebSocket upgrade with an unknown protocolVersion; plain text' },
  TOO_MANY_UPLOADS: { status: 429, details: ['retryAfterMs'], when: 'above max_concurrent_blob_uploads' },
  RATE_LIMITED: { status: 429, details: ['retryAfterMs'], when: 'a rate bucket is empty' },
  HEADERS_TOO_LARGE: { status: 431, details: [], when: 'header block above 32 KiB' },
  INTERNAL: { status: 500, details: ['requestId'], when: 'unexpected; no stack, path or secret is shown' },
  FETCH_FAILED: { status: 502, details: ['status', 'reason'], when: 'ingest source failed' },
  BLOB_STORE_ERROR: { status: 502, details: ['status', 'reason'], when: 'object store failed' },
  UNAVAILABLE: {
    status: 503,
    details: ['retryAfterMs'],
    when: 'storage cannot answer, the relay drains, or it has no place for more',
  },
  NOT_PERSISTED: {
    status: 503,
    details: ['retryAfterMs'],
    when: 'the write could not be confirmed durable; repeating it with expectedVersion is safe',
  },
  STORAGE_QUOTA: { status: 507, details: ['usedBytes', 'addedBytes', 'quotaBytes', 'source'], when: 'growing write over quota' },
  CONFIG_TOO_LARGE: {
    status: 507,
    details: ['sizeBytes', 'maxBytes'],
    when: 'collections or style profiles above max_config_bytes',
  },
} as const satisfies Record<string, { status: number; details: readonly string[]; when: string }>

export type ErrorCode = keyof typeof ERRORS

/**
 * The only error that carries a code to the outside; each surface (REST, WebSocket, MCP) turns it into bytes in one
 * place. `message` is one English sentence that names field, limit and value where there are any. `details` holds the
 * members that the row of the table lists.
 */
export class RelayError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'RelayError'
    this.code = code
    this.details = details
  }
}

/** Ends a `switch` over a union: the compiler refuses a missing case. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
