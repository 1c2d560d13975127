import { setImmediate } from 'node:timers/promises'
import type { ListedPage } from './listing.ts'
import { documentMetadata } from './metadata.ts'

/** Characters that are made at once: about a millisecond of work. */
const PART_CHARACTERS = 262_144

/**
 * Returns the JSON of a list of documents, as the member `documents` of an object when `isWrapped`, in parts. Others are
 * served between two parts: a list may have any number of documents and each of them up to a MiB of shares, so as one text
 * it would hold up the thread, or be longer than a string may be and fail. [C1, H10]
 */
export async function listParts(items: ListedPage['items'], isWrapped: boolean): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = []
  let text = isWrapped ? '{"documents":[' : '['
  for (const [index, { head, reader }] of items.entries()) {
    if (text.length >= PART_CHARACTERS) {
      parts.push(Buffer.from(text))
      text = ''
      await setImmediate()
    }
    text += `${index === 0 ? '' : ','}${JSON.stringify(documentMetadata(head, reader))}`
  }
  parts.push(Buffer.from(`${text}${isWrapped ? ']}' : ']'}`))
  return parts
}
