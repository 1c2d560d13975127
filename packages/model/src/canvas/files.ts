import { blobReferencesIn } from '../blob-references.ts'
import type { CanvasPage, DocumentBody, ProsePage } from '../body.ts'
import { memberOf } from '../json.ts'
import type { ProseElement, ProseNode } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { categoryOf } from './file-category.ts'
import { shapesInOrder } from './read-back.ts'
import { bareHash, stringOf } from './stored-shape.ts'

/** A file that a document references, with the facts that the document itself stores. [FILE-1] */
export interface FileReference {
  /** The id of the shape on a canvas page, the hash in prose. */
  readonly id: string
  readonly name: string
  readonly source: 'canvas' | 'prose'
  readonly pageId: string
  readonly shapeId?: string
  readonly hash: string
  readonly fileName?: string
  /** The MIME type that the document stores. `mimeType` and `size` are absent when the document does not store them. */
  readonly mimeType?: string
  readonly size?: number
  /** The category that the document stores. When absent, `fileEntry` derives it from the type and the name. */
  readonly fileCategory?: string
}

/** The size and type of a file whose bytes the workspace holds. */
export interface HeldFile {
  readonly size: number
  readonly mimeType: string
}

export interface FileEntry {
  readonly id: string
  readonly name: string
  readonly mimeType: string | null
  readonly size: number | null
  readonly source: 'canvas' | 'prose'
  readonly pageId: string
  readonly shapeId?: string
  readonly hash: string
  /** The reference to the bytes. `blobRef` and `sizeBytes` are `null` when the workspace does not hold the bytes. */
  readonly blobRef: string | null
  readonly fileName?: string
  readonly sizeBytes: number | null
  readonly fileCategory: string
  readonly inStore: boolean
}

/** Lists the files of a document: those of canvas pages in page order and z-order, then those of prose pages in page order. [FILE-1] */
export function fileReferences(body: DocumentBody): readonly FileReference[] {
  return [...body.canvas.pages.flatMap(canvasFiles), ...body.prose.pages.flatMap(proseFiles)]
}

/**
 * Combines a reference with the size and type of the held bytes; `held` is `undefined` when the workspace does not hold them. The type of the held bytes
 * is used unless it is application/octet-stream. [FILE-1]
 */
export function fileEntry(reference: FileReference, held: HeldFile | undefined): FileEntry {
  const { mimeType: said, size: saidSize, fileCategory, fileName, shapeId, ...named } = reference
  const isTelling = held !== undefined && held.mimeType !== 'application/octet-stream'
  const mimeType = isTelling ? held.mimeType : (said ?? held?.mimeType ?? null)
  return {
    id: named.id,
    name: named.name,
    mimeType,
    size: held?.size ?? saidSize ?? null,
    source: named.source,
    pageId: named.pageId,
    ...(shapeId === undefined ? {} : { shapeId }),
    hash: named.hash,
    blobRef: held === undefined ? null : named.hash,
    ...(fileName === undefined ? {} : { fileName }),
    sizeBytes: held?.size ?? null,
    fileCategory: fileCategory ?? categoryOf(mimeType ?? '', fileName ?? ''),
    inStore: held !== undefined,
  }
}

/** Returns one reference for each shape that names a blob: in `blobRef`, else in `iconId`, else anywhere in the shape. [FILE-2] */
function canvasFiles(page: CanvasPage): readonly FileReference[] {
  return shapesInOrder(page).flatMap(({ id, value }): readonly FileReference[] => {
    const named = bareHash(memberOf(value, 'blobRef')) ?? bareHash(memberOf(value, 'iconId'))
    const hash = named ?? blobReferencesIn(JSON.stringify(value))[0]
    if (hash === undefined) return []
    const fileName = nonEmpty(stringOf(value, 'fileName'))
    const alt = nonEmpty(stringOf(value, 'alt')) ?? nonEmpty(stringOf(value, 'label'))
    const size = memberOf(value, 'fileSize')
    return [
      {
        id,
        name: fileName ?? alt ?? hash,
        source: 'canvas',
        pageId: page.id,
        shapeId: id,
        hash,
        ...present({
          fileName,
          mimeType: nonEmpty(stringOf(value, 'mimeType')),
          size: typeof size === 'number' ? size : undefined,
          fileCategory: nonEmpty(stringOf(value, 'fileCategory')),
        }),
      },
    ]
  })
}

const address = /blob:\/\/([0-9a-f]{64})(?![0-9a-f])/g

/** Returns one reference for each hash that a prose page names: as `blob://<hash>` anywhere, or bare in an image or a file chip. [FILE-2] */
function proseFiles(page: ProsePage): readonly FileReference[] {
  if (!/[0-9a-f]{64}/.test(page.content)) return []
  const said = saidOf(pageTree(page).tree)
  const addresses = [...page.content.matchAll(address)].map((match) => match[1] as string)
  const hashes = new Set([...addresses, ...said.keys()])
  return [...hashes].map((hash) => {
    const { alt, ...facts } = said.get(hash) ?? {}
    return { id: hash, name: facts.fileName ?? alt ?? hash, source: 'prose', pageId: page.id, hash, ...facts }
  })
}

interface Said {
  readonly alt?: string
  readonly fileName?: string
  readonly mimeType?: string
  readonly size?: number
  readonly fileCategory?: string
}

/** Collects what images and file chips store about each hash. For each fact, the first element that has it counts. */
function saidOf(tree: readonly ProseElement[]): ReadonlyMap<string, Said> {
  const found = new Map<string, Said>()
  const add = (reference: unknown, said: Said): void => {
    const hash = bareHash(reference)
    if (hash !== null) found.set(hash, { ...said, ...found.get(hash) })
  }
  const visit = (nodes: readonly ProseNode[]): void => {
    for (const node of nodes) {
      if (node.type === 'text') continue
      const { attrs } = node
      if (node.type === 'image') add(attrs['src'], present({ alt: textOf(attrs['alt']), fileCategory: 'image' }))
      else if (node.type === 'fileRef') {
        const size = Number(attrs['fileSize'] ?? Number.NaN)
        add(
          attrs['blobRef'],
          present({
            fileName: textOf(attrs['fileName']),
            mimeType: textOf(attrs['mimeType']),
            size: Number.isSafeInteger(size) && size >= 0 ? size : undefined,
          }),
        )
      } else visit(node.content)
    }
  }
  visit(tree)
  return found
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? nonEmpty(value) : undefined
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

/** Returns the members that have a value. */
function present<T extends object>(members: T): { readonly [M in keyof T]?: Exclude<T[M], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [M in keyof T]?: Exclude<T[M], undefined>
  }
}
