import type { KeyEntry } from './schema.ts'

/** A problem that stops the start. `got` is safe to show. */
export interface Problem {
  /** Name of the file, variable or option for the operator. */
  readonly source: string
  /** Line of the file, where it is known. */
  readonly line?: number
  /** `[section].key`, `[section]`, or '' for the whole source. */
  readonly subject: string
  readonly problem: string
  readonly got: string
  readonly allowed: string
}

/** `<source>[:<line>]: [section].key: <problem> (got <value>, allowed <values>)` on one line. [CFG-5] */
export function problemLine(problem: Problem): string {
  const line = problem.line === undefined ? '' : `:${problem.line}`
  const subject = problem.subject === '' ? '' : `${problem.subject}: `
  return `${printable(problem.source, 1000)}${line}: ${printable(subject, 200)}${problem.problem} (got ${problem.got}, allowed ${problem.allowed})`
}

/**
 * Returns a value as it may be shown: cut, escaped, without secrets or credentials inside URLs. Texts of a file keep
 * their quotes. [CFG-4, CFG-5]
 */
export function shown(entry: KeyEntry, value: unknown, isQuoted = false): string {
  if (value === undefined || value === null) return 'nothing'
  if (isSecret(entry, value)) return '<redacted>'
  return isQuoted && typeof value === 'string' ? `"${shownFreely(value)}"` : shownFreely(value)
}

/**
 * Whether a value must not be shown. True for the values of secret keys, except the address of a store without a
 * password. [CFG-4]
 */
export function isSecret(entry: KeyEntry, value: unknown): boolean {
  const { key } = entry
  if (key.secret !== true) return false
  if (value === 'memory:') return false
  if (key.kind !== 'text' || key.format !== 'storage-url' || typeof value !== 'string') return true
  if (value.startsWith('sqlite:')) return false
  const url = URL.parse(value)
  // A password with an unescaped slash is parsed as a part of the path.
  return url === null || url.password !== '' || /[@:]|pass|pwd|secret/i.test(url.pathname + url.search + url.hash)
}

function shownFreely(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value === 'bigint' ? String(value) : asWord(value)
  return printable(text.replace(/\/\/[^/@\s]{0,2000}@/g, '//<redacted>@'))
}

/**
 * Returns one line of at most `most` characters; control characters, line separators and invisible marks are escaped.
 */
export function printable(text: string, most = 80): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  return cut.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

function asWord(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a date'
  return 'a table'
}
