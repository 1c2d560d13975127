/** The arguments of every tool, as the specification lists them. [MCP specification, section 3] */
const V = ['expectedVersion', 'dryRun']
const L = ['limit', 'cursor']
const P = ['docId', 'pageId']

export const TOOL_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  list_documents: ['query', ...L],
  get_document: ['docId'],
  get_page: [...P, ...L],
  get_shape: [...P, 'id'],
  get_prose: [...P, 'format', 'id', 'index', 'ids', ...L],
  get_outline: P,
  list_references: ['docId', ...L],
  resolve_doi: ['doi'],
  list_fields: ['docId'],
  get_skills: ['skill'],
  list_icons: ['query', 'category', ...L],
  list_files: ['docId', ...L],
  get_file: ['docId', 'id', 'hash', 'blobRef'],
  get_table: [...P, 'tableIndex', 'id', 'anchor'],
  get_storage: [],
  create_document: ['name', 'requestId'],
  rename_document: ['docId', 'name', ...V],
  add_prose_page: ['docId', 'name', 'content', 'format', ...V, 'requestId'],
  set_prose: [...P, 'content', 'format', 'id', 'anchor', 'untilId', 'anchorUntil', ...V],
  insert_block: [...P, 'content', 'format', 'id', 'anchor', 'side', ...V, 'requestId'],
  delete_block: [...P, 'id', 'anchor', ...V],
  move_block: [...P, 'id', 'anchor', 'targetId', 'targetAnchor', 'side', ...V],
  rename_prose_page: [...P, 'name', ...V],
  insert_section: [...P, 'level', 'title', 'body', 'format', 'position', 'afterIndex', ...V, 'requestId'],
  restructure_outline: [...P, 'op', 'index', 'toIndex', ...V],
  edit_table: [
    ...[...P, 'op', 'tableIndex', 'id', 'anchor', ...V, 'row', 'col', 'side', 'fromRow', 'fromCol', 'toRow', 'toCol'],
    ...['backgroundColor', 'align', 'scope', 'from', 'to', 'width'],
  ],
  add_canvas_page: ['docId', 'name', ...V, 'requestId'],
  rename_canvas_page: [...P, 'name', ...V],
  add_shape: [...P, 'shape', ...V, 'requestId'],
  add_shapes: [...P, 'shapes', ...V, 'requestId'],
  connect: [...P, 'fromId', 'toId', 'fromAnchor', 'toAnchor', 'label', 'routing', ...V, 'requestId'],
  update_shape: [...P, 'id', 'patch', ...V],
  generate_diagram: [...P, 'nodes', 'edges', 'layout', 'direction', 'routing', ...V, 'requestId'],
  add_file: [
    ...[...P, 'fileName', 'url', 'base64', 'blobRef', 'authorization', 'mimeType', 'x', 'y', 'width', 'height', 'label'],
    ...[...V, 'requestId'],
  ],
  delete_shape: [...P, 'id', ...V],
  delete_prose_page: [...P, ...V],
  delete_canvas_page: [...P, ...V],
  delete_document: ['docId', ...V],
  reorder_shapes: [...P, 'order', ...V],
  reorder_prose_pages: ['docId', 'order', ...V],
  reorder_canvas_page: ['docId', 'order', ...V],
  add_reference: ['docId', 'doi', 'items', ...V],
  update_reference: ['docId', 'id', 'item', 'replace', ...V],
  delete_reference: ['docId', 'id', 'force', ...V],
  set_fields: ['docId', 'fields', ...V],
}

