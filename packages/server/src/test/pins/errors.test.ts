import { expect, it } from 'vitest'
import { ERRORS } from '../../kernel/errors.ts'

/** Columns: code, status, members */
const PINNED = `
BAD_REQUEST 400 field,limit,value
BAD_JSON 400 offset
BAD_BODY 400 path
BAD_ID 400 field
ID_MISMATCH 400 pathId,bodyId
BAD_COLLECTIONS 400 index,field,limit
BAD_URL 400 field
HASH_MISMATCH 400 expected,actual
TOKEN_MALFORMED 400
UNAUTHENTICATED 401
TOKEN_INVALID 401 reason
TOKEN_REVOKED 401
JWKS_UNAVAILABLE 401 retryAfterMs
FORBIDDEN 403
FORBIDDEN_PLAIN 403
VIEW_FORBIDDEN 403 docId,role,access
EDIT_FORBIDDEN 403 docId,role,access
OWNER_REQUIRED 403 docId,role,access
INGEST_DISABLED 403
URL_NOT_ALLOWED 403 host,hop
NOT_FOUND 404 resource,successor
OBJECT_NOT_UPLOADED 404 hash
METHOD_NOT_ALLOWED 405 allow
VERSION_CONFLICT 409 currentVersion,collections,profiles,version
NEEDS_REPAIR 409 docId
NOT_UNDOABLE 409 callId,reason
PRESIGN_UNSUPPORTED 409
TOMBSTONED 410 deletedAt,lastServerVersion
PRECONDITION_FAILED 412 currentVersion
DOC_TOO_LARGE 413 sizeBytes,maxBytes,source
BLOB_TOO_LARGE 413 sizeBytes,maxBytes
BODY_TOO_LARGE 413 maxBytes
UNSUPPORTED_MEDIA_TYPE 415
RANGE_NOT_SATISFIABLE 416 sizeBytes
POINT_UNREADABLE 422 pointId
PROTOCOL_VERSION_MISMATCH 426
TOO_MANY_UPLOADS 429 retryAfterMs
RATE_LIMITED 429 retryAfterMs
HEADERS_TOO_LARGE 431
INTERNAL 500 requestId
FETCH_FAILED 502 status,reason
BLOB_STORE_ERROR 502 status,reason
UNAVAILABLE 503 retryAfterMs
NOT_PERSISTED 503 retryAfterMs
STORAGE_QUOTA 507 usedBytes,addedBytes,quotaBytes,source
CONFIG_TOO_LARGE 507 sizeBytes,maxBytes
`

it('[REST-14] the error codes have exactly the pinned status and members', () => {
  const rows = Object.entries(ERRORS).map(([code, row]) => `${code} ${row.status} ${row.details.join(',')}`.trim())
  expect(rows).toEqual(PINNED.trim().split('\n'))
})
