import type { Shape } from '../body.ts'
import { type Edit, type EditRow, isRefusal, refused, type Refusal } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { NameHints } from '../nearest.ts'
import { quote } from '../quote.ts'
import { coverWarnings } from './add-shapes.ts'
import { withInput } from './apply-input.ts'
import { categoryOf, type FileCategory } from './file-category.ts'
import { findCanvasPage } from './find-page.ts'
import { shapeValues } from './page-geometry.ts'
import { baseDefaults, kindOf } from './shape-kinds.ts'
import { readShapeInput } from './shape-input.ts'
import { bareHash } from './stored-shape.ts'
import { mintShapeId, signed, withShapes, writtenTo } from './write-page.ts'

/** The sources that the bytes of a file can come from. A call gives exactly one of them. */
export const fileSources = ['url', 'base64', 'blobRef'] as const

export interface FileSource {
  readonly fileName: string
  readonly url?: string | undefined
  readonly base64?: string | undefined
  readonly blobRef?: string | undefined
  /** The Authorization header of the request for `url`. A call that gives it with any other source is refused. */
  readonly authorization?: string | undefined
}

/** A file whose bytes the workspace already holds. */
export interface StoredFile {
  readonly hash: string
  readonly mimeType: string
  readonly sizeBytes: number
}

export interface AddFile {
  readonly pageId: string
  readonly fileName: string
  /** The centre of the new shape. */
  readonly x?: number | undefined
  readonly y?: number | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly label?: string | undefined
  /** The bytes of the source. The caller stores them before it runs the edit, since an edit does no I/O. */
  readonly stored: StoredFile
}

export interface FileAdded {
  readonly shapeId: string
  readonly pageId: string
  readonly hash: string
  readonly blobRef: string
  readonly fileName: string
  readonly mimeType: string
  readonly size: number
  readonly fileCategory: FileCategory
}

/** The members of a DSL object that `add_file` has as arguments under other names. */
const argumentNames: Readonly<Record<string, string>> = { w: 'width', h: 'height', text: 'label' }

/** Adds a file as a shape on top of a page. [TOOL-add_file, FILE-7] */
export const addFile: Edit<AddFile, FileAdded> = (body, args, environment) => {
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const { fileName, stored, x, y, width: w, height: h, label: text } = args
  const { hash, mimeType, sizeBytes: size } = stored
  const kind = kindOf({ type: 'file' })
  const given = Object.fromEntries(Object.entries({ x, y, w, h, text }).filter(([, member]) => member !== undefined))
  const { input, fixes } = readShapeInput(given as JsonObject, {
    kind,
    ignored: [],
    ofOtherKinds: () => 'dropped_unknown',
    icons: {},
    hints: new NameHints(),
  })
  const present = shapeValues(page)
  const id = mintShapeId(body, present, environment)
  const fileCategory = categoryOf(mimeType, fileName)
  const { fill, stroke, labelColour, labelSize } = kind.look
  const bare: JsonObject = {
    ...{ id, type: 'file', x: 0, y: 0, ...baseDefaults, ...kind.size?.default, fill, stroke, strokeWidth: 1 },
    ...{ blobRef: hash, fileName, mimeType, fileSize: size, fileCategory },
    ...{ labelFontSize: labelSize, labelColor: labelColour },
  }
  const shape: Shape = { id, value: signed(withInput(bare, input), environment.nowMs) }
  const covering = coverWarnings([id], new Map([...present, [id, shape.value]]))
  return writtenTo({
    page,
    body: withShapes(body, page, [...page.shapes, shape]),
    result: { shapeId: id, pageId: page.id, hash, blobRef: hash, fileName, mimeType, size, fileCategory },
    fixes: fixes.map(renamed),
    warnings: covering.map(({ reason, field }) => renamed(field === undefined ? { reason } : { reason, field })),
    selection: [id],
  })
}

/** Replaces the name of a DSL member in a fix or a warning with the name of the argument: `w` becomes `width`. */
function renamed<T extends { readonly field?: string }>(note: T): T {
  const name = note.field === undefined ? undefined : argumentNames[note.field]
  return name === undefined ? note : { ...note, field: name }
}

/**
 * Checks the arguments of `add_file` without the document. Refuses a call without exactly one source, an `authorization` without `url`, and a malformed
 * file name or hash; returns `null` for every other call. [MCP-3, FILE-5]
 */
export function addFileFlaw(args: FileSource): Refusal | null {
  const given = fileSources.filter((name) => args[name] !== undefined)
  if (given.length !== 1) {
    const got = given.length === 0 ? 'none' : given.join(', ')
    return refused('ERR_BAD_SOURCE', `Give exactly one of ${fileSources.join(', ')}; ${got} came.`, { given })
  }
  if (args.authorization !== undefined && args.url === undefined) {
    const expected = 'nothing unless url is given'
    return refused('ERR_BAD_ARGUMENT', `authorization is sent with the request for url; expected ${expected}.`, {
      argument: 'authorization',
      expected,
    })
  }
  return fileNameFlaw(args.fileName) ?? blobRefFlaw(args.blobRef)
}

const maxNameBytes = 255
const unusable = /[\p{Cc}\p{Cs}\u2028\u2029/\\]/u

function fileNameFlaw(fileName: string): Refusal | null {
  const isUsable =
    fileName.trim() !== '' &&
    fileName !== '.' &&
    fileName !== '..' &&
    fileName.length <= maxNameBytes &&
    !unusable.test(fileName) &&
    new TextEncoder().encode(fileName).length <= maxNameBytes
  if (isUsable) return null
  const rule = `1 to ${maxNameBytes} bytes, without a path and without control characters`
  return refused('ERR_BAD_FILE_NAME', `fileName must be the bare name of a file: ${rule}.`)
}

function blobRefFlaw(blobRef: string | undefined): Refusal | null {
  if (blobRef === undefined || bareHash(blobRef) !== null) return null
  const got = quote(blobRef)
  return refused('ERR_BAD_BLOB_REF', `blobRef must be 64 lowercase hex digits, with or without blob://; "${got}" is not.`, {
    got,
  })
}

export const fileEdits = { add_file: { edit: addFile, flaw: addFileFlaw } } as const satisfies Record<string, EditRow>
