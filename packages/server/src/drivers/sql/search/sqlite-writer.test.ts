import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { manualTime } from '../../../kernel/testing/manual-time.ts'
import { temporaryStores } from '../testing/store-under-test.ts'
import { BATCH_MS } from './index-engine.ts'
import { hashOf } from './index-rows.ts'
import { openSqliteIndexReader } from './sqlite-reader.ts'
import { indexFolder, indexPath } from './sqlite-index-file.ts'
import { openSqliteWriter } from './sqlite-writer.ts'

const fresh = temporaryStores()
const STATE = { key: 1, version: 1, updatedAtMs: 1, coveredSeq: 0 }
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ placeClass: 3, words: `word row${n}`, hash: hashOf(`word row${n}`) }))

it('[AG-64] a document is written in batches of at most 5 ms, and counts as held only when all of it is written', async () => {
  const { path } = fresh()
  let nowMs = 0
  const writer = openSqliteWriter(
    path,
    // Each reading of the clock returns a later millisecond.
    () => nowMs++,
    () => undefined,
  )
  const reader = openSqliteIndexReader(path, () => 0)
  const query = { terms: [{ kind: 'word', word: 'word', alsoLonger: true }], sequence: ['word'] } as const
  const find = () => reader.find({ workspaceId: 'w', documents: [STATE], query, most: 1_000, withinMs: 1_000 })
  const seen: number[] = []
  let lastMs = 0
  await writer.write('w', STATE, rowsOf(100), async () => {
    expect(nowMs - lastMs).toBeLessThanOrEqual(BATCH_MS)
    const { groups, stale } = await find()
    expect(stale).toEqual([1])
    seen.push(groups[0]?.count ?? 0)
    lastMs = nowMs
  })
  expect(seen.length).toBeGreaterThan(20)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(await find()).toMatchObject({ groups: [{ count: 100 }], stale: [], cutOff: false })
  await reader.close()
  await writer.close()
})

it('[AG-64] an unchanged text of a document is not written to the index again when another text changes', async () => {
  const { path } = fresh()
  let steps = 0
  const writer = openSqliteWriter(
    path,
    () => steps++,
    () => undefined,
  )
  const pause = () => Promise.resolve()
  await writer.write('w', STATE, rowsOf(100), pause)
  const first = steps
  await writer.write('w', { ...STATE, version: 2 }, [...rowsOf(99), { placeClass: 3, words: 'new', hash: hashOf('new') }], pause)
  expect(first).toBeGreaterThan(100)
  expect(steps - first).toBeLessThan(10)
  await writer.close()
})

it('[AG-64] the index of a workspace is closed after a while without use, and can be used again', async () => {
  const { path } = fresh()
  const time = manualTime()
  const writer = openSqliteWriter(
    path,
    () => 0,
    () => undefined,
    time.timers,
  )
  const pause = () => Promise.resolve()
  // Each open index has a `-wal` file, and a closed one has none.
  const openFiles = () => readdirSync(indexFolder(path)).filter((name) => name.endsWith('-wal')).length
  for (const workspace of ['a', 'b', 'c']) await writer.write(workspace, STATE, rowsOf(2), pause)
  expect(openFiles()).toBe(3)
  await time.advance(60_000)
  await writer.write('a', { ...STATE, version: 2 }, rowsOf(3), pause)
  expect(openFiles()).toBe(3)
  await time.advance(60_000)
  expect(openFiles()).toBe(1)
  await time.advance(60_000)
  expect(openFiles()).toBe(0)
  expect(time.waiting()).toBe(0)
  expect(await writer.state({ workspaceId: 'a', key: 1 })).toMatchObject({ version: 2 })
  expect(openFiles()).toBe(1)
  await writer.close()
  expect(time.waiting()).toBe(0)
})

it('[AG-64] when more workspaces change in turn than files may be open, most of their files stay open', async () => {
  const { path } = fresh()
  const workspaces = ['a', 'b', 'c', 'd', 'e']
  const writer = openSqliteWriter(
    path,
    () => 0,
    () => undefined,
    manualTime().timers,
    4,
  )
  // Each open index has a `-wal` file, and a closed one has none.
  const isOpen = (workspace: string): boolean => existsSync(`${indexPath(indexFolder(path), workspace)}-wal`)
  let found = 0
  for (let version = 1; version <= 20; version++) {
    for (const workspace of workspaces) {
      if (isOpen(workspace)) found++
      await writer.write(workspace, { ...STATE, version }, rowsOf(version), () => Promise.resolve())
      expect(isOpen(workspace)).toBe(true)
      expect(workspaces.filter(isOpen).length).toBeLessThanOrEqual(4)
    }
  }
  // Of 95 writes after the first of each workspace, three in four find their file open.
  expect(found).toBeGreaterThanOrEqual(70)
  await writer.close()
})

it('[AG-64] the index of a workspace stays open during a write, however long the write takes', async () => {
  const { path } = fresh()
  const time = manualTime()
  let nowMs = 0
  const writer = openSqliteWriter(
    path,
    () => nowMs++,
    () => undefined,
    time.timers,
  )
  await writer.write('w', STATE, rowsOf(20), () => time.advance(120_000))
  expect(await writer.state({ workspaceId: 'w', key: 1 })).toMatchObject({ version: 1 })
  await writer.close()
})
