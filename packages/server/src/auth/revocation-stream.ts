/** One part of the answer to a poll: an entry of `revocations`, or `next_since`, wherever it stands. */
export type PollPart =
  | { readonly kind: 'entry'; readonly value: unknown }
  | { readonly kind: 'next-since'; readonly value: unknown }

/** Longest entry or member in characters; no more than this is kept of text that is skipped. */
const MAX_UNIT_CHARS = 64 * 1024
const SPACE = /[ \t\r\n]/

/**
 * Reads `{ "revocations": [ … ], "next_since": … }` without holding more than one entry, so that an answer of many megabytes neither fills
 * memory nor holds the event loop. Entries are yielded before the end of the answer is known to be well-formed.
 * @throws SyntaxError when the answer is not such a JSON object; what was yielded until then stands.
 */
export async function* readPollAnswer(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PollPart> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = new PollReader()
  for await (const chunk of chunks) yield* reader.feed(decoder.decode(chunk, { stream: true }))
  yield* reader.feed(decoder.decode())
  reader.end()
}

type Place = 'start' | 'name' | 'colon' | 'value' | 'after-value' | 'entry' | 'after-entry' | 'done'

class PollReader {
  #place: Place = 'start'
  #name = ''
  #sawEntries = false
  /** The text of the name, value or entry that is being read, and the state inside it. */
  #unit = ''
  #depth = 0
  #inString = false
  #escaped = false
  /** A comma was read, so another member or entry must follow. */
  #expectsMore = false

  end(): void {
    if (this.#place !== 'done' || !this.#sawEntries) throw new SyntaxError('the answer is cut or has no revocations')
  }

  *feed(text: string): Generator<PollPart> {
    let at = 0
    while (at < text.length) {
      if (this.#unit === '' && SPACE.test(text[at] ?? '')) {
        at++
        continue
      }
      const takesUnit = this.#place === 'name' || this.#place === 'value' || this.#place === 'entry'
      if (takesUnit && !this.#opensOrCloses(text[at] ?? '')) {
        const end = this.#unitEnd(text, at)
        this.#unit += text.slice(at, end)
        if (this.#unit.length > MAX_UNIT_CHARS) throw new SyntaxError('a member is too long')
        at = end
        if (at < text.length) yield* this.#finishUnit()
      } else {
        this.#structure(text[at] ?? '')
        at++
      }
    }
  }

  /** Whether `char`, at the start of a unit, belongs to the object or list around the unit. */
  #opensOrCloses(char: string): boolean {
    if (this.#unit !== '') return false
    if (this.#place === 'value') return char === '[' && this.#name === 'revocations' && !this.#sawEntries
    return char === '}' || char === ']'
  }

  /**
   * Returns the index of the first character after `from` that is not part of the unit; the length of `text` when the
   * unit may go on.
   */
  #unitEnd(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const char = text.charCodeAt(at)
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (char === 0x5c) this.#escaped = true
        else if (char === 0x22) this.#inString = false
      } else if (char === 0x22) this.#inString = true
      else if (char === 0x7b || char === 0x5b) this.#depth++
      else if (this.#depth === 0 && (char === 0x2c || char === 0x3a || char === 0x7d || char === 0x5d)) return at
      else if (char === 0x7d || char === 0x5d) this.#depth--
    }
    return text.length
  }

  *#finishUnit(): Generator<PollPart> {
    const value: unknown = JSON.parse(this.#unit)
    this.#unit = ''
    this.#expectsMore = false
    if (this.#place === 'entry') {
      this.#place = 'after-entry'
      yield { kind: 'entry', value }
    } else if (this.#place === 'name') {
      if (typeof value !== 'string') throw new SyntaxError('a member name is not a string')
      this.#name = value
      this.#place = 'colon'
    } else {
      this.#place = 'after-value'
      if (this.#name === 'revocations') throw new SyntaxError('revocations is no list, or given twice')
      if (this.#name === 'next_since') yield { kind: 'next-since', value }
    }
  }

  #structure(char: string): void {
    const step = `${this.#place} ${char}`
    if (step === 'start {') this.#place = 'name'
    else if (step === 'colon :') this.#place = 'value'
    else if (step === 'value [') {
      this.#sawEntries = true
      this.#place = 'entry'
    } else if (step === 'after-value ,' || step === 'after-entry ,') {
      this.#expectsMore = true
      this.#place = this.#place === 'after-value' ? 'name' : 'entry'
    } else if ((step === 'entry ]' && !this.#expectsMore) || step === 'after-entry ]') this.#place = 'after-value'
    else if ((step === 'name }' && !this.#expectsMore) || step === 'after-value }') this.#place = 'done'
    else throw new SyntaxError('the answer is not JSON')
  }
}
