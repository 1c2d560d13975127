import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const read = (...path: readonly string[]) => readFileSync(join(import.meta.dirname, '..', ...path), 'utf8')
const bench = read('bench', 'README.md')
const guide = read('docs', 'operators-guide.md')
const sizing = guide.slice(guide.indexOf('## Sizing'), guide.indexOf('## Backup'))

/** Returns the relay's row in the table under a heading of the benchmarks, by column. */
function relayRow(heading: string): Readonly<Record<string, string>> {
  const lines = bench.slice(bench.indexOf(`### ${heading}`)).split('\n')
  const cells = (line: string | undefined) =>
    (line ?? '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  const names = cells(lines.find((line) => line.startsWith('| server')))
  const values = cells(lines.find((line) => line.startsWith('| relay ')))
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']))
}

const first = (cell: string | undefined): string => (cell ?? '').split(' ')[0] ?? ''

it.each(['hot: 8', 'many: 400'])('the sizing table of the guide has the benchmark figures for %s', (heading) => {
  const row = relayRow(heading)
  const perSec = row['deliveries/s'] ?? ''
  const micros = row['CPU-µs per delivery'] ?? ''
  const cores = ((Number(perSec.replaceAll(',', '')) * Number(micros)) / 1e6).toFixed(2)
  expect(sizing).toContain(`${perSec} deliveries/s at ${micros} µs`)
  expect(sizing).toContain(`${cores} of a core, ${row['RSS MB']} MB`)
})

it('the sizing table of the guide has the benchmark figures for acknowledgements, connections and documents', () => {
  const limits = relayRow('default limits')
  expect(sizing).toContain(`${limits['ack p50 ms']} ms median, ${limits['ack p99 ms']} ms p99`)
  expect(sizing).toContain(`about ${first(relayRow('1000 idle')['KB per connection'])} KB`)
  const memory = first(relayRow('Memory of that document')['RSS growth MB'])
  expect(sizing).toContain(`${memory} MB; joined cold in ${first(relayRow('Join of a document')['cold ms'])} ms`)
})
