import { parse, TomlError } from 'smol-toml'
import type { Given } from './given.ts'
import { nearest } from './nearest.ts'
import { printable, type Problem } from './problem.ts'
import { CONFIG_KEYS } from './schema.ts'

export const MAX_FILE_BYTES = 1_048_576

export interface FileReading {
  readonly given: readonly Given[]
  readonly problems: readonly Problem[]
  /** False when nothing of it could be read. */
  readonly known: boolean
}

/**
 * The values of a configuration file, by label, and everything wrong with its form: bytes that are no TOML, tables and keys that nobody
 * knows. Values themselves are judged later, together with those of the other sources. [CFG-5]
 */
export function readConfigFile(name: string, bytes: Uint8Array): FileReading {
  const refuse = (problem: string, got: string, allowed: string): FileReading => ({
    given: [],
    problems: [{ source: name, subject: '', problem, got, allowed }],
    known: false,
  })
  if (bytes.length > MAX_FILE_BYTES) return refuse('file too large', `${bytes.length} bytes`, `at most ${MAX_FILE_BYTES} bytes`)
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return refuse('starts with a byte order mark', 'U+FEFF', 'UTF-8 without it')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse('not UTF-8', 'other bytes', 'UTF-8')
  }
  if (text.includes('\0')) return refuse('has a NUL character', 'U+0000', 'TOML text')
  let root: object
  try {
    root = parse(text, { integersAsBigInt: 'asNeeded', maxDepth: 16 })
  } catch (error) {
    if (!(error instanceof TomlError)) return refuse('not valid TOML', 'something else', 'TOML')
    // Only the reason: the rest of the message repeats the line, which may hold a secret.
    const reason = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '')
    return refuse(`not valid TOML: ${reason}`, `line ${error.line}, column ${error.column}`, 'TOML 1.0')
  }
  return readTables(name, root)
}

const SECTIONS: readonly string[] = [...new Set(CONFIG_KEYS.map((entry) => entry.section))]

function readTables(name: string, root: object): FileReading {
  const given: Given[] = []
  const problems: (() => Problem)[] = []
  for (const [section, table] of Object.entries(root)) {
    if (!SECTIONS.includes(section)) {
      problems.push(() => unknownSection(name, section))
      continue
    }
    if (!isTable(table)) {
      problems.push(() => ({
        source: name,
        subject: `[${section}]`,
        problem: 'not a table',
        got: 'a value',
        allowed: `[${section}]`,
      }))
      continue
    }
    readSection(name, section, table, given, problems)
  }
  return { given, problems: capped(name, problems), known: true }
}

/** A file of another program may have thousands of unknown keys; nobody reads more of them. */
const MAX_PROBLEMS = 200

function capped(name: string, problems: readonly (() => Problem)[]): readonly Problem[] {
  const listed = problems.slice(0, MAX_PROBLEMS).map((describe) => describe())
  const rest = problems.length - listed.length
  if (rest > 0)
    listed.push({ source: name, subject: '', problem: 'more unknown keys', got: `${rest} more`, allowed: 'known keys' })
  return listed
}

function readSection(name: string, section: string, table: object, given: Given[], problems: (() => Problem)[]): void {
  for (const [keyName, value] of Object.entries(table)) {
    const nested = `${section}.${keyName}`
    if (SECTIONS.includes(nested) && isTable(value)) {
      readSection(name, nested, value, given, problems)
      continue
    }
    const entry = CONFIG_KEYS.find((candidate) => candidate.section === section && candidate.name === keyName)
    if (entry === undefined) problems.push(() => unknownKey(name, section, keyName))
    else given.push({ entry, raw: value, asText: false, source: name, kind: 'file' })
  }
}

/** The value of an unknown key is never shown: it may be a secret under a misspelt name. */
function unknownKey(source: string, section: string, keyName: string): Problem {
  // A key of that very name elsewhere was put into the wrong table; otherwise the nearest of this section, then of all.
  const elsewhere = CONFIG_KEYS.find((entry) => entry.name === keyName)
  const here = nearest(
    keyName,
    CONFIG_KEYS.filter((entry) => entry.section === section).map((entry) => entry.name),
  )
  const anywhere = nearest(
    keyName,
    CONFIG_KEYS.map((entry) => entry.name),
  )
  const closest =
    here !== null && (anywhere === null || here.distance <= anywhere.distance)
      ? `[${section}].${here.name}`
      : labelOf(anywhere?.name)
  const label = elsewhere?.label ?? closest
  return {
    source,
    subject: `[${section}].${printable(keyName)}`,
    problem: `unknown key, the nearest known one is ${label}`,
    got: printable(keyName),
    allowed: label,
  }
}

function labelOf(keyName: string | undefined): string {
  return CONFIG_KEYS.find((entry) => entry.name === keyName)?.label ?? 'a known key'
}

function unknownSection(source: string, section: string): Problem {
  const key = CONFIG_KEYS.find((entry) => entry.name === section)
  const label = key?.label ?? `[${nearest(section, SECTIONS)?.name ?? 'server'}]`
  return {
    source,
    subject: `[${printable(section)}]`,
    problem: `unknown section, the nearest known one is ${label}`,
    got: printable(section),
    allowed: label,
  }
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
