import type { LiveDocument } from '@docrelay/client'
import { categoryOf } from '@docrelay/model/canvas/file-category'
import { blobReferencesOf, type DocumentPage, eachFileNode, pagesOf } from './document-files.ts'
import * as Y from 'yjs'

/** A file whose bytes the workspace holds, with the name that a person gave it. */
export interface StoredFile {
  readonly hash: string
  readonly name: string
  readonly mimeType: string
  readonly sizeBytes: number
}

type Shape = Readonly<Record<string, unknown>>

/** Types that browsers show as pictures. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']
const SHAPE = { width: 200, height: 160, gap: 40 }

/**
 * Puts a file at the end of a prose page, as an image or as a chip, or below everything on a canvas page. Call it after every upload, because the
 * relay removes a file that no document uses after a few minutes. [BLOB-15] Returns false when the document was closed or may not be edited, or
 * the page was removed, during the upload.
 */
export function addFile(
  { ydoc, level, gone, isClosed }: Pick<LiveDocument, 'ydoc' | 'level' | 'gone' | 'isClosed'>,
  page: DocumentPage,
  file: StoredFile,
  newId: () => string,
): boolean {
  if (isClosed || gone !== null || level === 'view') return false
  if (!pagesOf(ydoc).some(({ kind, id }) => kind === page.kind && id === page.id)) return false
  ydoc.transact(() => {
    if (page.kind === 'prose') ydoc.getXmlFragment(`prose:${page.id}`).push([blockOf(file)])
    else addShape(ydoc, page.id, file, `shape-${newId()}`)
  })
  return true
}

function blockOf({ hash, name, mimeType, sizeBytes }: StoredFile): Y.XmlElement {
  if (PICTURES.includes(mimeType)) return element('image', { src: `blob://${hash}`, alt: name.replace(/\.[^.]*$/, '') })
  const chip = element('fileRef', { blobRef: `blob://${hash}`, fileName: name, mimeType, fileSize: String(sizeBytes) })
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.insert(0, [chip])
  return paragraph
}

function element(name: string, attrs: Readonly<Record<string, string>>): Y.XmlElement {
  const made = new Y.XmlElement(name)
  for (const [attribute, value] of Object.entries(attrs)) if (value !== '') made.setAttribute(attribute, value)
  return made
}

function addShape(ydoc: Y.Doc, pageId: string, { hash, name, mimeType, sizeBytes }: StoredFile, id: string): void {
  const shapes = ydoc.getMap<Shape>(`shapes:${pageId}`)
  const lowest = Math.max(0, ...[...shapes.values()].map(bottomOf).filter(Number.isFinite))
  shapes.set(id, {
    ...{ id, type: 'file', x: SHAPE.width / 2 + SHAPE.gap, y: lowest + SHAPE.gap + SHAPE.height / 2 },
    ...{ width: SHAPE.width, height: SHAPE.height, rotation: 0, opacity: 1, locked: false, visible: true },
    ...{ blobRef: hash, fileName: name, mimeType, fileSize: sizeBytes, fileCategory: categoryOf(mimeType, name) },
  })
  ydoc.getArray<string>(`shapeOrder:${pageId}`).push([id])
}

function bottomOf(shape: Shape): number {
  const member = (name: string) => (typeof shape[name] === 'number' ? shape[name] : 0)
  return Math.max(member('y') + member('height') / 2 + member('radiusY'), member('y2'))
}

/**
 * Removes a file from every page. A figure goes with its image, a gallery with its last image, and a shape that shows the file goes as a whole. A
 * shape with the file as its icon only loses the icon. Returns how many uses were removed.
 */
export function removeFile(ydoc: Y.Doc, hash: string): number {
  return ydoc.transact(() => {
    let removed = 0
    for (const page of pagesOf(ydoc))
      removed +=
        page.kind === 'prose' ? removeNodes(ydoc.getXmlFragment(`prose:${page.id}`), hash) : removeShapes(ydoc, page.id, hash)
    return removed
  })
}

function removeNodes(fragment: Y.XmlFragment, hash: string): number {
  const nodes: Y.XmlElement[] = []
  eachFileNode(fragment, (node, used) => used === hash && nodes.push(node))
  for (const node of nodes) {
    let gone: Y.XmlElement = node
    // Removes the figure or gallery that cannot exist without this node.
    while (gone.parent instanceof Y.XmlElement && needs(gone.parent)) gone = gone.parent
    const parent = gone.parent as Y.XmlFragment
    parent.delete(parent.toArray().indexOf(gone), 1)
  }
  return nodes.length
}

function needs(parent: Y.XmlElement): boolean {
  return parent.nodeName === 'figure' || (parent.nodeName === 'gallery' && parent.length === 1)
}

function removeShapes(ydoc: Y.Doc, pageId: string, hash: string): number {
  const shapes = ydoc.getMap<Shape>(`shapes:${pageId}`)
  const using = [...shapes.entries()].filter(([, shape]) => blobReferencesOf(shape).includes(hash))
  const gone = new Set<string>()
  for (const [id, shape] of using) {
    const { iconId, ...others } = shape
    if (typeof iconId === 'string' && iconId.endsWith(hash) && !blobReferencesOf(others).includes(hash)) shapes.set(id, others)
    else gone.add(id)
  }
  for (const id of gone) shapes.delete(id)
  const order = ydoc.getArray<string>(`shapeOrder:${pageId}`)
  for (let at = order.length - 1; at >= 0; at--) if (gone.has(order.get(at))) order.delete(at, 1)
  for (const [id, shape] of [...shapes.entries()]) freeEnds(shapes, id, shape, gone)
  return using.length
}

/** Detaches a connector from removed shapes; its ends keep their place. */
function freeEnds(shapes: Y.Map<Shape>, id: string, shape: Shape, gone: ReadonlySet<string>): void {
  const ends = ['startShapeId', 'endShapeId'].filter((end) => gone.has(String(shape[end])))
  if (ends.length > 0) shapes.set(id, { ...shape, ...Object.fromEntries(ends.map((end) => [end, null])) })
}
