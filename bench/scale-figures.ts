import { median, medianInterval, type MedianInterval } from './medians.ts'

/** Cost of one run in one round: microseconds of CPU time for each delivery. */
export interface Cost {
  /** CPU time of all relays together. */
  readonly relays: number
  /** CPU time of the relay that owns the first document. */
  readonly owner: number
  readonly postgres: number
  readonly redis: number
  /** Cores in use by the relays, PostgreSQL, Redis and the load generator together. */
  readonly cores: number
  readonly deliveries: number
  /**
   * Deliveries divided by the deliveries that the edits of the same time should cause. Below 1 the relays did not keep up, and the costs say little.
   */
  readonly keptUp: number
  readonly missing: number
}

export interface Row {
  /** Counts from 1. */
  readonly round: number
  /** Name of the run in `RUNS`. */
  readonly run: string
  /** Share of the edits that were forwarded, because another node owns their document. */
  readonly forwarded: number
  readonly cost: Cost | null
}

/** A cost divided by another cost of the same round. */
export interface Ratio {
  readonly name: string
  readonly of: string
  readonly to: string
  readonly part: 'relays' | 'owner'
  /** The goal: the ratio should be at most this. `null`: the ratio is only shown. */
  readonly most: number | null
}

const costOf = (shape: string): readonly Ratio[] => [
  { name: `${shape}: one node to a relay alone`, of: `${shape}-1`, to: `${shape}-1-alone`, part: 'relays', most: null },
  { name: `${shape}: R(2), random`, of: `${shape}-2-random`, to: `${shape}-1`, part: 'relays', most: 1.25 },
  { name: `${shape}: R(2), sticky`, of: `${shape}-2-sticky`, to: `${shape}-1`, part: 'relays', most: 1.1 },
  { name: `${shape}: R(4), random`, of: `${shape}-4-random`, to: `${shape}-1`, part: 'relays', most: null },
  { name: `${shape}: R(4), sticky`, of: `${shape}-4-sticky`, to: `${shape}-1`, part: 'relays', most: null },
  { name: `${shape}: R(4)/R(2), random`, of: `${shape}-4-random`, to: `${shape}-2-random`, part: 'relays', most: 1.15 },
  { name: `${shape}: R(4)/R(2), sticky`, of: `${shape}-4-sticky`, to: `${shape}-2-sticky`, part: 'relays', most: 1.15 },
]

export const RATIOS: readonly Ratio[] = [
  ...costOf('many'),
  ...costOf('hot'),
  { name: 'readers: owner on 4 nodes to 1', of: 'readers-4', to: 'readers-1', part: 'owner', most: 1 / 3 },
]

/** Returns the ratio for each round that has both costs, in the order of the rounds. */
export function ratiosOf(rows: readonly Row[], { of, to, part }: Ratio): readonly number[] {
  const below = new Map(rows.filter(({ run }) => run === to).map(({ round, cost }) => [round, cost]))
  return rows
    .filter(({ run }) => run === of)
    .toSorted((a, b) => a.round - b.round)
    .flatMap(({ round, cost }) => {
      const divisor = below.get(round) ?? null
      return cost === null || divisor === null || divisor[part] === 0 ? [] : [cost[part] / divisor[part]]
    })
}

export type Verdict =
  /** The whole interval is on one side of the goal. */
  | 'met'
  | 'missed'
  /** The median meets or misses the goal, but the interval contains the goal. */
  | 'met, not surely'
  | 'missed, not surely'
  | 'not measured'

export function verdictOf(values: readonly number[], most: number): Verdict {
  if (values.length === 0) return 'not measured'
  const interval = medianInterval(values)
  const isMet = interval.median <= most
  const isSure = isMet ? interval.high <= most : interval.low > most
  return `${isMet ? 'met' : 'missed'}${isSure ? '' : ', not surely'}`
}

/** Lines of a table with one ratio each. */
export function ratioTable(rows: readonly Row[]): readonly string[] {
  const lines = RATIOS.flatMap((ratio) => {
    const values = ratiosOf(rows, ratio)
    if (values.length === 0) return []
    const { most } = ratio
    const goal = most === null ? ['–', '–'] : [`≤ ${most.toFixed(2)}`, bold(verdictOf(values, most))]
    return [row(ratio.name, interval(medianInterval(values)), ...goal, values.map(figure).join('; '))]
  })
  return lines.length === 0 ? [] : [row('ratio', 'median', 'goal', 'verdict', 'of each round'), rule(5), ...lines]
}

/** Lines of a table with the medians of one run each. */
export function costTable(rows: readonly Row[]): readonly string[] {
  const names = [...new Set(rows.map(({ run }) => run))]
  return [
    row(
      'run',
      'forwarded f',
      'relays µs',
      'owner µs',
      'PostgreSQL µs',
      'Redis µs',
      'cores in use',
      'kept up',
      'missing',
      'given up',
    ),
    rule(10),
    ...names.map((name) => {
      const ofRun = rows.filter(({ run }) => run === name)
      const costs = ofRun.flatMap(({ cost }) => (cost === null ? [] : [cost]))
      const middle = (pick: (cost: Cost) => number) => figure(median(costs.map(pick)))
      return row(
        name,
        figure(median(ofRun.map(({ forwarded }) => forwarded))),
        middle(({ relays }) => relays),
        name.startsWith('readers') ? middle(({ owner }) => owner) : '–',
        middle(({ postgres }) => postgres),
        middle(({ redis }) => redis),
        middle(({ cores }) => cores),
        middle(({ keptUp }) => keptUp),
        String(costs.reduce((sum, { missing }) => sum + missing, 0)),
        String(ofRun.length - costs.length),
      )
    }),
  ]
}

/** One line that states the confidence of the medians. */
export function confidenceLine(rows: readonly Row[]): string {
  const rounds = new Set(rows.map(({ round }) => round)).size
  if (rounds < 2) return `${rounds === 1 ? 'One round' : 'No rounds'}.`
  const { confidence } = medianInterval(Array.from({ length: rounds }, () => 1))
  return `Medians of ${rounds} interleaved rounds; an interval in parentheses holds the true median with ${Math.round(confidence * 100)} %, or less where a round has no ratio.`
}

function bold(verdict: Verdict): string {
  return verdict.startsWith('missed') ? `**${verdict}**` : verdict
}

function interval({ median: middle, low, high }: MedianInterval): string {
  return `${figure(middle)} (${figure(low)}–${figure(high)})`
}

export function figure(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : '–'
}

export function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

export function rule(cells: number): string {
  return row(...Array.from({ length: cells }, () => '---'))
}
