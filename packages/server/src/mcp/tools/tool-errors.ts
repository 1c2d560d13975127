import type { ToolRow } from './tool-row.ts'

/** A row of the table of error codes. Tools return no code that is not in the table. [TOOL-28, TOOL-9] */
interface ToolError {
  readonly when: string
  /** The group of tools that may return the code. When absent, only tools whose rows name the code may return it. */
  readonly tools?: Kind
  /** Members of the failure besides `code` and `message`. A `?` marks members that may be absent. */
  readonly facts: readonly string[]
}

type Kind = keyof typeof KINDS

const takes =
  (...members: readonly string[]) =>
  ({ inputSchema }: ToolRow): boolean =>
    members.every((member) => Object.hasOwn(inputSchema['properties'] as object, member))
const writes = ({ bucket }: ToolRow): boolean => bucket === 'write'

/** Groups of tools that share codes. */
const KINDS = {
  every: () => true,
  ofDocuments: takes('docId'),
  readsOfDocuments: (tool: ToolRow) => takes('docId')(tool) && !writes(tool),
  writesOfDocuments: (tool: ToolRow) => takes('docId')(tool) && writes(tool),
  ofPages: takes('docId', 'pageId'),
  writes,
  paged: (tool: ToolRow) => takes('docId', 'cursor')(tool) && tool.access !== 'none',
  repeatable: takes('requestId'),
} as const satisfies Record<string, (tool: ToolRow) => boolean>

