import { expect, it } from 'vitest'
import type { Logger } from '../kernel/log.ts'
import { createMetrics } from '../kernel/metrics.ts'
import { silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createRefusalReport } from './refusal-report.ts'

function report() {
  const lines: unknown[] = []
  const log: Logger = { ...silentLogger, warn: (event, _, fields) => void lines.push([event, fields]) }
  const metrics = createMetrics({ version: '0.0.0', commit: 'test' })
  const { timers, advance } = manualTime()
  const refused = createRefusalReport({ listener: 'main', most: 10_000 }, { log, metrics, timers })
  const counted = async () =>
    /^relay_connections_refused_total\{listener="main"\} (\d+)$/m.exec((await metrics.render()).text)?.[1]
  return { lines, advance, counted, refuse: (count: number) => Array.from({ length: count }, refused) }
}

const line = (refused: number) => ['http.connections_full', { listener: 'main', limit: 10_000, refused }]

it('[H11] the first refusal is logged at once, and further ones at most every 10 s with their number', async () => {
  const { lines, advance, refuse } = report()
  refuse(1)
  expect(lines).toEqual([line(1)])
  refuse(2_000)
  await advance(9_999)
  expect(lines).toEqual([line(1)])
  await advance(1)
  expect(lines).toEqual([line(1), line(2_000)])
  refuse(3)
  await advance(10_000)
  expect(lines).toEqual([line(1), line(2_000), line(3)])
})

it('[H11] nothing is logged while nothing is refused', async () => {
  const { lines, advance, refuse } = report()
  await advance(60_000)
  expect(lines).toEqual([])
  refuse(1)
  await advance(60_000)
  expect(lines).toEqual([line(1)])
  refuse(1)
  expect(lines).toEqual([line(1), line(1)])
})

it('[H11] [OPS-4] refusals are counted by listener from 0 on', async () => {
  const { counted, refuse } = report()
  expect(await counted()).toBe('0')
  refuse(25)
  expect(await counted()).toBe('25')
})
