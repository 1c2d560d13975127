import type { CanvasPage, DocumentBody } from '@docrelay/model/body'
import type { Json } from '@docrelay/model/json'
import * as Y from 'yjs'
import { isUntouched, shapeRoots } from './binding-roots.ts'

/**
 * The bytes of values in an update, by value object. Values are encoded ahead, to save time in the transaction that writes them.
 * [CONC-14]
 */
export type EncodedValues = ReadonlyMap<Json, Uint8Array>

/** Encodes the shapes that an edit adds to pages. */
export function encodeAdded(before: DocumentBody, after: DocumentBody): EncodedValues {
  const known = new Map(before.canvas.pages.map((page) => [page.id, page]))
  const encoded = new Map<Json, Uint8Array>()
  for (const page of after.canvas.pages) for (const value of addedTo(known.get(page.id), page)) encoded.set(value, encode(value))
  return encoded
}

function addedTo(old: CanvasPage | undefined, { shapes }: CanvasPage): readonly Json[] {
  if (old === undefined || old.shapes === shapes) return []
  const known = new Set(old.shapes.map(({ id }) => id))
  return shapes.filter(({ id }) => !known.has(id)).map(({ value }) => value)
}

function encode(value: Json): Uint8Array {
  const encoder = new Y.UpdateEncoderV1()
  encoder.writeAny(value)
  return encoder.toUint8Array()
}

/**
 * Makes the transaction in progress write the encoded bytes of the shapes that it added. Returns a function that restores the normal content
 * of these shapes. Call it after the transaction, so that the bytes do not stay in memory.
 */
export function useEncoded(ydoc: Y.Doc, { canvas }: DocumentBody, encoded: EncodedValues): () => void {
  const ends: (() => void)[] = []
  for (const { id: pageId, shapes } of canvas.pages) {
    const { map } = shapeRoots(pageId)
    if (isUntouched(ydoc, map)) continue
    const entries = ydoc.getMap(map)._map
    for (const { id, value } of shapes) {
      const bytes = encoded.get(value)
      const item = bytes === undefined ? undefined : entries.get(id)
      const content = item?.content
      // Any other content shows that `wireValue` has changed the value. The encoded bytes do not fit then.
      if (item === undefined || bytes === undefined || !(content instanceof Y.ContentAny) || content.arr[0] !== value) continue
      item.content = new EncodedContent(content.arr, bytes)
      ends.push(() => {
        item.content = content
      })
    }
  }
  return () => {
    for (const end of ends) end()
  }
}

class EncodedContent extends Y.ContentAny {
  private readonly bytes: Uint8Array

  constructor(values: readonly unknown[], bytes: Uint8Array) {
    super([...values])
    this.bytes = bytes
  }

  override write(encoder: Y.UpdateEncoderV1 | Y.UpdateEncoderV2, offset: number): void {
    if (!(encoder instanceof Y.UpdateEncoderV1)) return super.write(encoder, offset)
    encoder.writeLen(1)
    append(encoder.restEncoder, this.bytes)
  }
}

/** Appends bytes to what an encoder of Yjs has written: the full buffers `bufs`, then the first `cpos` bytes of `cbuf`. */
function append(encoder: Y.UpdateEncoderV1['restEncoder'], bytes: Uint8Array): void {
  if (encoder.cpos + bytes.length > encoder.cbuf.length) {
    encoder.bufs.push(encoder.cbuf.subarray(0, encoder.cpos))
    encoder.cbuf = new Uint8Array(Math.max(encoder.cbuf.length * 2, bytes.length))
    encoder.cpos = 0
  }
  encoder.cbuf.set(bytes, encoder.cpos)
  encoder.cpos += bytes.length
}
