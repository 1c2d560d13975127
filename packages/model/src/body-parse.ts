import type {
  CanvasContainer,
  CanvasPage,
  ContainerForm,
  DocumentBody,
  Fields,
  Opaque,
  ProseContainer,
  ProsePage,
  References,
  Shape,
} from './body.ts'
import { healOrder, stackShapes } from './body-order.ts'
import { derivedId, idFlaw } from './ids.ts'
import { isJsonObject, type Json, type JsonObject, memberOf, omitMembers, setMember } from './json.ts'

/** Members that the relay keeps beside the stored body and adds to answers. [BODY-10] */
export const SERVER_MEMBERS: ReadonlySet<string> = new Set([
  'serverVersion',
  'version',
  'ownerId',
  'ownerName',
  'isRelayDocument',
  'collectionId',
  'sharedWith',
])

/**
 * `put`: the input of a caller, refused where BODY-5 says so. `stored`: written by the relay, so its ids are not
 * checked.
 */
export type BodySource = 'put' | 'stored'

/** `path` is the JSON Pointer of the part that broke the rule. [BODY-5] */
export type ParsedBody =
  | { readonly ok: true; readonly body: DocumentBody }
  | { readonly ok: false; readonly path: string; readonly reason: string }

/**
 * Reads an open JSON document in either form, or a mix of both, into one normalised model: orders healed, group members
 * after their group, ids complete. [BODY-1..BODY-5] Changes nothing else; members that the model does not name are
 * kept. [BODY-7]
 */
export function parseBody(value: Json, source: BodySource = 'put'): ParsedBody {
  try {
    if (!isJsonObject(value)) throw new Flaw('', 'the document body is not an object')
    return { ok: true, body: readBody(value, source) }
  } catch (error) {
    if (error instanceof Flaw) return { ok: false, path: error.path, reason: error.reason }
    throw error
  }
}

/**
 * Reads bytes that `writeStoredBody` made. Throws on anything else: stored bytes that cannot be read are damage and not
 * input.
 */
export function readStoredBody(bytes: Uint8Array): DocumentBody {
  const parsed = parseBody(JSON.parse(new TextDecoder().decode(bytes)) as Json, 'stored')
  if (!parsed.ok) throw new Error(`the stored body is damaged at ${parsed.path}: ${parsed.reason}`)
  return parsed.body
}

/** A body without any member: reconciled with it, a live document shows only its own content. */
export const EMPTY_BODY: DocumentBody = {
  memberOrder: [],
  members: new Map(),
  canvas: { form: 'absent', pages: [] },
  prose: { form: 'absent', members: {}, pages: [] },
  references: undefined,
  fields: undefined,
}

/** Carries a refusal out of nested functions; never leaves this file. */
class Flaw extends Error {
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(reason)
    this.path = path
    this.reason = reason
  }
}

function readBody(value: JsonObject, source: BodySource): DocumentBody {
  const keyed = isJsonObject(memberOf(value, 'pages'))
  const taken = new Set(keyed ? ['pages', 'pageOrder'] : ['pages'])
  for (const name of ['richTextPages', 'references', 'fields', ...SERVER_MEMBERS]) taken.add(name)
  const names = Object.keys(value)
  return {
    memberOrder: names.filter((name) => !SERVER_MEMBERS.has(name)),
    members: new Map(names.filter((name) => !taken.has(name)).map((name) => [name, value[name] as Json])),
    canvas: readCanvas(value, source),
    prose: readProse(memberOf(value, 'richTextPages'), source),
    references: readReferences(memberOf(value, 'references'), source),
    fields: readFields(memberOf(value, 'fields'), source),
  }
}