/** The codes of section 2.4 that texts of ours may name. */
export const TOOL_CODES: readonly string[] = [
  ...['ERR_RATE_LIMIT', 'ERR_BAD_ARGUMENT', 'ERR_TOOL_DISABLED', 'ERR_DOC_NOT_FOUND', 'ERR_VIEW_FORBIDDEN', 'ERR_EDIT_FORBIDDEN'],
  ...['ERR_DELETE_FORBIDDEN', 'ERR_LOCAL_READ_ONLY', 'ERR_PAGE_NOT_FOUND', 'ERR_LAST_PAGE', 'ERR_NOT_PERMUTATION'],
  ...['ERR_VERSION_CONFLICT', 'ERR_CURSOR_EXPIRED', 'ERR_REQUEST_ID_REUSED', 'ERR_DOC_TOO_LARGE', 'ERR_STORAGE_QUOTA'],
  ...['ERR_STORE_UNAVAILABLE', 'ERR_INTERNAL', 'ERR_PROSE_TOO_LARGE', 'ERR_TARGET_MISSING', 'ERR_ANCHOR_EMPTY'],
  ...['ERR_ANCHOR_NOT_FOUND', 'ERR_ANCHOR_AMBIGUOUS', 'ERR_ANCHOR_RANGE', 'ERR_ID_NOT_FOUND', 'ERR_ID_AMBIGUOUS'],
  ...['ERR_ID_ANCHOR_MISMATCH', 'ERR_INSERT_EMPTY', 'ERR_MOVE_SELF', 'ERR_MOVE_INTO_SELF', 'ERR_MOVE_CROSS_CONTEXT'],
  ...['ERR_SECTION_INDEX', 'ERR_TABLE_NOT_FOUND', 'ERR_TABLE_AMBIGUOUS', 'ERR_TABLE_INDEX', 'ERR_TARGET_NOT_IN_TABLE'],
  ...['ERR_CELL_RANGE', 'ERR_TABLE_LAST_ROW', 'ERR_TABLE_LAST_COLUMN', 'ERR_MERGE_SINGLE_CELL', 'ERR_MERGE_PARTIAL_SPAN'],
  ...['ERR_SPLIT_NOT_MERGED', 'ERR_CELL_ATTR', 'ERR_TABLE_HAS_MERGES', 'ERR_SHAPE_NOT_FOUND', 'ERR_SHAPE_KIND'],
  ...['ERR_SHAPE_ID_TAKEN', 'ERR_CONNECTOR_END', 'ERR_EMPTY_PATCH', 'ERR_DIAGRAM_LIMIT', 'ERR_DIAGRAM_NODE', 'ERR_DIAGRAM_EDGE'],
  ...['ERR_BAD_SOURCE', 'ERR_BAD_FILE_NAME', 'ERR_BAD_BASE64', 'ERR_BAD_BLOB_REF', 'ERR_FILE_NOT_FOUND', 'ERR_FILE_TOO_LARGE'],
  ...['ERR_FILE_TOO_LARGE_FOR_INLINE', 'ERR_INGEST_NOT_CONFIGURED', 'ERR_BAD_URL', 'ERR_URL_NOT_ALLOWED', 'ERR_FETCH_FAILED'],
  ...['ERR_BAD_REFERENCE', 'ERR_REFERENCE_NOT_FOUND', 'ERR_REFERENCE_DUPLICATE', 'ERR_REFERENCE_CITED', 'ERR_DOI_INVALID'],
  ...['ERR_DOI_NOT_FOUND', 'ERR_DOI_UNAVAILABLE', 'ERR_BAD_FIELD_NAME', 'ERR_SKILL_NOT_FOUND'],
]

/** Ops of tables and outlines, and the values of enumerations. [section 3, TABLE-7, CANVAS-1, section 2.2] */
export const TOOL_VALUES: readonly string[] = [
  ...['addRow', 'addColumn', 'deleteRow', 'deleteColumn', 'mergeCells', 'splitCell', 'setCellAttrs', 'moveRow', 'moveColumn'],
  ...['toggleHeaderRow', 'toggleHeaderColumn', 'setColumnWidth', 'promote', 'demote', 'move', 'before', 'after', 'start', 'end'],
  ...['markdown', 'md', 'html', 'layered', 'grid', 'TB', 'LR', 'orthogonal', 'straight'],
  ...['rectangle', 'ellipse', 'text', 'connector', 'auto'],
  ...['dropped_unknown', 'dropped_invalid', 'clamped', 'unwrapped', 'rebuilt_table', 'stripped_children'],
]

/** Members of shapes and of what is given for a diagram. [CANVAS-3..CANVAS-13, CANVAS-18, DIAG-1] */
export const SHAPE_MEMBERS: readonly string[] = [
  ...['id', 'kind', 'type', 'x', 'y', 'w', 'h', 'style', 'text', 'iconId', 'iconDisplayMode', 'iconSize', 'startShapeId'],
  ...['endShapeId', 'startAnchor', 'endAnchor', 'startArrowStyle', 'endArrowStyle', 'routingMode', 'waypoints', 'labelPosition'],
  ...['x2', 'y2'],
]
export const STYLE_MEMBERS: readonly string[] = ['fill', 'stroke', 'strokeWidth', 'labelColor']

/** Members of answers that texts name. [section 3, section 2.2, TABLE-2, FILE-1] */
export const RESULT_MEMBERS: readonly string[] = [
  ...[
    'serverVersion',
    'fixes',
    'warnings',
    'code',
    'nextCursor',
    'blocks',
    'duplicates',
    'existingId',
    'added',
    'size',
    'inStore',
  ],
  ...['hash', 'pages', 'prosePages', 'prosePageId', 'canvasPageId', 'shapeCount', 'table', 'rows', 'cols', 'cells'],
  ...['maxBlobBytes', 'quotaBytes', 'usedBytes'],
]
