import type { Json } from './json.ts'

/** Limits of one parse, proportional to the byte limit of its route. */
export interface JsonLimits {
  readonly maxBytes: number
  readonly maxDepth: number
  /** The most objects and arrays together. */
  readonly maxContainers: number
  /** The most strings, numbers, literals and containers together. */
  readonly maxTokens: number
}

export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly code: 'BAD_JSON' | 'BODY_TOO_LARGE'; readonly offset: number; readonly reason: string }

const MIB = 1024 * 1024

/**
 * Returns the limits for a byte limit: 2 million containers and 32 million tokens per 128 MiB. The densest honest
 * document needs several times less. Parsing `{}` a hundred million times would block its thread for more than a
 * minute.
 */
export function jsonLimits(maxBytes: number): JsonLimits {
  const share = Math.max(maxBytes, MIB) / (128 * MIB)
  return { maxBytes, maxDepth: 128, maxContainers: Math.ceil(2_000_000 * share), maxTokens: Math.ceil(32_000_000 * share) }
}

/**
 * Parses UTF-8 JSON and changes nothing silently: input that a plain parse would round to `null`, replace or skip is refused. [BODY-8]
 *
 * A pass over the bytes bounds depth and counts before anything is allocated. `BAD_JSON` covers syntax, depth, invalid UTF-8, a byte
 * order mark, trailing data, lone surrogate escapes and numbers beyond a double; `BODY_TOO_LARGE` the byte and count ceilings.
 * `offset` is the byte at which the problem was noticed. Of duplicate names the last wins; `__proto__` becomes an own member like any other.
 */
export function parseJsonBytes(bytes: Uint8Array, limits: JsonLimits): ParsedJson {
  if (bytes.length > limits.maxBytes) return tooLarge(limits.maxBytes, `more than ${limits.maxBytes} bytes`)
  const flaw = scan(bytes, limits)
  if (flaw !== null) return flaw
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bad(invalidUtf8At(bytes), 'invalid UTF-8')
  }
  try {
    return { ok: true, value: JSON.parse(text) as Json }
  } catch (error) {
    return bad(syntaxErrorAt(error, text, bytes.length), 'not JSON')
  }
}

type Refused = Extract<ParsedJson, { ok: false }>

function bad(offset: number, reason: string): Refused {
  return { ok: false, code: 'BAD_JSON', offset, reason }
}

function tooLarge(offset: number, reason: string): Refused {
  return { ok: false, code: 'BODY_TOO_LARGE', offset, reason }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Checks the limits and the rules that `JSON.parse` does not check. `JSON.parse` checks the grammar later, so malformed
 * text may pass this scan.
 */
function scan(bytes: Uint8Array, limits: JsonLimits): Refused | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bad(0, 'byte order mark')
  const end = bytes.length
  let depth = 0
  let containers = 0
  let tokens = 0
  let at = 0
  while (at < end) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      tokens++
      const close = stringEnd(bytes, at + 1)
      if (close < 0) return bad(-close, 'lone surrogate escape')
      at = close
    } else if (byte === 0x7b || byte === 0x5b) {
      tokens++
      if (++containers > limits.maxContainers) return tooLarge(at, `more than ${limits.maxContainers} objects and arrays`)
      if (++depth > limits.maxDepth) return bad(at, `more than ${limits.maxDepth} levels deep`)
      at++
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
      at++
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      tokens++
      const close = numberEnd(bytes, at)
      if (close < 0) return bad(at, 'number beyond the range of a double')
      at = close
    } else {
      // The first letter of true, false and null. Their other letters may count too, which only makes malformed text
      // look larger.
      if (byte === 0x74 || byte === 0x66 || byte === 0x6e) tokens++
      at++
    }
    if (tokens > limits.maxTokens) return tooLarge(at, `more than ${limits.maxTokens} tokens`)
  }
  return null
}

/** Returns the offset after the closing quote, or minus the offset of a lone surrogate escape. An unclosed string ends with the input. */
function stringEnd(bytes: Uint8Array, start: number): number {
  const end = bytes.length
  let at = start
  while (at < end) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte !== BACKSLASH) {
      at++
      continue
    }
    if (bytes[at + 1] !== 0x75) {
      at += 2
      continue
    }
    const unit = hexUnit(bytes, at + 2)
    if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = bytes[at + 6] === BACKSLASH && bytes[at + 7] === 0x75 ? hexUnit(bytes, at + 8) : -1
      if (unit >= 0xdc00 || next < 0xdc00 || next > 0xdfff) return -at
      at += 6
    }
    at += 6
  }
  return end
}

/** The four hex digits at `at` as a number, -1 when they are not four hex digits. */
function hexUnit(bytes: Uint8Array, at: number): number {
  let unit = 0
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? 0
    const digit =
      byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66 ? (byte | 0x20) - 0x57 : -1
    if (digit < 0) return -1
    unit = unit * 16 + digit
  }
  return unit
}

/**
 * Returns the offset after the number, or -1 when it overflows to infinity. Only an exponent or hundreds of digits can
 * overflow, so other numbers are not converted.
 */
function numberEnd(bytes: Uint8Array, start: number): number {
  let at = start
  let exponent = false
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if ((byte | 0x20) === 0x65) exponent = true
    else if (byte !== 0x2b && byte !== 0x2d && byte !== 0x2e && (byte < 0x30 || byte > 0x39)) break
  }
  if (!exponent && at - start < 300) return at
  const value = Number(new TextDecoder().decode(bytes.subarray(start, at)))
  return value === Infinity || value === -Infinity ? -1 : at
}

/** Returns the offset of the first byte that is not UTF-8. Searches by halving, since only an error answer needs the offset. */
function invalidUtf8At(bytes: Uint8Array): number {
  let good = 0
  let failing = bytes.length
  while (failing - good > 4) {
    const middle = Math.max(good + 1, characterStart(bytes, (good + failing) >> 1))
    if (middle >= failing) break
    if (decodes(bytes.subarray(good, middle))) good = middle
    else failing = middle
  }
  return good
}

function characterStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > at - 3 && start > 0 && ((bytes[start] as number) & 0xc0) === 0x80) start--
  return start
}

function decodes(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** Returns the byte offset of a syntax error. Only some messages of the engine name a UTF-16 position; otherwise this is the end of the text. */
function syntaxErrorAt(error: unknown, text: string, end: number): number {
  const position = /position (\d+)/.exec(String(error))?.[1]
  return position === undefined ? end : new TextEncoder().encode(text.slice(0, Number(position))).length
}
