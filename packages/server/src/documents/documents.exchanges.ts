import type { ExchangeParameter, JsonSchema, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const
const COUNT = { type: 'integer', minimum: 0 } as const
const VERSION = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const MS = { type: 'integer', description: 'Milliseconds since 1970.' } as const
const SHARES = { type: 'array', items: {}, description: 'The shares that the caller may see, as they were given.' } as const
const COLLECTION = { type: ['string', 'null'], description: 'null: in no collection.' } as const

export const DOCUMENT_ID: ExchangeParameter = {
  description: 'The document. 1 to 256 bytes without slashes, `..` and control characters.',
  schema: { type: 'string', minLength: 1 },
}
/** The header of content that only the caller may cache. [REST-10] */
export const PRIVATE_CONTENT = { 'Cache-Control': '`private, no-cache`.' } as const
const UNCACHED = { 'Cache-Control': '`no-store`.' } as const
export const VERSION_ETAG = { ETag: 'The stored version, `"<version>"`; at level view `"<version>-v"`.' } as const
export const IF_NONE_MATCH: ExchangeParameter = { description: 'ETags the caller holds.', schema: TEXT }

/** The schema of a document in lists, saves and events. [BODY-15] */
export const DOCUMENT_METADATA = {
  title: 'DocumentMetadata',
  type: 'object',
  properties: {
    id: TEXT,
    title: TEXT,
    name: TEXT,
    updated_at: { type: 'string', format: 'date-time' },
    modifiedAt: MS,
    createdAt: MS,
    owner_id: TEXT,
    ownerId: TEXT,
    ownerName: TEXT,
    workspace_id: TEXT,
    workspaceId: TEXT,
    is_relay_document: { const: true },
    isRelayDocument: { const: true },
    collectionId: COLLECTION,
    sizeBytes: COUNT,
    serverVersion: { type: 'integer', minimum: 1 },
    lineage: {
      type: 'string',
      minLength: 16,
      maxLength: 16,
      description: 'Names the life of the document from creation to deletion.',
    },
    pageCount: COUNT,
    canvasPageCount: COUNT,
    prosePageCount: COUNT,
    access: { enum: ['view', 'edit', 'owner'] },
    sharedWith: SHARES,
    tags: {},
    lockedBy: {},
    lockedByName: {},
    lockedAt: {},
    lastModifiedBy: {},
    lastModifiedByName: {},
  },
  required: [
    ...['id', 'title', 'name', 'updated_at', 'modifiedAt', 'createdAt', 'owner_id', 'ownerId', 'ownerName', 'workspace_id'],
    ...['workspaceId', 'is_relay_document', 'isRelayDocument', 'collectionId', 'sizeBytes', 'serverVersion', 'pageCount'],
    ...['canvasPageCount', 'prosePageCount', 'access', 'sharedWith'],
  ],
} as const satisfies JsonSchema

const SAVED_DOCUMENT: JsonSchema = {
  title: 'SavedDocument',
  type: 'object',
  properties: { ...DOCUMENT_METADATA.properties, success: { const: true }, newVersion: { type: 'integer', minimum: 1 } },
  required: [...DOCUMENT_METADATA.required, 'success', 'newVersion'],
}

const ENTRIES = { type: ['array', 'object'], description: 'A list, or an object by id.' } as const

/** The schema of the reference library of a body. [BODY-1] */
const REFERENCES: JsonSchema = {
  type: 'object',
  description:
    '`{ items: { <id>: <CSL JSON item> }, itemOrder: [<id>], style? }`. `order` is read where `itemOrder` is absent, and keeps its spelling.',
}

/** The body in a request: any object whose known members have these types. [BODY-1, BODY-7] */
const DOCUMENT_INPUT: JsonSchema = {
  title: 'DocumentInput',
  type: 'object',
  properties: {
    id: TEXT,
    name: {},
    title: {},
    collectionId: COLLECTION,
    sharedWith: { type: 'array' },
    pages: ENTRIES,
    richTextPages: ENTRIES,
    references: REFERENCES,
    fields: { type: 'object' },
  },
  additionalProperties: true,
}

/** The body in an answer; members that the relay does not know come back as they were put. [BODY-7, BODY-10] */
export const DOCUMENT_BODY: JsonSchema = {
  title: 'DocumentBody',
  type: 'object',
  properties: {
    id: TEXT,
    serverVersion: { type: 'integer', minimum: 1 },
    version: { description: 'The stored version; for existing editor clients the member as they put it.' },
    ownerId: TEXT,
    ownerName: TEXT,
    isRelayDocument: { const: true },
    collectionId: COLLECTION,
    sharedWith: SHARES,
    pages: ENTRIES,
    richTextPages: ENTRIES,
    blobReferences: { type: 'array', items: TEXT },
    references: REFERENCES,
    fields: { type: 'object' },
  },
  required: [
    'id',
    'serverVersion',
    'ownerId',
    'ownerName',
    'isRelayDocument',
    'collectionId',
    'sharedWith',
    'pages',
    'richTextPages',
  ],
  additionalProperties: true,
}

const DONE = { 204: { description: 'Done, and durable.' } } as const
const ONE = { path: { id: DOCUMENT_ID } } as const

/** Requests and answers of the document routes. [REST-36] */
export const DOCUMENT_EXCHANGES = {
  list: {
    query: {
      limit: { description: 'The most documents in one answer.', schema: { type: 'integer', minimum: 1, maximum: 500 } },
      cursor: { description: 'From the `Link` of the page before.', schema: TEXT },
      q: { description: 'Part of the title, in any case.', schema: { type: 'string', maxLength: 200 } },
      collectionId: { description: 'Only documents of this collection; empty: only those in none.', schema: TEXT },
    },
    responses: {
      200: {
        description: 'Newest change first. Existing editor clients get them as the member `documents`.',
        content: {
          'application/json': {
            anyOf: [
              { type: 'array', items: DOCUMENT_METADATA },
              { type: 'object', properties: { documents: { type: 'array', items: DOCUMENT_METADATA } }, required: ['documents'] },
            ],
          },
        },
        headers: { ...PRIVATE_CONTENT, Link: 'The next page, `rel="next"`, when the limit cut the list.' },
      },
    },
    errors: [],
  },
  get: {
    ...ONE,
    requestHeaders: { 'If-None-Match': IF_NONE_MATCH },
    responses: {
      200: {
        description: 'The document.',
        content: { 'application/json': DOCUMENT_BODY },
        headers: { ...UNCACHED, ...VERSION_ETAG },
      },
      304: { description: 'The caller holds it.', headers: { ...UNCACHED, ...VERSION_ETAG } },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN'],
  },
  put: {
    ...ONE,
    query: {
      expectedVersion: {
        description: 'The stored version the change was made on; 0: the id must not exist.',
        schema: VERSION,
      },
      overrideTombstone: { description: 'Creates a deleted id anew.', schema: { enum: ['true', 'false', '1', '0'] } },
    },
    requestHeaders: {
      'If-Match': { description: 'As expectedVersion, `"<version>"`; `*`: the document must exist.', schema: TEXT },
      'If-None-Match': { description: '`*`: the document must not exist.', schema: TEXT },
    },
    request: { mediaType: 'application/json', schema: DOCUMENT_INPUT },
    responses: {
      200: {
        description: 'Stored, and durable.',
        content: { 'application/json': SAVED_DOCUMENT },
        headers: { ...PRIVATE_CONTENT, ...VERSION_ETAG },
      },
    },
    errors: [
      ...([
        'BAD_BODY',
        'ID_MISMATCH',
        'VIEW_FORBIDDEN',
        'EDIT_FORBIDDEN',
        'OWNER_REQUIRED',
        'VERSION_CONFLICT',
        'NEEDS_REPAIR',
      ] as const),
      ...(['TOMBSTONED', 'PRECONDITION_FAILED', 'NOT_PERSISTED', 'STORAGE_QUOTA'] as const),
    ],
  },
  remove: {
    ...ONE,
    query: { expectedVersion: { description: 'The stored version; another one deletes nothing.', schema: VERSION } },
    requestHeaders: { 'If-Match': { description: 'As expectedVersion, `"<version>"`; `*`: any version.', schema: TEXT } },
    responses: DONE,
    errors: [
      ...(['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'OWNER_REQUIRED', 'VERSION_CONFLICT'] as const),
      ...(['PRECONDITION_FAILED', 'NOT_PERSISTED'] as const),
    ],
  },
  transfer: {
    ...ONE,
    request: {
      mediaType: 'application/json',
      schema: {
        anyOf: [
          { type: 'object', properties: { to_user_id: TEXT }, required: ['to_user_id'], additionalProperties: true },
          {
            type: 'object',
            properties: { newOwnerId: TEXT, newOwnerName: { type: ['string', 'null'] } },
            required: ['newOwnerId'],
            additionalProperties: true,
          },
        ],
      },
    },
    responses: DONE,
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'OWNER_REQUIRED', 'NOT_PERSISTED'],
  },
  collection: {
    ...ONE,
    request: {
      mediaType: 'application/json',
      schema: {
        type: 'object',
        properties: { collectionId: { type: ['string', 'null'] } },
        required: ['collectionId'],
        additionalProperties: true,
      },
    },
    responses: DONE,
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'NOT_PERSISTED'],
  },
  metadata: {
    ...ONE,
    responses: {
      200: {
        description: 'The document as a list shows it to the caller.',
        content: { 'application/json': DOCUMENT_METADATA },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN'],
  },
  ydoc: {
    ...ONE,
    responses: {
      200: {
        description:
          'The bytes `DSKY`, u32 1, u64 serverVersion (both little-endian), then one Yjs v1 update of the whole state.',
        content: { 'application/octet-stream': {} },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN', 'NOT_PERSISTED'],
  },
} as const satisfies Record<string, RouteExchange>

/** Requests and answers of the control plane's route. [REST-36, REST-33] */
export const PURGE_MEMBER_EXCHANGES = {
  purge: {
    path: { ws: { description: 'The workspace.', schema: { type: 'string', minLength: 1 } } },
    request: {
      mediaType: 'application/json',
      schema: { type: 'object', properties: { user_id: TEXT }, required: ['user_id'], additionalProperties: true },
    },
    responses: {
      200: {
        description: 'How many documents changed.',
        content: { 'application/json': { type: 'object', properties: { purged: COUNT }, required: ['purged'] } },
      },
    },
    errors: ['NOT_PERSISTED'],
  },
} as const satisfies Record<string, RouteExchange>
