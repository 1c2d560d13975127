import { shapeKinds } from '@docrelay/model/canvas/shape-kinds'
import type { JsonObject, RateBucket } from '../tool.ts'

/** Schemas of members of answers, nested at most two levels deep. [AG-94] */
export type OutputMembers = Readonly<Record<string, JsonObject>>

export const STRING = { type: 'string' } as const
const COUNT = { type: 'integer' } as const
export const NUMBER = { type: 'number' } as const
export const BOOLEAN = { type: 'boolean' } as const
const ARRAY = { type: 'array' } as const
export const orNull = (type: string) => ({ type: [type, 'null'] })
export const STRINGS = { type: 'array', items: STRING } as const

/** Makes schemas that state only a type, from the names listed under each type. */
export function members(
  types: { readonly [type in 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object']?: string },
): OutputMembers {
  return Object.fromEntries(
    Object.entries(types).flatMap(([type, names]) =>
      names
        .split(' ')
        .filter((name) => name !== '')
        .map((name) => [name, { type }]),
    ),
  )
}

/** Makes the schema of an object that may have further members. */
const object = (properties: OutputMembers): JsonObject => ({ type: 'object', properties })
export const listOf = (properties: OutputMembers): JsonObject => ({ type: 'array', items: object(properties) })

const BLOCK = members({ string: 'id type text' })
const OUTLINE = members({ string: 'title id', integer: 'index level words' })

/** The members that tools show of every shape; the table of shape kinds adds the members of each kind. [CANVAS-16] */
const SHAPE: OutputMembers = {
  ...members({
    string: 'id stamp kind type text startAnchor endAnchor startArrowStyle endArrowStyle routingMode iconId iconDisplayMode',
    number: 'x y w h x2 y2 labelPosition iconSize',
    array: 'waypoints childIds',
    object: 'style',
  }),
  startShapeId: orNull('string'),
  endShapeId: orNull('string'),
  ...Object.fromEntries(
    shapeKinds.flatMap(({ shown }) => shown).map(({ shown, type }) => [shown, type === 'number' ? NUMBER : STRING] as const),
  ),
}

/** An item of the reference library. Only its id has a type that every writer keeps. */
const CSL = members({ string: 'id' })

/** Makes the members for fixes. `places`: members that name the step, shape, node or edge of a fix. */
export const fixes = (bucket: RateBucket, places: string): OutputMembers => ({
  // Fixes of reads concern arguments only.
  fixes: listOf(members({ string: `action reason field${bucket === 'write' ? ' path nodeType' : ''}`, integer: places })),
  fixesTotal: COUNT,
})
export const warnings = (places: string): OutputMembers => ({
  warnings: listOf({ ...members({ string: 'reason field', integer: places }), nearest: ARRAY }),
  warningsTotal: COUNT,
})

/** Schemas of result members that mean the same in every tool. */
export const MEMBERS: OutputMembers = {
  ...members({
    string:
      'access backend base64 blobRef callId canvasPageId content contentContract direction doi fileCategory fileName format hash id mimeType name nextCursor pageId prosePageId routing shapeId skill source style transport url',
    integer:
      'addedCount behind blobBytes changed chipsUpdated count docBytes expiresAt index maxBlobBytes modifiedAt orphanedCitations outlineTotal referenceCount returned serverVersion setCount shapeCount size skipped total unchanged usedBytes words',
    boolean: 'cached edited incomplete lintPartial localAccessEnabled ok partial',
  }),
  lockedBy: orNull('string'),
  collectionId: orNull('string'),
  quotaBytes: orNull('integer'),
  maxDocBytes: orNull('integer'),
  added: STRINGS,
  blocks: listOf(BLOCK),
  bounds: object(members({ number: 'x y w h' })),
  categories: STRINGS,
  changedPaths: STRINGS,
  deleted: STRINGS,
  documents: listOf(members({ string: 'id name source', integer: 'modifiedAt pageCount canvasPageCount prosePageCount' })),
  duplicates: listOf(members({ string: 'id existingId by' })),
  edges: STRINGS,
  edits: listOf({ count: COUNT, ids: STRINGS }),
  fields: listOf(members({ string: 'name value' })),
  files: listOf({
    ...members({ string: 'id name source pageId shapeId hash fileName fileCategory', boolean: 'inStore' }),
    mimeType: orNull('string'),
    blobRef: orNull('string'),
    size: orNull('number'),
    sizeBytes: orNull('number'),
  }),
  hits: listOf(members({ string: 'docId name pageId kind section id snippet', integer: 'sectionIndex', boolean: 'cut' })),
  icons: listOf(members({ string: 'id name category' })),
  ids: STRINGS,
  item: object(CSL),
  kept: listOf({ ...members({ string: 'id text' }), changedBy: { type: 'object' } }),
  layout: object(
    members({ string: 'name', integer: 'overlaps throughNodes crossings bends labelOverflow', number: 'width height' }),
  ),
  lint: listOf({ kind: STRING, shapes: STRINGS }),
  lintTotal: COUNT,
  news: object(members({ integer: 'since blocks shapes', boolean: 'more', array: 'by ids pages' })),
  nodes: { type: 'object', additionalProperties: STRING },
  order: STRINGS,
  outline: listOf(OUTLINE),
  page: object(members({ string: 'id name content', number: 'order' })),
  prosePages: listOf(members({ string: 'id name', number: 'order' })),
  reference: object(CSL),
  references: listOf(CSL),
  removed: listOf(members({ string: 'id text' })),
  removedNames: STRINGS,
  rerouted: STRINGS,
  set: STRINGS,
  shape: object(SHAPE),
  shapes: listOf(SHAPE),
  skills: listOf(members({ string: 'skill title whenToUse', array: 'arguments' })),
  steps: listOf(members({ string: 'tool', integer: 'changed', object: 'result' })),
  table: object(members({ string: 'id', integer: 'tableIndex tableCount rows cols', array: 'cells' })),
  undone: STRINGS,
  updated: STRINGS,
  ...warnings(''),
}

/** By list: the member with the full number of items when the list is shortened. */
export const TOTALS: Readonly<Record<string, string>> = { blocks: 'blocksTotal', kept: 'keptTotal', removed: 'removedTotal' }

const PLACE = members({ integer: 'row col rowspan colspan' })
const WHO = object(members({ string: 'id kind name' }))
/** A block or a shape in its current state; the content of a shape is an object. */
const NOW: OutputMembers = { ...members({ string: 'id type', boolean: 'cut' }), content: { type: ['string', 'object'] } }
const UNSEEN = listOf({ ...NOW, changedBy: { type: 'object' } })

/** Schemas of the facts of failures. A fact has one meaning in all failures; some have several types. [TOOL-28] */
export const FACTS: OutputMembers = {
  ...members({
    string:
      'anchor around attribute code currentText docId doi end existingId find from hash hint host kind message name otherPage pageId path reason reference role shapeId skill source to tool type undoneBy until which',
    integer:
      'bytes characters col cols count edge edges edit index maxBytes more node nodes open row rows sectionCount serverVersion shape sizeBytes status step tableCount tableIndex total words',
    boolean: 'deleted retryable seen',
  }),
  // The value that the caller sent, of any type.
  got: { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] },
  max: { type: ['integer', 'object'] },
  // `null` when the caller sent none.
  id: orNull('string'),
  callId: orNull('string'),
  allowed: STRINGS,
  duplicate: STRINGS,
  given: STRINGS,
  known: STRINGS,
  members: STRINGS,
  missing: STRINGS,
  unknown: STRINGS,
  nearest: { type: ['string', 'array'] },
  addedBlocks: UNSEEN,
  changedBlocks: UNSEEN,
  removedBlocks: UNSEEN,
  calls: listOf(members({ string: 'callId tool', integer: 'at' })),
  cell: object(PLACE),
  cells: listOf(PLACE),
  changedBy: WHO,
  removedBy: WHO,
  current: object(NOW),
  matches: listOf(members({ string: 'id type text' })),
  pages: listOf(members({ string: 'id name' })),
  places: listOf(members({ integer: 'occurrence', string: 'id pageId text' })),
  rect: object(members({ integer: 'fromRow fromCol toRow toCol' })),
  sites: listOf({ ...members({ string: 'pageId pageName text' }), blockId: orNull('string') }),
  fixes: fixes('write', '')['fixes'] as JsonObject,
}
