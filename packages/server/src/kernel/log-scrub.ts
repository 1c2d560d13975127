/** Names of fields whose values are never logged, in any case and with any text around the word. [OPS-6] */
const SECRET_NAME =
  /authorization|bearer|token|secret|password|passwd|cookie|credential|api_?key|jwt|signature|presigned|awareness|content$|^body$/i

/**
 * Fields with ids of the relay or the issuer. They are exempt from the search for share tokens, because an id may look like one.
 */
const ID_FIELDS: readonly string[] = ['requestId', 'workspace', 'docId', 'sub']

/** Members that the logger itself writes. */
const RESERVED: readonly string[] = ['ts', 'level', 'event', 'msg', 'time', 'pid', 'hostname']

const MAX_VALUE = 200
const MAX_ITEMS = 20
/** Only this many characters of a text are scanned; enough to see any credential that begins within the shown part. */
const MAX_SCANNED = 20_000

export type LoggedValue = string | number | boolean | null | readonly LoggedValue[]

interface FieldName {
  readonly shown: string
  readonly isSecret: boolean
}

/** Most field names whose scrubbed form is remembered; the code uses some dozens. */
const MOST_NAMES = 500

/** Returns a function that removes secrets from the fields of a log line. */
export function createFieldScrubber(): (fields: Readonly<Record<string, unknown>>) => Record<string, LoggedValue> {
  const names = new Map<string, FieldName>()
  const lookOf = (name: string): FieldName => {
    const known = names.get(name)
    if (known !== undefined) return known
    const look = { shown: scrubbed(name, 64), isSecret: SECRET_NAME.test(name) }
    if (names.size < MOST_NAMES) names.set(name, look)
    return look
  }
  return (fields) => {
    const result: Record<string, LoggedValue> = {}
    for (const name of Object.keys(fields)) {
      const value = fields[name]
      if (value === undefined || RESERVED.includes(name)) continue
      const { shown, isSecret } = lookOf(name)
      result[shown] = isSecret ? REDACTED : loggedValue(name, value)
    }
    return result
  }
}

function loggedValue(name: string, value: unknown): LoggedValue {
  if (typeof value === 'string') return ID_FIELDS.includes(name) ? scrubbedId(value) : scrubbed(value, MAX_VALUE)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return describeError(value)
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item: unknown) => (typeof item === 'object' ? OMITTED : loggedValue(name, item)))
  return OMITTED
}

/** Describes an error. Leaves out the message of a syntax error, which quotes the parsed text, perhaps a document. */
function describeError(error: Error): string {
  const where = (error.stack ?? '').split('\n').find((line) => line.startsWith('    at ')) ?? ''
  const message = error instanceof SyntaxError ? '' : `: ${error.message}`
  return scrubbed(`${error.name}${message}`, MAX_VALUE) + (where === '' ? '' : ` ${scrubbed(where.trim(), MAX_VALUE)}`)
}

const REDACTED = '<redacted>'
const OMITTED = '<omitted>'

/** Text that does not match needs no replacement in `scrubbed`. Most values are plain words or sentences and do not match. */
const SUSPICIOUS = /eyJ|bearer|basic|[?@]|[^\x20-\x7e]|[\w-]{43}/i

/** Returns text that may be written into a log line: credentials are replaced, then it is cut, then made printable. */
export function scrubbed(text: string, most: number): string {
  if (text.length <= most && !SUSPICIOUS.test(text)) return text
  const plain = withoutCredentials(text.slice(0, MAX_SCANNED)).replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, REDACTED)
  return printable(cut(plain, most))
}

function scrubbedId(text: string): string {
  if (text.length <= MAX_VALUE && !SUSPICIOUS.test(text)) return text
  return printable(cut(withoutCredentials(text.slice(0, MAX_SCANNED)), MAX_VALUE))
}

function withoutCredentials(text: string): string {
  return (
    text
      .replace(/\beyJ[\w-]{6,}(\.[\w-]*){0,4}/g, REDACTED)
      .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
      .replace(/:\/\/[^/?#\s@]*@/g, `://${REDACTED}@`)
      // The query of a URL is removed; the rest of the URL can be copied from the log.
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>?]*)\?[^\s"'<>]*/gi, '$1')
      .replace(/([/\w])\?[^\s"'<>]+/g, `$1?${REDACTED}`)
  )
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** Spells out control characters, terminal sequences, line separators, direction marks and lone surrogates. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
