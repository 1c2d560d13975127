/** Names under which no value is ever logged, whatever its case and whatever stands around the word. [OPS-6] */
const SECRET_NAME =
  /authorization|bearer|token|secret|password|passwd|cookie|credential|api_?key|jwt|signature|presigned|awareness|content$|^body$/i

/** Fields whose values are ids of ours or of the issuer; a share token never stands there, and an id may look like one. */
const ID_FIELDS: readonly string[] = ['requestId', 'workspace', 'docId', 'sub']

/** Made by the logger itself. */
const RESERVED: readonly string[] = ['ts', 'level', 'event', 'msg', 'time', 'pid', 'hostname']

const MAX_VALUE = 200
const MAX_ITEMS = 20
/** A credential that starts within the shown part is seen whole; nothing behind this is looked at. */
const MAX_SCANNED = 20_000

export type LoggedValue = string | number | boolean | null | readonly LoggedValue[]

/** The fields of a log line as they may be written. */
export function scrubbedFields(fields: Readonly<Record<string, unknown>>): Record<string, LoggedValue> {
  const result: Record<string, LoggedValue> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || RESERVED.includes(name)) continue
    result[scrubbed(name, 64)] = SECRET_NAME.test(name) ? REDACTED : loggedValue(name, value)
  }
  return result
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

/** A syntax error repeats the text it stumbled over, which may be a document. */
function describeError(error: Error): string {
  const where = (error.stack ?? '').split('\n').find((line) => line.startsWith('    at ')) ?? ''
  const message = error instanceof SyntaxError ? '' : `: ${error.message}`
  return scrubbed(`${error.name}${message}`, MAX_VALUE) + (where === '' ? '' : ` ${scrubbed(where.trim(), MAX_VALUE)}`)
}

const REDACTED = '<redacted>'
const OMITTED = '<omitted>'

/** Text as one may write it into a line: credentials replaced, then cut, then made printable. */
export function scrubbed(text: string, most: number): string {
  const plain = withoutCredentials(text.slice(0, MAX_SCANNED)).replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, REDACTED)
  return printable(cut(plain, most))
}

function scrubbedId(text: string): string {
  return printable(cut(withoutCredentials(text.slice(0, MAX_SCANNED)), MAX_VALUE))
}

function withoutCredentials(text: string): string {
  return text
    .replace(/\beyJ[\w-]{6,}(\.[\w-]*){0,4}/g, REDACTED)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${REDACTED}`)
    .replace(/:\/\/[^/?#\s@]*@/g, `://${REDACTED}@`)
    .replace(/([/\w])\?[^\s"'<>]+/g, `$1?${REDACTED}`)
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** Control characters, terminal sequences, line separators, direction marks and lone surrogates are spelled out. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