export const TOOL_ERRORS = {
  ERR_RATE_LIMIT: {
    when: 'the bucket is empty; comes as HTTP 429',
    tools: 'every',
    facts: ['bucket', 'retryAfter', 'perSecond', 'burst'],
  },
  ERR_BAD_ARGUMENT: {
    when: 'an argument is unknown, missing, of another type or out of range',
    tools: 'every',
    facts: ['argument', 'expected', 'got?', 'nearest?', 'known?'],
  },
  ERR_TOOL_DISABLED: {
    when: 'the toolsets or the read-only mode leave the tool out',
    tools: 'every',
    facts: ['tool', 'toolset'],
  },
  ERR_DOC_NOT_FOUND: {
    when: 'the document is unknown, deleted or of another workspace',
    tools: 'ofDocuments',
    facts: ['docId', 'deleted?', 'nearest?'],
  },
  ERR_VIEW_FORBIDDEN: { when: 'you may not read the document', tools: 'readsOfDocuments', facts: ['docId'] },
  ERR_EDIT_FORBIDDEN: { when: 'you may not write the document, or nothing at all', tools: 'writes', facts: ['docId?', 'role'] },
  ERR_DELETE_FORBIDDEN: { when: 'you do not own the document', facts: ['docId', 'role'] },
  ERR_LOCAL_READ_ONLY: {
    when: 'the document is local to the host and can only be read',
    tools: 'writesOfDocuments',
    facts: ['docId', 'promote'],
  },
  ERR_PAGE_NOT_FOUND: {
    when: 'there is no page of the needed kind with this id',
    tools: 'ofPages',
    facts: ['pageId', 'kind', 'otherKind?', 'pages'],
  },
  ERR_LAST_PAGE: {
    when: 'the only page of a kind stays',
    facts: ['pageId', 'kind'],
  },
  ERR_NOT_PERMUTATION: {
    when: '`order` does not name every id once',
    facts: ['missing', 'unknown', 'duplicate'],
  },
  ERR_VERSION_CONFLICT: {
    when: 'the document is at another version than `expectedVersion`, or other writers won every attempt',
    tools: 'writesOfDocuments',
    facts: ['expectedVersion?', 'serverVersion', 'attempts?'],
  },
  ERR_CURSOR_EXPIRED: { when: 'the page that a cursor stands on is gone', tools: 'paged', facts: ['serverVersion'] },
  ERR_REQUEST_ID_REUSED: { when: 'the `requestId` came before with other arguments', tools: 'repeatable', facts: ['requestId'] },
  ERR_NEEDS_REPAIR: {
    when: 'the log of the document lacks an edit: it can be read and not written',
    tools: 'writesOfDocuments',
    facts: ['docId'],
  },
  ERR_DOC_TOO_LARGE: {
    when: 'the document would be above `max_doc_bytes`',
    tools: 'writesOfDocuments',
    facts: ['sizeBytes', 'maxBytes', 'source'],
  },
  ERR_STORAGE_QUOTA: {
    when: 'the workspace would be above its quota',
    tools: 'writes',
    facts: ['usedBytes', 'addedBytes', 'quotaBytes', 'source'],
  },
  ERR_STORE_UNAVAILABLE: {
    when: 'storage cannot answer now, what it has of the document is damaged, or a layout takes longer than a call may',
    tools: 'every',
    facts: ['retryable'],
  },
  ERR_INTERNAL: {
    when: 'something failed that should not; the log has it under the incident',
    tools: 'every',
    facts: ['incident'],
  },
  ERR_PROSE_TOO_LARGE: {
    when: 'the content is above 1,048,576 bytes',
    facts: ['bytes', 'maxBytes'],
  },
  ERR_TARGET_MISSING: {
    when: 'neither an id nor an anchor names the block',
    facts: [],
  },
  ERR_ANCHOR_EMPTY: { when: 'the anchor is blank', facts: ['which'] },
  ERR_ANCHOR_NOT_FOUND: { when: 'no block has this text', facts: ['anchor', 'nearest'] },
  ERR_ANCHOR_AMBIGUOUS: { when: 'several blocks have this text', facts: ['count', 'matches'] },
  ERR_ANCHOR_RANGE: {
    when: 'the ends of the span are not in order within one parent',
    facts: ['from', 'until'],
  },
  ERR_ID_NOT_FOUND: {
    when: 'the page has no block with this id',
    facts: ['id', 'otherPage?', 'nearest?', 'removedBy?'],
  },
  ERR_ID_AMBIGUOUS: { when: 'several blocks have this id', facts: ['id', 'count', 'matches?'] },
  ERR_ID_ANCHOR_MISMATCH: { when: 'id and anchor name different blocks', facts: ['id', 'currentText'] },
  ERR_BLOCK_CHANGED: { when: 'the block is no longer as the caller saw it', facts: ['id', 'current', 'changedBy?'] },
  ERR_PAGE_CHANGED: {
    when: 'the page that is to be replaced has blocks that the caller did not see as they are',
    facts: ['pageId', 'seen', 'changedBlocks', 'addedBlocks', 'removedBlocks', 'total'],
  },
  ERR_CALL_NOT_FOUND: { when: 'the document has no such call', facts: ['callId', 'calls'] },
  ERR_NOT_UNDOABLE: {
    when: 'the call was undone before, is too old or too large, or is one of a tool that cannot be undone',
    facts: ['callId', 'reason', 'undoneBy?'],
  },
  ERR_TEXT_NOT_FOUND: {
    when: 'the words of an edit stand nowhere in what it searches',
    facts: ['edit', 'find', 'nearest', 'hint?'],
  },
  ERR_TEXT_AMBIGUOUS: {
    when: 'the words of an edit stand at several places, and neither `all` nor `occurrence` came',
    facts: ['edit', 'count', 'places'],
  },
  ERR_BLOCK_KIND: {
    when: 'the block cannot be what the call makes of it',
    facts: ['id', 'type', 'around', 'allowed'],
  },
  ERR_STEP_TOOL: {
    when: 'the tool of a step is none that is one edit of the document',
    facts: ['step', 'tool', 'allowed'],
  },
  ERR_STEP_REF: {
    when: 'a reference of a step names no text in the result of an earlier one',
    facts: ['step', 'reference', 'members'],
  },
  ERR_INSERT_EMPTY: { when: 'the content has no block', facts: [] },
  ERR_MOVE_SELF: { when: 'the block is its own target', facts: ['id'] },
  ERR_MOVE_INTO_SELF: { when: 'the target lies inside what moves', facts: ['id'] },
  ERR_MOVE_CROSS_CONTEXT: {
    when: 'a list item would stand beside a block, or the reverse',
    facts: ['from', 'to', 'hint'],
  },
  ERR_SECTION_INDEX: {
    when: 'the page has no section with this index',
    facts: ['index', 'sectionCount'],
  },
  ERR_TABLE_NOT_FOUND: { when: 'the page has no table', facts: ['pageId'] },
  ERR_TABLE_AMBIGUOUS: { when: 'the page has several tables and none is named', facts: ['tableCount'] },
  ERR_TABLE_INDEX: { when: 'the page has fewer tables', facts: ['tableIndex', 'tableCount'] },
  ERR_TARGET_NOT_IN_TABLE: { when: 'the named block stands in no table', facts: ['id?'] },
  ERR_CELL_RANGE: { when: 'the row or the column is past the grid', facts: ['rows', 'cols'] },
  ERR_TABLE_LAST_ROW: { when: 'no row would be left', facts: ['rows'] },
  ERR_TABLE_LAST_COLUMN: { when: 'no column would be left', facts: ['cols'] },
  ERR_MERGE_SINGLE_CELL: { when: 'the rectangle is one cell', facts: ['row', 'col'] },
  ERR_MERGE_PARTIAL_SPAN: { when: 'the rectangle cuts a merged cell', facts: ['rect', 'cell'] },
  ERR_SPLIT_NOT_MERGED: { when: 'the cell is not merged', facts: ['row', 'col'] },
  ERR_CELL_ATTR: {
    when: 'no attribute came, one has a bad value, or a scope is for a plain cell',
    facts: ['attribute?', 'allowed'],
  },
  ERR_TABLE_HAS_MERGES: { when: 'lines of a table with merged cells do not move', facts: ['cells'] },
  ERR_SHAPE_NOT_FOUND: {
    when: 'the page has no shape with this id',
    facts: ['shapeId', 'pageId', 'otherPage?'],
  },
  ERR_SHAPE_CHANGED: {
    when: 'the shape no longer has the stamp behind its id',
    facts: ['id', 'current', 'changedBy?', 'shape?'],
  },
  ERR_SHAPE_KIND: {
    when: 'the kind is missing, contradicts itself or cannot be made',
    facts: ['got', 'allowed', 'shape?'],
  },
  ERR_SHAPE_ID_TAKEN: { when: 'the id is in use or comes twice', facts: ['id', 'shape?'] },
  ERR_CONNECTOR_END: {
    when: 'an end is unknown, a connector or a line',
    facts: ['end', 'shapeId', 'shape?'],
  },
  ERR_EMPTY_PATCH: { when: 'nothing is left to change', facts: ['fixes?'] },
  ERR_DIAGRAM_LIMIT: {
    when: 'there are over 500 nodes or 1000 edges, or no node',
    facts: ['nodes', 'edges', 'max'],
  },
  ERR_DIAGRAM_NODE: { when: 'the id of a node is empty or comes twice', facts: ['node', 'id'] },
  ERR_DIAGRAM_EDGE: { when: 'the end of an edge is no node', facts: ['edge', 'id', 'nearest?'] },
  ERR_BAD_SOURCE: { when: 'not exactly one of url, base64 and blobRef came', facts: ['given'] },
  ERR_BAD_FILE_NAME: {
    when: 'the name is empty, over 255 bytes, or has path or control characters',
    facts: [],
  },
  ERR_BAD_BASE64: { when: 'it is not strict padded standard Base64', facts: [] },
  ERR_BAD_BLOB_REF: {
    when: 'it is not 64 lowercase hex digits, with or without `blob://`',
    facts: ['got'],
  },
  ERR_FILE_NOT_FOUND: {
    when: 'the document does not use the file, the workspace does not hold it, or its bytes are missing',
    facts: ['id?', 'hash?'],
  },
  ERR_FILE_TOO_LARGE: { when: 'the file is above `max_blob_bytes`', facts: ['sizeBytes', 'maxBytes'] },
  ERR_FILE_TOO_LARGE_FOR_INLINE: {
    when: 'the file is above 1 MiB and the store gives no addresses',
    facts: ['sizeBytes', 'maxBytes', 'path'],
  },
  ERR_INGEST_NOT_CONFIGURED: { when: 'no host is allowed to fetch from', facts: [] },
  ERR_BAD_URL: { when: 'the address is not https or cannot be read', facts: ['host?'] },
  ERR_URL_NOT_ALLOWED: { when: 'the host, or where it redirects to, is not allowed', facts: ['host?'] },
  ERR_FETCH_FAILED: { when: 'the remote side failed', facts: ['status?', 'reason'] },
  ERR_BAD_REFERENCE: {
    when: 'an item is no object or has no usable id',
    facts: ['index'],
  },
  ERR_REFERENCE_NOT_FOUND: {
    when: 'the library has no such id',
    facts: ['id', 'nearest'],
  },
  ERR_REFERENCE_DUPLICATE: {
    when: 'the DOI is that of another item',
    facts: ['existingId', 'doi'],
  },
  ERR_REFERENCE_CITED: {
    when: 'the text cites it and `force` is not true',
    facts: ['count', 'sites', 'more'],
  },
  ERR_DOI_INVALID: { when: 'the text is not a DOI', facts: ['doi'] },
  ERR_DOI_NOT_FOUND: { when: 'the resolver knows no such DOI', facts: ['doi'] },
  ERR_DOI_UNAVAILABLE: {
    when: 'the resolver did not answer in time or in form',
    facts: ['doi', 'reason', 'retryable'],
  },
  ERR_BAD_FIELD_NAME: {
    when: 'the name is empty, over 120 characters, or has braces or control characters',
    facts: ['index', 'name'],
  },
  ERR_SEARCH_QUERY: {
    when: 'the query has no word, over 16 words or over 200 characters',
    facts: ['words?', 'characters?', 'max'],
  },
  ERR_SKILL_NOT_FOUND: { when: 'there is no such recipe', facts: ['skill', 'known'] },
  ERR_STREAM_LIMIT: { when: 'as many streams and waiting calls of the principal are open as may be', facts: ['open', 'max'] },
} as const satisfies Readonly<Record<string, ToolError>>

export type ToolErrorCode = keyof typeof TOOL_ERRORS

/** The codes that a tool may return, in the order of the table. */
export function errorsOf(tool: ToolRow): readonly ToolErrorCode[] {
  return (Object.entries(TOOL_ERRORS) as [ToolErrorCode, ToolError][])
    .filter(([code, { tools }]) => (tools === undefined ? Object.hasOwn(tool.errors, code) : KINDS[tools](tool)))
    .map(([code]) => code)
}
