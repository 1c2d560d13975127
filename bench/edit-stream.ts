import * as Y from 'yjs'

/** The prose page into which all benchmark clients type. */
export const PAGE = 'page'

/**
 * The edits of one typing client as real Yjs v1 updates: first a paragraph of its own, then one character after another at its end. The
 * updates for single characters are assembled by hand, byte for byte as Yjs would, so that they cost the generator almost nothing.
 */
export class EditStream {
  readonly yClient: number
  #clock: number
  readonly #opening: Uint8Array

  constructor(yClient: number) {
    this.yClient = yClient
    const doc = new Y.Doc()
    doc.clientID = yClient
    const text = new Y.XmlText()
    const paragraph = new Y.XmlElement('paragraph')
    doc.transact(() => {
      paragraph.insert(0, [text])
      text.insert(0, 'x')
      doc.getXmlFragment(`prose:${PAGE}`).insert(0, [paragraph])
    })
    this.#opening = Y.encodeStateAsUpdate(doc)
    this.#clock = Y.getState(doc.store, yClient)
  }

  /** The update with the paragraph and its first character. */
  get opening(): Uint8Array {
    return this.#opening
  }

  /** Clock of the next character in the Y.Doc of this client. */
  get clock(): number {
    return this.#clock
  }

  /** The update with one more character at the end of the paragraph. */
  next(): Uint8Array {
    const client = varUint(this.yClient)
    const clock = varUint(this.#clock)
    const origin = varUint(this.#clock - 1)
    const character = 97 + (this.#clock % 26)
    this.#clock++
    // One client with one struct (a string with a left origin and no right one), then an empty delete set.
    return Uint8Array.of(1, 1, ...client, ...clock, 0x84, ...client, ...origin, 1, character, 0)
  }
}

/**
 * Calls `found` for each run of characters in an update whose structs are of the kinds that `EditStream` writes, alone or merged with
 * others. Returns false when the update contains anything else.
 */
export function scanUpdate(
  bytes: Uint8Array,
  from: number,
  to: number,
  found: (yClient: number, clock: number, length: number) => void,
): boolean {
  let at = from
  const read = () => {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = bytes[at++] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80 || at > to) return value
      scale *= 128
    }
  }
  const skipString = () => {
    const length = read()
    at += length
    return length
  }
  for (let clients = read(); clients > 0; clients--) {
    let structs = read()
    const yClient = read()
    let clock = read()
    for (; structs > 0; structs--) {
      const info = bytes[at++] as number
      const kind = info & 31
      if (kind === 0 || kind === 10) {
        clock += read()
        continue
      }
      if (info & 0x80) {
        read()
        read()
      }
      if (info & 0x40) {
        read()
        read()
      }
      if ((info & 0xc0) === 0) {
        if (read() === 1) skipString()
        else {
          read()
          read()
        }
        if (info & 0x20) skipString()
      }
      if (kind === 4) {
        const length = skipString()
        found(yClient, clock, length)
        clock += length
      } else if (kind === 7) {
        const type = read()
        if (type === 3 || type === 5) skipString()
        clock++
      } else if (kind === 1) clock += read()
      else return false
    }
  }
  return true
}

/** Encodes a number as a variable-length integer. */
export function varUint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return bytes
}
