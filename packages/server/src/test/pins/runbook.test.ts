import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SOURCE = new URL('../..', import.meta.url).pathname
const DOCS = new URL('../../../../../docs/', import.meta.url).pathname
const guide = readFileSync(join(DOCS, 'operators-guide.md'), 'utf8')

/** Returns the events that the code logs at level error, found by a search of the sources. */
function errorEvents(): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/\.test\.ts$|\.contract\.ts$|(^|\/)(testing|test)\//.test(name),
  )
  const found = files.flatMap((name) => [
    ...readFileSync(join(SOURCE, name), 'utf8').matchAll(/\.error\(\s*'([a-z]+\.[a-z._-]+)'/g),
  ])
  return [...new Set(found.map((match) => match[1] ?? ''))].sort()
}

it('[OPS-5] the runbook lists exactly the log events of level error', () => {
  const table = guide.slice(guide.indexOf('### Log events of level error'), guide.indexOf('### The disk'))
  const first = table.split('\n').map((line) => line.split('|')[1] ?? '')
  const named = first.flatMap((cell) => [...cell.matchAll(/`([a-z]+\.[a-z._-]+)`/g)].map((match) => match[1] ?? ''))
  const events = errorEvents()
  expect(events.length).toBeGreaterThan(30)
  expect([...named].sort()).toEqual(events)
})

it('[OPS-4] every metric that the guide names exists', () => {
  const metrics = new Set(readFileSync(join(DOCS, 'reference/metrics.md'), 'utf8').match(/\b[a-z]+_[a-z_]+\b/g))
  const named = [...guide.matchAll(/`((?:relay|nodejs|http_server|revocation)_[a-z_]+)/g)].map((match) => match[1] ?? '')
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !metrics.has(name))).toEqual([])
})
