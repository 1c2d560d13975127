import { isJsonObject, type Json, type JsonObject, memberOf } from '@docrelay/model/json'
import { labelOf } from '@docrelay/model/canvas/stored-shape'

/** The type of copied shapes on the clipboard. */
const TYPE = 'application/x-docrelay-shapes+json'

/** Makes the contents of the clipboard for copied shapes: JSON for a canvas, and the words of the shapes for other programs. */
export function clipboardText(copies: readonly JsonObject[]): Readonly<Record<string, string>> {
  const words = copies.map((copy) => labelOf(copy) ?? '').filter((text) => text !== '')
  return { [TYPE]: JSON.stringify(copies), 'text/plain': words.join('\n') }
}

/** Returns the shapes on the clipboard; an empty list when it contains something else. */
export function shapesOfClipboard(data: Pick<DataTransfer, 'getData'> | null): readonly JsonObject[] {
  const text = data?.getData(TYPE) ?? ''
  if (text === '') return []
  try {
    const read = JSON.parse(text) as Json
    if (!Array.isArray(read)) return []
    return (read as readonly Json[]).flatMap((value) => {
      return isJsonObject(value) && typeof memberOf(value, 'id') === 'string' ? [value] : []
    })
  } catch {
    return []
  }
}
