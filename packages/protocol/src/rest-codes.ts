/**
 * What a caller does about a refusal: repeat the request at once, repeat it later, repeat it after something was changed
 * (the request, the token, a right, a limit), or give it up.
 */
export type Retry = 'now' | 'later' | 'after-change' | 'never'

/** The codes of REST errors, each with its HTTP status, for clients. [REST-14] */
export const REST_CODES = {
  BAD_REQUEST: { status: 400, retry: 'after-change' },
  BAD_JSON: { status: 400, retry: 'after-change' },
  BAD_BODY: { status: 400, retry: 'after-change' },
  BAD_ID: { status: 400, retry: 'never' },
  ID_MISMATCH: { status: 400, retry: 'after-change' },
  BAD_COLLECTIONS: { status: 400, retry: 'after-change' },
  BAD_URL: { status: 400, retry: 'after-change' },
  HASH_MISMATCH: { status: 400, retry: 'after-change' },
  TOKEN_MALFORMED: { status: 400, retry: 'after-change' },
  UNAUTHENTICATED: { status: 401, retry: 'after-change' },
  TOKEN_INVALID: { status: 401, retry: 'after-change' },
  TOKEN_REVOKED: { status: 401, retry: 'after-change' },
  JWKS_UNAVAILABLE: { status: 401, retry: 'later' },
  FORBIDDEN: { status: 403, retry: 'after-change' },
  FORBIDDEN_PLAIN: { status: 403, retry: 'after-change' },
  VIEW_FORBIDDEN: { status: 403, retry: 'after-change' },
  EDIT_FORBIDDEN: { status: 403, retry: 'after-change' },
  OWNER_REQUIRED: { status: 403, retry: 'after-change' },
  INGEST_DISABLED: { status: 403, retry: 'never' },
  URL_NOT_ALLOWED: { status: 403, retry: 'never' },
  NOT_FOUND: { status: 404, retry: 'never' },
  OBJECT_NOT_UPLOADED: { status: 404, retry: 'after-change' },
  METHOD_NOT_ALLOWED: { status: 405, retry: 'never' },
  VERSION_CONFLICT: { status: 409, retry: 'after-change' },
  NEEDS_REPAIR: { status: 409, retry: 'after-change' },
  NOT_UNDOABLE: { status: 409, retry: 'never' },
  PRESIGN_UNSUPPORTED: { status: 409, retry: 'never' },
  TOMBSTONED: { status: 410, retry: 'after-change' },
  PRECONDITION_FAILED: { status: 412, retry: 'after-change' },
  DOC_TOO_LARGE: { status: 413, retry: 'after-change' },
  BLOB_TOO_LARGE: { status: 413, retry: 'never' },
  BODY_TOO_LARGE: { status: 413, retry: 'after-change' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retry: 'after-change' },
  RANGE_NOT_SATISFIABLE: { status: 416, retry: 'after-change' },
  POINT_UNREADABLE: { status: 422, retry: 'never' },
  PROTOCOL_VERSION_MISMATCH: { status: 426, retry: 'never' },
  TOO_MANY_UPLOADS: { status: 429, retry: 'later' },
  RATE_LIMITED: { status: 429, retry: 'later' },
  HEADERS_TOO_LARGE: { status: 431, retry: 'after-change' },
  INTERNAL: { status: 500, retry: 'later' },
  FETCH_FAILED: { status: 502, retry: 'later' },
  BLOB_STORE_ERROR: { status: 502, retry: 'later' },
  UNAVAILABLE: { status: 503, retry: 'later' },
  NOT_PERSISTED: { status: 503, retry: 'now' },
  STORAGE_QUOTA: { status: 507, retry: 'after-change' },
  CONFIG_TOO_LARGE: { status: 507, retry: 'after-change' },
} as const satisfies Record<string, { readonly status: number; readonly retry: Retry }>

export type RestErrorCode = keyof typeof REST_CODES

export function isRestErrorCode(code: string): code is RestErrorCode {
  return Object.hasOwn(REST_CODES, code)
}
