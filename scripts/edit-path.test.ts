import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONFIG_SCHEMA } from '../packages/server/src/config/schema.ts'
import { SCHEDULE } from '../packages/server/src/kernel/schedule.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/edit-path.md'), 'utf8')

it('docs/edit-path.md names each wait of an edit as long as it is in the code', () => {
  const told = [...page.matchAll(/<!-- wait ([a-z-]+) -->(\d+) (?:ms|edits\/s)<!-- end -->/g)].map(([, name, ms]) => [
    name,
    Number(ms),
  ])
  expect(Object.fromEntries(told)).toEqual({
    'light-slice': SCHEDULE.lightSliceMs,
    window: SCHEDULE.windowMs,
    'window-from': SCHEDULE.windowFromPerSecond,
    'to-store': SCHEDULE.toStoreMs,
    commit: CONFIG_SCHEMA.storage.commit_delay_ms.default,
    'to-worker': SCHEDULE.toWorkerMs,
    slice: SCHEDULE.workerSliceMs,
    'to-main': SCHEDULE.toGatewayMs,
    'to-node': SCHEDULE.toNodeMs,
  })
})

it('docs/edit-path.md names files that exist', () => {
  const files = [...page.matchAll(/`((?:sync|drivers)\/[a-z/-]+\.ts)`/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(8)
  for (const file of files) expect(() => readFileSync(join(import.meta.dirname, '../packages/server/src', file))).not.toThrow()
})