function readCanvas(body: JsonObject, source: BodySource): CanvasContainer {
  const pages = memberOf(body, 'pages')
  if (pages === undefined) return { form: 'absent', pages: [] }
  const read = readRecords({
    records: pages,
    order: memberOf(body, 'pageOrder'),
    path: '/pages',
    orderPath: '/pageOrder',
    prefix: 'page-',
    source,
  })
  const ids = healOrder(read.listed, read.records)
  return {
    form: read.form,
    pages: ids.map((id) => readCanvasPage(id, read.records.get(id) as JsonObject, read.pathOf(id), source)),
  }
}

function readCanvasPage(id: string, value: JsonObject, path: string, source: BodySource): CanvasPage {
  const shapes = memberOf(value, 'shapes')
  const memberOrder = Object.keys(value)
  if (shapes === undefined) return { id, members: value, memberOrder, shapesForm: 'absent', shapes: [] }
  const order = memberOf(value, 'shapeOrder')
  const read = readRecords({
    records: shapes,
    order,
    path: `${path}/shapes`,
    orderPath: `${path}/shapeOrder`,
    prefix: 'shape-',
    source,
  })
  const ids = stackShapes(read.listed, read.records)
  return {
    id,
    members: read.form === 'keyed' ? omitMembers(value, 'shapes', 'shapeOrder') : omitMembers(value, 'shapes'),
    memberOrder,
    shapesForm: read.form,
    shapes: ids.map((shapeId): Shape => ({ id: shapeId, value: read.records.get(shapeId) as JsonObject })),
  }
}

function readProse(value: Json | undefined, source: BodySource): ProseContainer {
  if (value === undefined) return { form: 'absent', members: {}, pages: [] }
  const keyed = isJsonObject(value)
  const container = keyed ? value : {}
  const base = keyed ? '/richTextPages/pages' : '/richTextPages'
  const read = readRecords({
    records: keyed ? (memberOf(container, 'pages') ?? {}) : value,
    keyedOnly: keyed,
    order: memberOf(container, 'pageOrder'),
    path: base,
    orderPath: '/richTextPages/pageOrder',
    prefix: 'page-',
    source,
  })
  const pages = healOrder(read.listed, read.records).map((id) =>
    readProsePage(id, read.records.get(id) as JsonObject, read.pathOf(id)),
  )
  if (!keyed) return { form: 'list', members: {}, pages }
  return { form: 'keyed', members: omitMembers(container, 'pages', 'pageOrder'), memberOrder: Object.keys(container), pages }
}

function readProsePage(id: string, value: JsonObject, path: string): ProsePage {
  const content = memberOf(value, 'content') ?? (Object.hasOwn(value, 'content') ? null : '')
  if (typeof content !== 'string') throw new Flaw(`${path}/content`, 'content is not a string')
  return { id, members: omitMembers(value, 'content'), memberOrder: Object.keys(value), content }
}

function readReferences(value: Json | undefined, source: BodySource): References | Opaque | undefined {
  if (value === undefined) return undefined
  if (!isJsonObject(value)) throw new Flaw('/references', 'references is not an object')
  const items = memberOf(value, 'items')
  if (!isJsonObject(items)) return { kind: 'opaque', value }
  const orderName = !Object.hasOwn(value, 'itemOrder') && Object.hasOwn(value, 'order') ? 'order' : 'itemOrder'
  const read = readMap(items, memberOf(value, orderName), '/references/items', `/references/${orderName}`, source)
  return {
    kind: 'references',
    ...read,
    orderName,
    members: omitMembers(value, 'items', orderName),
    memberOrder: Object.keys(value),
  }
}

function readFields(value: Json | undefined, source: BodySource): Fields | Opaque | undefined {
  if (value === undefined) return undefined
  if (!isJsonObject(value)) throw new Flaw('/fields', 'fields is not an object')
  const fields = memberOf(value, 'fields')
  if (!isJsonObject(fields)) return { kind: 'opaque', value }
  const read = readMap(fields, memberOf(value, 'order'), '/fields/fields', '/fields/order', source)
  return { kind: 'fields', ...read, members: omitMembers(value, 'fields', 'order'), memberOrder: Object.keys(value) }
}

