import type { CommandIo } from '../packages/server/src/commands/command.ts'
import { runCommandLine } from '../packages/server/src/commands/command-line.ts'
import { CONFIG_KEYS } from '../packages/server/src/config/schema.ts'
import { routeTable } from '../packages/server/src/compose/route-table.ts'
import { ERRORS } from '../packages/server/src/kernel/errors.ts'
import { METRICS } from '../packages/server/src/kernel/metrics.ts'
import { TOOL_NAMES } from '../packages/server/src/mcp/tools/all-tools.ts'
import { TOOL_ERRORS } from '../packages/server/src/mcp/tools/tool-errors.ts'

/** The rows of the tables in docs/spec, by the id of the table: the first cell of each row that is not marked (not yet). */
export type SpecTables = ReadonlyMap<string, readonly string[]>

/** Tables whose id is in the list item above them, not in their head. */
const BELOW = ['TOOL-27', 'TOOL-28', 'TOOL-29']

export function readTables(pages: readonly string[]): SpecTables {
  const tables = new Map<string, string[]>()
  for (const page of pages) {
    let above: string | null = null
    let rows: string[] | null = null
    for (const line of page.split('\n')) {
      const item = /^- \*\*([A-Z]+-\d+)\*\*/.exec(line)
      const head = /^\| \*\*([A-Z]+-\d+)\*\*/.exec(line)
      if (item) above = BELOW.includes(item[1] ?? '') ? (item[1] ?? null) : null
      if (!line.startsWith('|')) rows = null
      else if (head) tables.set(head[1] ?? '', (rows = []))
      else if (rows === null && above !== null) {
        rows = tables.get(above) ?? []
        tables.set(above, rows)
      } else if (rows !== null && !line.startsWith('|---') && !line.startsWith('| ---')) {
        const cell = (line.split('|')[1] ?? '').trim()
        if (!cell.endsWith('(not yet)')) rows.push(cell.replace(/ \((?:in part|tested as .*)\)$/, ''))
      }
    }
  }
  return tables
}

/** Keys named in a cell: `[a] b; c §` names two keys of one section. */
function keysOf(cell: string): readonly string[] {
  const [, section = '', names = ''] = /^(\[[a-z.]+\]) (.*)$/.exec(cell.replaceAll(' §', '')) ?? []
  return names.split(/[;,] /).map((name) => `${section} ${name}`)
}

/** Routes named in a cell: `GET, POST /a, /b` means every method with every path. `{id}` is written `:id` in the code. */
function routesOf(cell: string): readonly string[] {
  const [, methods = '', paths = ''] = /^([A-Z, ]+) (\/.*)$/.exec(cell) ?? []
  const path = (text: string) => text.replaceAll(/\{(\w+)\}/g, ':$1')
  return methods.split(', ').flatMap((method) => paths.split(', ').map((text) => `${method} ${path(text)}`))
}

interface Comparison {
  readonly tables: readonly string[]
  /** Converts the first cell of a row to the names in it. */
  readonly of: (cell: string) => readonly string[]
  readonly code: readonly string[]
}

const names = (cell: string): readonly string[] => cell.replaceAll(/\{[^}]*\}/g, '').split(', ')
const tools = [...TOOL_NAMES]

/** Commands such as `config check`, from the overview that `relay help` prints. */
async function commandNames(): Promise<readonly string[]> {
  let overview = ''
  const io = { stdout: (text: string) => (overview += text) } as unknown as CommandIo
  await runCommandLine(['help'], io, { version: '', loadRelay: () => Promise.reject(new Error('nothing is served')) })
  return [...overview.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help')
}

/** Returns the commands named in a cell: one command with its options, or several that only print text. */
function commandsOf(cell: string): readonly string[] {
  const name = /^`relay ([a-z]+(?: [a-z]+)?)/.exec(cell)?.[1]
  return name === undefined ? [] : [name]
}

const commands = await commandNames()

const COMPARISONS: readonly Comparison[] = [
  { tables: ['CFG-10'], of: keysOf, code: CONFIG_KEYS.map(({ section, name }) => `[${section}] ${name}`) },
  { tables: ['CFG-11'], of: commandsOf, code: commands },
  { tables: ['REST-30', 'REST-38'], of: routesOf, code: routeTable().map(({ method, path }) => `${method} ${path}`) },
  { tables: ['REST-14'], of: names, code: Object.keys(ERRORS) },
  { tables: ['OPS-4'], of: names, code: Object.keys(METRICS) },
  { tables: ['TOOL-27'], of: names, code: tools },
  { tables: ['TOOL-28'], of: names, code: Object.keys(TOOL_ERRORS) },
  { tables: ['TOOL-29'], of: (cell) => [cell.replace('TOOL-', '')], code: tools },
]

/** Returns rows without a counterpart in the code, and names in the code without a row. Both must be changed in the same commit. */
export function compareTables(tables: SpecTables): readonly string[] {
  return COMPARISONS.flatMap(({ tables: ids, of, code }) => {
    const rows = new Set(ids.flatMap((id) => tables.get(id) ?? []).flatMap(of))
    const present = new Set(code)
    const where = `table ${ids.join(' or ')} of docs/spec`
    return [
      ...code.filter((name) => !rows.has(name)).map((name) => `${name} has no row in ${where} (one marked (not yet) is none)`),
      ...[...rows].filter((name) => !present.has(name)).map((name) => `${name} is a row in ${where} and not in the code`),
    ]
  })
}
