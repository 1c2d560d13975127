import { setImmediate } from 'node:timers/promises'
import type { ListedPage } from './listing.ts'
import { documentMetadata } from './metadata.ts'

/** A part is complete at this many characters; making them takes about 1 ms. */
const PART_CHARACTERS = 262_144

/**
 * Returns the JSON of a list of documents in parts; with `isWrapped` the list is the member `documents` of an object. The event
 * loop serves others between two parts. A list may have any number of documents, each with up to 1 MiB of shares: made as one
 * text it would block the thread, or exceed the maximum length of a string. [C1, H10]
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
