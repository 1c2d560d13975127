import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { METRICS } from '../packages/server/src/kernel/metrics.ts'

const read = (...path: readonly string[]) => readFileSync(join(import.meta.dirname, '..', ...path), 'utf8')
const alerts = read('deploy', 'alerts.yaml')
const guide = read('docs', 'operators-guide.md')
const metricsIn = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(/\b(?:relay|revocation|nodejs|http_server)_[a-z_]+\b/g)].map(([name]) => name.replace(/_bucket$/, '')),
  ),
]

it('[OPS-4] the alert rules use only existing metrics', () => {
  const named = metricsIn(alerts.replaceAll(/^ *#.*$/gm, ''))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !(name in METRICS))).toEqual([])
})

it('[OPS-4] every metric that the operator is told to watch has an alert rule', () => {
  const table = guide.slice(guide.indexOf('| Alert when'), guide.indexOf('\n\n', guide.indexOf('| Alert when')))
  const watched = metricsIn([...table.matchAll(/^\|([^|]*)\|/gm)].map(([, cell]) => cell).join('\n'))
  expect(watched.length).toBeGreaterThan(10)
  expect(watched.filter((name) => !alerts.includes(name))).toEqual([])
})

it('[OPS-12] the image, the systemd unit and `npm start` run the relay with the same options of Node', () => {
  const optionsIn = (text: string) => text.match(/--max-[a-z-]+=\d+/g)
  const files = [read('Dockerfile'), read('deploy', 'docrelay.service'), read('packages/docrelay/src/try-out/relay-process.ts')]
  expect(files.map(optionsIn)).toEqual(files.map(() => ['--max-semi-space-size=16']))
})