/**
 * Reads the entries of `references` and `fields`, which are always keyed; their `id` or `name` member may differ from
 * the key.
 */
function readMap(
  entries: JsonObject,
  order: Json | undefined,
  path: string,
  orderPath: string,
  source: BodySource,
): { items: ReadonlyMap<string, JsonObject>; order: readonly string[] } {
  const items = new Map<string, JsonObject>()
  for (const [id, entry] of Object.entries(entries)) items.set(id, readEntry(id, entry, `${path}/${escapePointer(id)}`, source))
  return { items, order: healOrder(readOrder(order, orderPath), items) }
}

interface RecordsInput {
  readonly records: Json
  readonly keyedOnly?: boolean
  readonly order: Json | undefined
  readonly path: string
  readonly orderPath: string
  readonly prefix: 'page-' | 'shape-'
  readonly source: BodySource
}

interface Records {
  readonly form: Exclude<ContainerForm, 'absent'>
  readonly records: ReadonlyMap<string, JsonObject>
  readonly listed: readonly unknown[]
  readonly pathOf: (id: string) => string
}

/** Pages or shapes in either form, each with its `id` member set. */
function readRecords(input: RecordsInput): Records {
  if (Array.isArray(input.records) && input.keyedOnly !== true) return readList(input.records as readonly Json[], input)
  if (!isJsonObject(input.records))
    throw new Flaw(input.path, `${input.path.slice(1)} is neither a list nor an object of entries`)
  const records = new Map<string, JsonObject>()
  const pathOf = (id: string): string => `${input.path}/${escapePointer(id)}`
  for (const [id, entry] of Object.entries(input.records)) {
    const value = readEntry(id, entry, pathOf(id), input.source)
    records.set(id, memberOf(value, 'id') === id ? value : withId(value, id))
  }
  return { form: 'keyed', records, listed: readOrder(input.order, input.orderPath), pathOf }
}

function readList(list: readonly Json[], input: RecordsInput): Records {
  const records = new Map<string, JsonObject>()
  const indexes = new Map<string, number>()
  const nameless: number[] = []
  for (const [index, entry] of list.entries()) {
    const path = `${input.path}/${index}`
    if (!isJsonObject(entry)) throw new Flaw(path, 'an entry is not an object')
    const id = memberOf(entry, 'id')
    if (id === undefined) {
      nameless.push(index)
      continue
    }
    if (typeof id !== 'string') throw new Flaw(`${path}/id`, 'an id is not a string')
    readEntry(id, entry, `${path}/id`, input.source)
    if (records.has(id)) throw new Flaw(`${path}/id`, 'two entries have one id')
    records.set(id, entry)
    indexes.set(id, index)
  }
  for (const index of nameless) {
    const entry = list[index] as JsonObject
    const id = derivedId(input.prefix, `${index}:${JSON.stringify(entry)}`, indexes)
    records.set(id, withId(entry, id))
    indexes.set(id, index)
  }
  const listed = [...indexes].sort((a, b) => a[1] - b[1]).map(([id]) => id)
  return { form: 'list', records, listed, pathOf: (id) => `${input.path}/${indexes.get(id)}` }
}

function withId(entry: JsonObject, id: string): JsonObject {
  return Object.hasOwn(entry, 'id') ? setMember(entry, 'id', id) : { id, ...entry }
}

function readEntry(id: string, entry: Json, path: string, source: BodySource): JsonObject {
  if (!isJsonObject(entry)) throw new Flaw(path, 'an entry is not an object')
  const flaw = source === 'put' ? idFlaw(id) : null
  if (flaw !== null) throw new Flaw(path, flaw)
  return entry
}

function readOrder(order: Json | undefined, path: string): readonly unknown[] {
  if (order === undefined) return []
  if (!Array.isArray(order)) throw new Flaw(path, 'an order is not a list')
  return order
}

/** One name as a step of a JSON Pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
