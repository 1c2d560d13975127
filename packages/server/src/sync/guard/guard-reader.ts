/** Thrown while untrusted bytes are checked, when they violate `rule`. `UpdateGuard.inspect` catches it and answers `bad` with the rule. */
export class BadBytes {
  readonly rule: GuardRule

  constructor(rule: GuardRule) {
    this.rule = rule
  }
}

/** The rules for which the guard refuses an update. The names are used in counters and log lines. */
export type GuardRule =
  | 'truncated'
  | 'trailing'
  | 'too-large'
  | 'count'
  | 'clock'
  | 'kind'
  | 'length'
  | 'string'
  | 'json'
  | 'depth'
  | 'proto'
  | 'nesting'
  | 'root-name'
  | 'root-count'
  | 'root-type'
  | 'origin'
  | 'duplicate'
  | 'client-count'

const MAX_JSON_DEPTH = 128
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Bounded reader over untrusted bytes. It checks every declared count against the number of bytes left, and allocates nothing based on a
 * declared count alone. [G2, G4]
 */
export class GuardReader {
  bytes: Uint8Array = new Uint8Array(0)
  pos = 0
  end = 0

  reset(bytes: Uint8Array): void {
    this.bytes = bytes
    this.pos = 0
    this.end = bytes.length
  }

  byte(): number {
    if (this.pos >= this.end) throw new BadBytes('truncated')
    return this.bytes[this.pos++] as number
  }

  /** Reads an unsigned integer of at most 2^53 - 1. */
  uint(): number {
    const first = this.byte()
    if (first < 0x80) return first
    let value = first & 0x7f
    let factor = 128
    for (;;) {
      const next = this.byte()
      value += (next & 0x7f) * factor
      if (value > Number.MAX_SAFE_INTEGER) throw new BadBytes('count')
      if (next < 0x80) return value
      factor *= 128
      if (factor > Number.MAX_SAFE_INTEGER) throw new BadBytes('count')
    }
  }

  /** Reads a count of entries that take at least `minBytes` each. */
  count(minBytes: number): number {
    const value = this.uint()
    if (value * minBytes > this.end - this.pos) throw new BadBytes('count')
    return value
  }

  /** Skips a length-prefixed run of bytes. Returns the offset at which its content starts. */
  run(): number {
    const length = this.uint()
    if (length > this.end - this.pos) throw new BadBytes('truncated')
    const start = this.pos
    this.pos += length
    return start
  }

  /** Skips a string and returns its length in UTF-16 units. Throws on malformed UTF-8. */
  stringUnits(): number {
    const start = this.run()
    for (let i = start; i < this.pos; i++) {
      if ((this.bytes[i] as number) >= 0x80) return this.decode(start).length
    }
    return this.pos - start
  }

  string(): string {
    return this.decode(this.run())
  }

  private decode(start: number): string {
    try {
      return utf8.decode(this.bytes.subarray(start, this.pos))
    } catch {
      throw new BadBytes('string')
    }
  }

  /** Skips a JSON text that is stored as a string, as in Embed, Format and JSON content. Throws on text that is not valid JSON. [G6] */
  json(allowUndefined: boolean): void {
    const start = this.run()
    const length = this.pos - start
    const first = this.bytes[start]
    // The most common values of marks and attributes are accepted without parsing.
    if (length === 4 && first === 0x6e && this.same(start, 'null')) return
    if (length === 4 && first === 0x74 && this.same(start, 'true')) return
    if (length === 2 && first === 0x7b && this.bytes[start + 1] === 0x7d) return
    if (allowUndefined && length === 9 && this.same(start, 'undefined')) return
    const text = this.decode(start)
    if (jsonTextDepth(text) > MAX_JSON_DEPTH) throw new BadBytes('depth')
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      throw new BadBytes('json')
    }
    checkJson(value)
  }

  private same(start: number, word: string): boolean {
    for (let i = 0; i < word.length; i++) if (this.bytes[start + i] !== word.charCodeAt(i)) return false
    return true
  }

  /** Skips one lib0 `Any` value. Throws on a value that is not allowed in a document. [G6] */
  any(depth: number): void {
    const tag = this.byte()
    switch (tag) {
      case 127:
      case 126:
      case 121:
      case 120:
        return
      case 125:
        this.varInt()
        return
      case 124:
        this.skip(4)
        return
      case 123:
        this.skip(8)
        return
      case 119:
        this.stringUnits()
        return
      case 118:
        this.anyObject(depth)
        return
      case 117: {
        if (depth >= MAX_JSON_DEPTH) throw new BadBytes('depth')
        const count = this.count(1)
        for (let i = 0; i < count; i++) this.any(depth + 1)
        return
      }
      case 116:
        this.run()
        return
      default:
        // 122 is a 64-bit integer, which is not JSON and not allowed in a document.
        throw new BadBytes('kind')
    }
  }

  private anyObject(depth: number): void {
    if (depth >= MAX_JSON_DEPTH) throw new BadBytes('depth')
    const count = this.count(2)
    for (let i = 0; i < count; i++) {
      this.key()
      this.any(depth + 1)
    }
  }

  /** Skips a member name. Throws on `__proto__`, which would replace a prototype when lib0 builds the object. [G6] */
  key(): void {
    const start = this.pos
    this.stringUnits()
    if (this.pos - start === 10 && this.same(start + 1, '__proto__')) throw new BadBytes('proto')
  }

  private varInt(): void {
    let byte = this.byte()
    let value = byte & 0x3f
    for (let factor = 64; byte >= 0x80; factor *= 128) {
      // lib0 throws on larger numbers, but only while it is already changing the document.
      if (value > Number.MAX_SAFE_INTEGER) throw new BadBytes('count')
      byte = this.byte()
      value += (byte & 0x7f) * factor
    }
  }

  private skip(count: number): void {
    if (count > this.end - this.pos) throw new BadBytes('truncated')
    this.pos += count
  }
}

/** Returns the deepest nesting of brackets in a JSON text. Brackets inside strings do not count. */
function jsonTextDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (inString) {
      if (unit === 0x5c) i++
      else if (unit === 0x22) inString = false
    } else if (unit === 0x22) inString = true
    else if (unit === 0x5b || unit === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (unit === 0x5d || unit === 0x7d) depth--
  }
  return deepest
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** Throws on lone surrogates and on members named `__proto__`. The recursion is safe, because `json` has checked the depth before. */
function checkJson(value: unknown): void {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) throw new BadBytes('string')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const entry of value) checkJson(entry)
    return
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw new BadBytes('proto')
    if (LONE_SURROGATE.test(name)) throw new BadBytes('string')
    checkJson((value as Record<string, unknown>)[name])
  }
}
