import { blobReferencesIn } from '@docrelay/model/blob-references'
import * as Y from 'yjs'

export interface DocumentPage {
  readonly kind: 'prose' | 'canvas'
  readonly id: string
  readonly name: string
}

/** One place in which a document uses a file. */
export interface FileUse {
  readonly page: DocumentPage
  /** The shape, for a use on a canvas page. */
  readonly shapeId?: string
}

/** A file as the document describes it. Equal bytes are one file, however often they are used. */
export interface DocumentFile {
  readonly hash: string
  readonly name: string
  /** `null` when the document names no type. */
  readonly mimeType: string | null
  readonly sizeBytes: number | null
  readonly uses: readonly FileUse[]
}

type Said = Partial<Pick<DocumentFile, 'name' | 'mimeType' | 'sizeBytes'>>

const ADDRESS = /^(?:blob:\/\/)?([0-9a-f]{64})$/

/** Lists the pages of a live document in their order, prose first. */
export function pagesOf(ydoc: Y.Doc): readonly DocumentPage[] {
  return [...pagesOfKind(ydoc, 'prose'), ...pagesOfKind(ydoc, 'canvas')]
}

function pagesOfKind(ydoc: Y.Doc, kind: DocumentPage['kind']): readonly DocumentPage[] {
  const pages = ydoc.getMap<unknown>(`${kind}Pages`)
  // An order may repeat a page or name a deleted one. Pages that the order does not name come last.
  const ids = new Set([...ydoc.getArray<string>(`${kind}PageOrder`).toArray(), ...pages.keys()])
  return [...ids].flatMap((id) => {
    if (!pages.has(id)) return []
    const name = (pages.get(id) as { readonly name?: unknown } | null)?.name
    return [{ kind, id, name: typeof name === 'string' && name !== '' ? name : id }]
  })
}

/** Lists the files that the pages of a live document use, by name. [BLOB-1] */
export function filesOf(ydoc: Y.Doc): readonly DocumentFile[] {
  const found = new Map<string, { said: Said; uses: FileUse[] }>()
  const add = (hash: string, use: FileUse, said: Said) => {
    const known = found.get(hash)
    if (known === undefined) found.set(hash, { said, uses: [use] })
    else {
      known.said = { ...said, ...known.said }
      known.uses.push(use)
    }
  }
  for (const page of pagesOf(ydoc)) {
    if (page.kind === 'prose')
      eachFileNode(ydoc.getXmlFragment(`prose:${page.id}`), (node, hash) => add(hash, { page }, saidByNode(node)))
    else
      for (const [shapeId, shape] of ydoc.getMap<unknown>(`shapes:${page.id}`).entries())
        for (const hash of blobReferencesOf(shape)) add(hash, { page, shapeId }, saidByShape(shape))
  }
  return [...found]
    .map(([hash, { said, uses }]) => ({
      hash,
      name: said.name ?? hash,
      mimeType: said.mimeType ?? null,
      sizeBytes: said.sizeBytes ?? null,
      uses,
    }))
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Returns the hashes that a shape names, including that of its icon. */
export function blobReferencesOf(shape: unknown): readonly string[] {
  if (typeof shape !== 'object' || shape === null) return []
  const icon = hashOf((shape as { readonly iconId?: unknown }).iconId)
  return [...new Set([...(icon === null ? [] : [icon]), ...blobReferencesIn(JSON.stringify(shape))])]
}

/** Calls `visit` for each image and file chip of a stored file. */
export function eachFileNode(parent: Y.XmlFragment, visit: (node: Y.XmlElement, hash: string) => void): void {
  for (const node of parent.toArray()) {
    if (!(node instanceof Y.XmlElement)) continue
    const source = node.nodeName === 'image' ? 'src' : node.nodeName === 'fileRef' ? 'blobRef' : null
    const hash = source === null ? null : hashOf(node.getAttribute(source))
    if (hash !== null) visit(node, hash)
    eachFileNode(node, visit)
  }
}

function hashOf(reference: unknown): string | null {
  return (typeof reference === 'string' ? ADDRESS.exec(reference)?.[1] : null) ?? null
}

function saidByNode(node: Y.XmlElement): Said {
  const size = Number(node.getAttribute('fileSize') ?? Number.NaN)
  return said(node.getAttribute('fileName') ?? node.getAttribute('alt'), node.getAttribute('mimeType'), size)
}

function saidByShape(shape: unknown): Said {
  const { fileName, alt, mimeType, fileSize } = shape as Readonly<Record<string, unknown>>
  return said(fileName ?? alt, mimeType, fileSize)
}

function said(name: unknown, mimeType: unknown, sizeBytes: unknown): Said {
  return {
    ...(typeof name === 'string' && name !== '' && { name }),
    ...(typeof mimeType === 'string' && mimeType !== '' && { mimeType }),
    ...(typeof sizeBytes === 'number' && Number.isSafeInteger(sizeBytes) && sizeBytes >= 0 && { sizeBytes }),
  }
}
