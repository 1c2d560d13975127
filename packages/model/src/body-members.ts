/** The place of one member of a JSON object in its bytes: `start` at the quote of its name, `end` after its value. */
export interface MemberSpan {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Finds the top-level members of a compact JSON object, in order, without parsing their values, in one pass over the
 * bytes. Throws when brackets or quotes do not close; does not check the rest of the grammar.
 */
export function memberSpans(bytes: Uint8Array): readonly MemberSpan[] {
  if (bytes[0] !== OPEN_OBJECT || bytes.at(-1) !== CLOSE_OBJECT) throw new Error('not a compact JSON object')
  const spans: MemberSpan[] = []
  const last = bytes.length - 1
  for (let start = 1; start < last; ) {
    const nameEnd = stringEnd(bytes, start)
    if (bytes[nameEnd] !== COLON) throw new Error(`no member of a compact JSON object at byte ${start}`)
    const end = valueEnd(bytes, nameEnd + 1)
    const name = JSON.parse(new TextDecoder().decode(bytes.subarray(start, nameEnd))) as string
    spans.push({ name, start, valueStart: nameEnd + 1, end })
    start = end + 1
  }
  return spans
}

/** Returns a copy in which the top-level member `name` has this value; a missing member is added at the end. */
export function withMemberBytes(bytes: Uint8Array, name: string, value: Uint8Array): Uint8Array<ArrayBuffer> {
  const spans = memberSpans(bytes)
  const span = spans.find((member) => member.name === name)
  if (span !== undefined) return joined(bytes.subarray(0, span.valueStart), value, bytes.subarray(span.end))
  const added = new TextEncoder().encode(`${spans.length === 0 ? '' : ','}${JSON.stringify(name)}:`)
  return joined(bytes.subarray(0, -1), added, value, bytes.subarray(-1))
}

/** Offset of the comma or bracket after the value at `start`. */
function valueEnd(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = stringEnd(bytes, at)
      continue
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at
      depth--
    } else if (byte === COMMA && depth === 0) return at
    at++
  }
  throw new Error(`the value at byte ${start} does not end`)
}

/** Offset after the closing quote of the string at `start`. */
function stringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++
    else if (bytes[at] === QUOTE) return at + 1
  }
  throw new Error(`the string at byte ${start} does not end`)
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
