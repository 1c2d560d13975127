import { type Capacity, CAPACITY_TARGETS, type Trial } from './capacity.ts'
import type { Measured } from './generator.ts'
import { median, medianInterval } from './medians.ts'
import type { Scenario, Target } from './sync-scenarios.ts'

type Pick = (measured: Measured) => number

const CPU = 'CPU-µs per delivery'
const COLUMNS: Readonly<Record<string, Pick>> = {
  [CPU]: (m) => (m.serverCpuSec / m.deliveries) * 1e6,
  'deliveries/s': (m) => m.deliveries / m.seconds,
  'frames per delivery': (m) => m.frames / m.deliveries,
  'delivery p50 ms': (m) => m.deliveryMs.p50,
  'delivery p99 ms': (m) => m.deliveryMs.p99,
  'ack p50 ms': (m) => m.ackMs?.p50 ?? Number.NaN,
  'ack p99 ms': (m) => m.ackMs?.p99 ?? Number.NaN,
  'RSS MB': (m) => m.serverRssMb,
  'generator CPU share': (m) => m.generatorCpuSec / m.seconds,
  missing: (m) => m.missing,
}
const COMPARED = [CPU, 'deliveries/s', 'delivery p50 ms', 'delivery p99 ms', 'RSS MB'] as const

/** What each server measured in each round; `null` for a round in which the generator gave up. */
export type Rounds<T> = ReadonlyMap<Target, readonly (T | null)[]>

/** Prints the medians of all servers, and the relay's ratio to each other server with its interval. */
export function printScenario(name: string, scenario: Scenario, results: Rounds<Measured>): void {
  const { docs, clientsPerDoc, rate, window } = scenario
  const load = rate === 'saturate' ? `saturated, ${window} edits in flight each` : `${rate} edits/s each`
  console.log(`\n### ${name}: ${docs} documents × ${clientsPerDoc} clients, ${load}\n`)
  const columns = Object.entries(COLUMNS)
  printRow(['server', ...columns.map(([column]) => column)])
  printRow(columns.map(() => '---').concat('---'))
  const notes: string[] = []
  for (const [target, runs] of results) {
    const measured = runs.filter((run) => run !== null)
    printRow([target, ...columns.map(([, pick]) => figure(middle(measured.map(pick))))])
    const givenUp = runs.length - measured.length
    if (givenUp > 0) notes.push(`${target}: the generator gave up in ${givenUp} of ${runs.length} rounds.`)
  }
  for (const note of notes) console.log(`\n${note}`)
  if (results.size > 1) printRatios(results)
}

function printRatios(results: Rounds<Measured>): void {
  console.log('')
  printRow(['relay against', ...COMPARED])
  printRow(COMPARED.map(() => '---').concat('---'))
  for (const target of results.keys()) {
    if (target === 'relay') continue
    printRow([target, ...COMPARED.map((column) => cell(ratios(results, target, COLUMNS[column] as Pick)))])
  }
  printLegend(results)
}

/** The relay's value divided by the other's, for each round in which both have one. */
function ratios<T>(results: Rounds<T>, target: Target, pick: (value: T) => number): readonly number[] {
  const others = results.get(target) ?? []
  return (results.get('relay') ?? []).flatMap((relay, round) => {
    const other = others[round] ?? null
    const ratio = relay === null || other === null ? Number.NaN : pick(relay) / pick(other)
    // A round in which neither server has a finite value is left out.
    return Number.isNaN(ratio) ? [] : [ratio]
  })
}

/** Prints the size that each server carried, by round, and the relay's ratio to the others with its interval. */
export function printCapacity(rate: number, results: Rounds<Capacity>): void {
  console.log(`\n### capacity: the most documents × 5 clients, ${rate} edits/s each, that have a p99 of at most 100 ms\n`)
  printRow([
    'server',
    'documents',
    'of each round',
    'edits/s',
    'p99 ms',
    'CPU share',
    'next size',
    'p99 ms there',
    'relay against it',
  ])
  printRow(Array.from({ length: 9 }, () => '---'))
  for (const target of CAPACITY_TARGETS) {
    const found = (results.get(target) ?? []).filter((each) => each !== null)
    const best = (of: (trial: Trial) => number) => figure(middle(found.map((each) => valueOf(each.best, of))))
    const next = (of: (trial: Trial) => number) => figure(middle(found.map((each) => valueOf(each.next, of))))
    printRow([
      target,
      count(median(found.map((each) => each.best?.documents ?? 0))),
      found.map((each) => count(each.best?.documents ?? 0)).join('; '),
      count(median(found.map((each) => (each.best?.documents ?? 0) * 5 * rate))),
      best(p99),
      best(({ measured }) => (measured === null ? Number.NaN : measured.serverCpuSec / measured.seconds)),
      count(middle(found.map((each) => each.next?.documents ?? Number.NaN))),
      next(p99),
      target === 'relay' ? '' : cell(ratios(results, target, ({ best }) => best?.documents ?? 0)),
    ])
  }
  printLegend(results)
}

/** Returns the median of the values that are not missing. */
function middle(values: readonly number[]): number {
  return median(values.filter((value) => !Number.isNaN(value)))
}

function valueOf(trial: Trial | null, of: (trial: Trial) => number): number {
  return trial === null ? Number.NaN : of(trial)
}

function p99({ measured }: Trial): number {
  return measured?.deliveryMs.p99 ?? Number.NaN
}

/** One line about a size that was tried, for a person who watches the search. */
export function describeTrial(target: Target, { documents, isCarried, measured }: Trial): string {
  const verdict = isCarried ? 'carried' : 'not carried'
  if (measured === null) return `${target}, ${documents} documents: ${verdict}, the generator gave up`
  const share = measured.generatorCpuSec / measured.seconds
  const figures = `p99 ${figure(measured.deliveryMs.p99)} ms, ${figure(measured.deliveries / measured.seconds)} deliveries/s`
  return `${target}, ${documents} documents: ${verdict}; ${figures}, ${measured.missing} missing, generator ${figure(share)} of a core`
}

function cell(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const { median: middle, low, high } = medianInterval(values)
  return `${figure(middle)} (${figure(low)}–${figure(high)})`
}

function printLegend(results: Rounds<unknown>): void {
  const rounds = Math.max(...[...results.values()].map((runs) => runs.length))
  if (rounds === 1) return console.log('\nOne round.')
  const percent = Math.round(medianInterval(Array.from({ length: rounds }, () => 1)).confidence * 100)
  console.log(
    `\nMedians of ${rounds} interleaved rounds. A ratio is the median of the ratios of the rounds; the interval in parentheses holds the true median with ${percent} %, or less where a round has no ratio.`,
  )
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

function count(value: number): string {
  return Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en')
}

function figure(value: number): string {
  if (Number.isNaN(value)) return '–'
  if (value === Number.POSITIVE_INFINITY) return '∞'
  if (value >= 1_000) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}
