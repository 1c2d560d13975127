import type {
  CanvasPage,
  ContainerForm,
  DocumentBody,
  Fields,
  MemberOrder,
  Opaque,
  ProseContainer,
  ProsePage,
  References,
} from './body.ts'
import { BLOB_REFERENCES, blobReferencesIn, listedBlobReferences } from './blob-references.ts'
import { groupMembers } from './body-order.ts'
import { withMembers } from './body-title.ts'
import type { JsonObject } from './json.ts'

type WrittenForm = Exclude<ContainerForm, 'absent'>

/**
 * Writes a body as it is stored: compact UTF-8 JSON, always with both page containers, without the server's own
 * members. [BODY-3, BODY-14]
 */
export function writeStoredBody(body: DocumentBody): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(writeBody(body))
}

/** A stored body whose member `blobReferences` is correct. */
export interface SettledBody {
  readonly body: DocumentBody
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The hashes of the referenced blobs, sorted, each once. */
  readonly blobReferences: readonly string[]
}

/**
 * Writes a body with its reference set: the references of the content and, with `withListed`, those of the body's own
 * list. A body without references and without the member gets none. [BLOB-2]
 */
export function writeSettledBody(given: DocumentBody, withListed: boolean): SettledBody {
  // Only the hashes of the list are used, so that an odd entry of the list does not count as content.
  const body = withReferences(given, listedBlobReferences(given))
  const text = writeBody(body)
  const inContent = blobReferencesIn(text)
  const blobReferences = withListed ? [...new Set([...inContent, ...listedBlobReferences(body)])].sort() : inContent
  const settled = withReferences(body, blobReferences)
  const bytes = settled === body ? new TextEncoder().encode(text) : writeStoredBody(settled)
  return { body: settled, bytes, blobReferences }
}

/** Sets the member `blobReferences` of a body. Returns `body` itself when this member is correct already. */
function withReferences(body: DocumentBody, references: readonly string[]): DocumentBody {
  const own = body.members.get(BLOB_REFERENCES)
  if (own === undefined && references.length === 0) return body
  const same = Array.isArray(own) && own.length === references.length && own.every((entry, i) => entry === references[i])
  return same ? body : withMembers(body, new Map([[BLOB_REFERENCES, references]]))
}

/** Returns the text for `writeStoredBody`; each container is written in its own form. [BODY-2] */
export function writeBody(body: DocumentBody): string {
  const { canvas, prose } = writtenForms(body)
  const members = new Map<string, string>()
  for (const [name, value] of body.members) members.set(name, JSON.stringify(value))
  const pages = body.canvas.pages
  members.set(
    'pages',
    records(canvas, pages, (page) => writeCanvasPage(page, canvas)),
  )
  if (canvas === 'keyed') members.set('pageOrder', JSON.stringify(pages.map((page) => page.id)))
  members.set('richTextPages', writeProse(body.prose, prose))
  if (body.references !== undefined) members.set('references', writeReferences(body.references))
  if (body.fields !== undefined) members.set('fields', writeFields(body.fields))
  return inOrder(members, body.memberOrder)
}

/**
 * Returns the form of each page container: its own form, else the form of the other container, else the list form. [BODY-2, BODY-3]
 */
export function writtenForms(body: DocumentBody): { readonly canvas: WrittenForm; readonly prose: WrittenForm } {
  const own = (form: ContainerForm, other: ContainerForm): WrittenForm =>
    form !== 'absent' ? form : other !== 'absent' ? other : 'list'
  return { canvas: own(body.canvas.form, body.prose.form), prose: own(body.prose.form, body.canvas.form) }
}

function writeCanvasPage(page: CanvasPage, container: WrittenForm): string {
  const members = textMembers(page.members)
  if (page.shapesForm === 'absent' && page.shapes.length === 0) return inOrder(members, page.memberOrder)
  const form = page.shapesForm === 'absent' ? container : page.shapesForm
  // Shapes are the largest part of most bodies, and one call for all is several times faster than one for each.
  const shapes =
    form === 'list' ? page.shapes.map(({ value }) => value) : Object.fromEntries(page.shapes.map(({ id, value }) => [id, value]))
  members.set('shapes', JSON.stringify(shapes))
  if (form === 'keyed') members.set('shapeOrder', JSON.stringify(rootShapes(page)))
  return inOrder(members, page.memberOrder)
}

/** Returns the shapes that `shapeOrder` names: all except the members of groups. [BODY-4] */
export function rootShapes(page: CanvasPage): readonly string[] {
  const grouped = groupMembers(new Map(page.shapes.map((shape) => [shape.id, shape.value])))
  return page.shapes.filter((shape) => !grouped.has(shape.id)).map((shape) => shape.id)
}

function writeProse(prose: ProseContainer, form: WrittenForm): string {
  const pages = records(form, prose.pages, writeProsePage)
  if (form === 'list') return pages
  const members = textMembers(prose.members)
  members.set('pages', pages)
  members.set('pageOrder', JSON.stringify(prose.pages.map((page) => page.id)))
  return inOrder(members, prose.memberOrder)
}

function writeProsePage(page: ProsePage): string {
  const members = textMembers(page.members)
  const cameWithout = page.memberOrder !== undefined && !page.memberOrder.includes('content')
  if (page.content !== '' || !cameWithout) members.set('content', JSON.stringify(page.content))
  return inOrder(members, page.memberOrder)
}

function writeReferences(references: References | Opaque): string {
  if (references.kind === 'opaque') return JSON.stringify(references.value)
  const members = textMembers(references.members)
  members.set('items', JSON.stringify(Object.fromEntries(references.items)))
  members.set(references.orderName, JSON.stringify(references.order))
  return inOrder(members, references.memberOrder)
}

function writeFields(fields: Fields | Opaque): string {
  if (fields.kind === 'opaque') return JSON.stringify(fields.value)
  const members = textMembers(fields.members)
  members.set('fields', JSON.stringify(Object.fromEntries(fields.items)))
  members.set('order', JSON.stringify(fields.order))
  return inOrder(members, fields.memberOrder)
}

function records<T extends { readonly id: string }>(
  form: WrittenForm,
  entries: readonly T[],
  write: (entry: T) => string,
): string {
  if (form === 'list') return `[${entries.map(write).join(',')}]`
  return `{${entries.map((entry) => `${JSON.stringify(entry.id)}:${write(entry)}`).join(',')}}`
}

function textMembers(members: JsonObject): Map<string, string> {
  return new Map(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

/**
 * Returns an object made of the texts of its members: first those that `order` names, then the rest in their own order.
 */
function inOrder(members: ReadonlyMap<string, string>, order: MemberOrder = []): string {
  const names = new Set([...order.filter((name) => members.has(name)), ...members.keys()])
  // A JavaScript object puts names that look like array indexes first, and so does parsing. Writing follows that order,
  // so that a stored body is read back in the order in which it was written.
  const settled = Object.keys(Object.fromEntries([...names].map((name) => [name, 0])))
  return `{${settled.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join(',')}}`
}
