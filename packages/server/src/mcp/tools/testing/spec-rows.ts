import { readFileSync } from 'node:fs'

/** What docs/spec says of a tool, built or not, in the order of the interface. [TOOL-27, TOOL-29] */
export interface SpecRow {
  readonly name: string
  readonly title: string
  readonly toolset: string
  readonly access: string
  /** RO, DE, ID, OW. */
  readonly hints: readonly boolean[]
  /** The cells of TOOL-29, their shorthands written out. */
  readonly arguments: string
  readonly result: string
}

/** The words of the page for what a caller needs where they are not those of the code. */
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

/** The cells of the tables of a page, rows of tools that are not built included. */
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
