import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONFIG_SCHEMA } from '../packages/server/src/config/schema.ts'
import { LONG_WINDOW_MS } from '../packages/server/src/sync/room/edit-window.ts'
import { ROOM_OPTIONS } from '../packages/server/src/sync/room/room-host.ts'
import { TO_MAIN_WIDEST_MS } from '../packages/server/src/sync/workers/document-worker.ts'
import { TO_WORKER_WIDEST_MS } from '../packages/server/src/sync/workers/document-workers.ts'
import { SLICE_MS } from '../packages/server/src/sync/workers/turn-taker.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/edit-path.md'), 'utf8')

it('docs/edit-path.md names each wait of an edit as long as it is in the code', () => {
  const told = [...page.matchAll(/<!-- wait ([a-z-]+) -->(\d+) ms<!-- end -->/g)].map(([, name, ms]) => [name, Number(ms)])
  expect(Object.fromEntries(told)).toEqual({
    'to-worker': TO_WORKER_WIDEST_MS,
    slice: SLICE_MS,
    window: ROOM_OPTIONS.windowMs,
    'to-main': TO_MAIN_WIDEST_MS,
    commit: CONFIG_SCHEMA.storage.commit_delay_ms.default,
    'long-window': LONG_WINDOW_MS,
  })
})

it('docs/edit-path.md names files that exist', () => {
  const files = [...page.matchAll(/`((?:sync|drivers)\/[a-z/-]+\.ts)`/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(8)
  for (const file of files) expect(() => readFileSync(join(import.meta.dirname, '../packages/server/src', file))).not.toThrow()
})
