import { type Cost, confidenceLine, costTable, ratioTable, type Row, row, rule } from './scale-figures.ts'

/** Rounds can be compared when these are equal: the commit, the machine and the timing. */
export interface Setup {
  /** The newest commit that changed the programs, with `+` when there are uncommitted changes. */
  readonly commit: string
  readonly machine: string
  readonly warmUpSec: number
  readonly seconds: number
  /** Factor by which the rates of the shapes were multiplied. */
  readonly rate: number
}

/** A run and the day on which it was measured. */
export interface RecordedRow extends Row {
  readonly date: string
}

/** The rounds of one setup. */
export interface Section {
  readonly setup: Setup
  readonly rows: readonly RecordedRow[]
}

const HEAD = `# What several nodes cost: results

\`npm run bench:scale -- --record\` appends to this file, and makes all of it but the tables *Rounds* anew; see
[bench/README.md](../README.md#several-nodes) for what the figures say. Microseconds are processor time for each delivery.
`

const COLUMNS = [
  ...['round', 'run', 'date', 'forwarded f', 'relays µs', 'owner µs', 'PostgreSQL µs'],
  ...['Redis µs', 'cores in use', 'kept up', 'deliveries', 'missing'],
]
const GIVEN_UP = 'given up'

export function render(sections: readonly Section[]): string {
  return [HEAD, ...sections.map(renderSection)].join('\n')
}

function renderSection({ setup, rows }: Section): string {
  const dates = rows.map(({ date }) => date).toSorted()
  return [
    headingOf(setup),
    '',
    `${dates[0]} to ${dates.at(-1)}. ${confidenceLine(rows)}`,
    '',
    ...[ratioTable(rows), costTable(rows)].flatMap((table) => (table.length === 0 ? [] : [...table, ''])),
    '### Rounds',
    '',
    row(...COLUMNS),
    rule(COLUMNS.length),
    ...rows.map(rowLine),
    '',
  ].join('\n')
}

/** Two setups with the same heading are the same. */
export function headingOf({ commit, machine, warmUpSec, seconds, rate }: Setup): string {
  return `## ${commit} on ${machine}, ${warmUpSec} s of warm-up, ${seconds} s measured, ${rate} × the rates`
}

const HEADING = /^## (\S+) on (.+), ([\d.]+) s of warm-up, ([\d.]+) s measured, ([\d.]+) × the rates$/

function rowLine({ round, run, date, forwarded, cost }: RecordedRow): string {
  const figures =
    cost === null
      ? Array.from({ length: 8 }, () => GIVEN_UP)
      : [
          ...[cost.relays, cost.owner, cost.postgres, cost.redis, cost.cores, cost.keptUp].map((value) => value.toFixed(3)),
          ...[cost.deliveries, cost.missing].map(String),
        ]
  return row(String(round), run, date, forwarded.toFixed(3), ...figures)
}

/** Reads a results file that `render` wrote. Throws for any other heading or row of a round, since `render` would lose it. */
export function parse(text: string): readonly Section[] {
  const sections: { readonly setup: Setup; readonly rows: RecordedRow[] }[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) {
      const [, commit, machine, warmUpSec, seconds, rate] = HEADING.exec(line) ?? unreadable(line)
      const setup = { commit: String(commit), machine: String(machine), warmUpSec: Number(warmUpSec), seconds: Number(seconds) }
      sections.push({ setup: { ...setup, rate: Number(rate) }, rows: [] })
    }
    if (!/^\| \d/.test(line)) continue
    const section = sections.at(-1) ?? unreadable(line)
    section.rows.push(readRow(line))
  }
  return sections
}

function readRow(line: string): RecordedRow {
  const cells = line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
  if (cells.length !== COLUMNS.length) return unreadable(line)
  const [round, run, date, forwarded, ...figures] = cells as [string, string, string, string, ...string[]]
  return { round: Number(round), run, date, forwarded: Number(forwarded), cost: readCost(figures, line) }
}

function readCost(figures: readonly string[], line: string): Cost | null {
  if (figures.every((cell) => cell === GIVEN_UP)) return null
  const values = figures.map(Number)
  if (values.some(Number.isNaN)) return unreadable(line)
  const [relays = 0, owner = 0, postgres = 0, redis = 0, cores = 0, keptUp = 0, deliveries = 0, missing = 0] = values
  return { relays, owner, postgres, redis, cores, keptUp, deliveries, missing }
}

function unreadable(line: string): never {
  throw new Error(`the file of results has a line that this bench did not write: ${line}`)
}

/** Adds a row to the section of its setup. Creates the section when it does not exist. */
export function added(sections: readonly Section[], setup: Setup, recorded: RecordedRow): readonly Section[] {
  const heading = headingOf(setup)
  if (!sections.some((one) => headingOf(one.setup) === heading)) return [...sections, { setup, rows: [recorded] }]
  return sections.map((one) => (headingOf(one.setup) === heading ? { ...one, rows: [...one.rows, recorded] } : one))
}

/** The rows of a setup. */
export function rowsOf(sections: readonly Section[], setup: Setup): readonly RecordedRow[] {
  return sections.find((one) => headingOf(one.setup) === headingOf(setup))?.rows ?? []
}
