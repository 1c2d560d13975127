import { readFileSync } from 'node:fs'

/** A tool as described in docs/spec, built or not, in the order of the interface. [TOOL-27, TOOL-29] */
export interface SpecRow {
  readonly name: string
  readonly title: string
  readonly toolset: string
  readonly access: string
  /** The four annotations in the order RO, DE, ID, OW. */
  readonly hints: readonly boolean[]
  /** The cells of TOOL-29, with shorthands expanded. */
  readonly arguments: string
  readonly result: string
}

/** For terms of required access in the specification: the term in the code, where the two differ. */
const ACCESS: Readonly<Record<string, string>> = { 'none (filtered)': 'none', 'member or owner role': 'create' }
const SHORTHANDS: Readonly<Record<string, string>> = {
  D: 'docId',
  P: 'pageId',
  V: 'expectedVersion?, dryRun?',
  R: 'requestId?',
  L: 'limit?, cursor?',
  S: 'serverVersion',
  B: 'blocks',
}

/** Returns the cells of all tables of a page of the specification, including rows of tools that are not built. */
function cellsOf(page: string): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`../../../../../../docs/spec/mcp/${page}.md`, import.meta.url), 'utf8')
  return text.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replace(/ \((?:not yet|tested as .*)\)$/, '')))
}

const writtenOut = (cell: string): string => cell.replace(/\b[DPVRLSB]\b/g, (letter) => SHORTHANDS[letter] ?? letter)
const CALLS = new Map(
  cellsOf('tools').map(([, id = '', args = '', result = '']) => [id.replace('TOOL-', ''), { args, result }] as const),
)

export const SPEC_ROWS: readonly SpecRow[] = cellsOf('annotations')
  .filter(([, name = '']) => CALLS.has(name) && /^[a-z_]+$/.test(name))
  .map(([, name = '', title = '', toolset = '', access = '', ...hints]) => ({
    name,
    title,
    toolset,
    access: ACCESS[access] ?? access,
    hints: hints.slice(0, 4).map((hint) => hint === 'yes'),
    arguments: writtenOut(CALLS.get(name)?.args ?? ''),
    result: writtenOut(CALLS.get(name)?.result ?? ''),
  }))
