import type { KeyEntry } from './schema.ts'

/** Something that stops the start. `got` is already safe to show. */
export interface Problem {
  /** A file, variable or option, as the operator knows it. */
  readonly source: string
  /** `[section].key`, `[section]`, or '' when the whole source is meant. */
  readonly subject: string
  readonly problem: string
  readonly got: string
  readonly allowed: string
}

/** `<source>: [section].key: <problem> (got <value>, allowed <values>)` on one line. [CFG-5] */
export function problemLine(problem: Problem): string {
  const subject = problem.subject === '' ? '' : `${problem.subject}: `
  return `${printable(problem.source, 1000)}: ${printable(subject, 200)}${problem.problem} (got ${problem.got}, allowed ${problem.allowed})`
}

/** A value as it may be shown: cut, escaped, no secrets, no credentials inside URLs. [CFG-4] */
export function shown(entry: KeyEntry, value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (entry.key.secret === true) return '<redacted>'
  return shownFreely(value)
}

function shownFreely(value: unknown): string {
  const text = typeof value === 'string' ? value : typeof value === 'bigint' ? String(value) : asWord(value)
  return printable(text.replace(/\/\/[^/@\s]{0,2000}@/g, '//<redacted>@'))
}

/** One line of at most `most` characters: control characters, line separators and invisible marks are escaped. */
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
