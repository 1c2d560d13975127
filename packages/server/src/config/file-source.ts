import { likelyMeant } from '@docrelay/model/nearest'
import { parse, TomlError } from 'smol-toml'
import type { Given } from './given.ts'
import { printable, type Problem } from './problem.ts'
import { CONFIG_KEYS, type KeyEntry } from './schema.ts'
import { type TomlLines, tomlLines } from './toml-lines.ts'

export const MAX_FILE_BYTES = 1_048_576

export interface FileReading {
  readonly given: readonly Given[]
  readonly problems: readonly Problem[]
  /** False when no part of the file could be read. */
  readonly known: boolean
}

/**
 * Returns the values of a configuration file, by label, and every problem of its form: bytes that are not TOML, unknown
 * tables and keys. The values themselves are checked later, together with those of the other sources. [CFG-5]
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
    // Only the reason is shown: the rest of the message repeats the line, which may hold a secret.
    const reason = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '')
    return refuse(`not valid TOML: ${reason}`, `line ${error.line}, column ${error.column}`, 'TOML 1.0')
  }
  return readTables(name, root, tomlLines(text))
}

const SECTIONS: readonly string[] = [...new Set(CONFIG_KEYS.map((entry) => entry.section))]

function readTables(name: string, root: object, lines: TomlLines): FileReading {
  const given: Given[] = []
  const problems: (() => Problem)[] = []
  for (const [section, table] of Object.entries(root)) {
    if (!SECTIONS.includes(section)) {
      problems.push(() => ({ ...unknownSection(name, section), ...at(lines, section) }))
      continue
    }
    if (!isTable(table)) {
      problems.push(() => ({
        source: name,
        ...at(lines, section),
        subject: `[${section}]`,
        problem: 'not a table',
        got: 'a value',
        allowed: `[${section}]`,
      }))
      continue
    }
    readSection(name, section, table, { given, problems, lines })
  }
  return { given, problems: capped(name, problems), known: true }
}

/** Most unknown keys that are listed: a file of another program may have thousands. */
const MAX_PROBLEMS = 200

function capped(name: string, problems: readonly (() => Problem)[]): readonly Problem[] {
  const listed = problems.slice(0, MAX_PROBLEMS).map((describe) => describe())
  const rest = problems.length - listed.length
  if (rest > 0)
    listed.push({ source: name, subject: '', problem: 'more unknown keys', got: `${rest} more`, allowed: 'known keys' })
  return listed
}

interface Found {
  readonly given: Given[]
  readonly problems: (() => Problem)[]
  readonly lines: TomlLines
}

function at(lines: TomlLines, path: string): { readonly line?: number } {
  const line = lines.get(path)
  return line === undefined ? {} : { line }
}

function readSection(name: string, section: string, table: object, found: Found): void {
  const { given, problems, lines } = found
  for (const [keyName, value] of Object.entries(table)) {
    const nested = `${section}.${keyName}`
    if (SECTIONS.includes(nested) && isTable(value)) {
      readSection(name, nested, value, found)
      continue
    }
    const entry = CONFIG_KEYS.find((candidate) => candidate.section === section && candidate.name === keyName)
    if (entry === undefined) problems.push(() => ({ ...unknownKey(name, section, keyName), ...at(lines, nested) }))
    else given.push({ entry, raw: value, asText: false, source: name, ...at(lines, nested), kind: 'file' })
  }
}

/** Makes the problem of an unknown key. Never shows its value, which may be a secret under a misspelt name. */
function unknownKey(source: string, section: string, keyName: string): Problem {
  // A key of exactly this name in another section is in the wrong table. Otherwise a similar name is suggested, first from this section.
  const elsewhere = CONFIG_KEYS.find((entry) => entry.name === keyName)
  const here = CONFIG_KEYS.filter((entry) => entry.section === section)
  const near = elsewhere ?? nearKey(keyName, here) ?? nearKey(keyName, CONFIG_KEYS)
  return {
    source,
    subject: `[${section}].${printable(keyName)}`,
    problem: near === null ? 'unknown key' : `unknown key, the nearest known one is ${near.label}`,
    got: printable(keyName),
    allowed: near?.label ?? here.map((entry) => entry.name).join(', '),
  }
}

function nearKey(keyName: string, entries: readonly KeyEntry[]): KeyEntry | null {
  const name = likelyMeant(
    keyName,
    entries.map((entry) => entry.name),
  )
  return entries.find((entry) => entry.name === name) ?? null
}

function unknownSection(source: string, section: string): Problem {
  const key = CONFIG_KEYS.find((entry) => entry.name === section)
  const near = likelyMeant(section, SECTIONS)
  const label = key?.label ?? (near === null ? null : `[${near}]`)
  return {
    source,
    subject: `[${printable(section)}]`,
    problem: label === null ? 'unknown section' : `unknown section, the nearest known one is ${label}`,
    got: printable(section),
    allowed: label ?? SECTIONS.map((name) => `[${name}]`).join(', '),
  }
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
