import { expect, it } from 'vitest'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createClockJumps } from './clock-jumps.ts'
import { someBytes } from './testing/blob-bytes.ts'
import { callerOf } from './testing/blob-workspace.ts'
import { blobWorkspaces } from './testing/blob-workspaces.ts'

const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
const open = blobWorkspaces()

it('[BLOB-15] after a jump of the wall clock ages are trusted again after a grace period without another jump', async () => {
  const time = manualTime()
  const trusted = createClockJumps(time.clock, 5 * MINUTE_MS)
  await time.advance(MINUTE_MS)
  expect(trusted()).toBe(true)
  time.jumpWall(YEAR_MS)
  await time.advance(MINUTE_MS)
  expect(trusted()).toBe(false)
  await time.advance(4 * MINUTE_MS)
  expect(trusted()).toBe(false)
  await time.advance(MINUTE_MS)
  expect(trusted()).toBe(true)
  time.jumpWall(-YEAR_MS)
  expect(trusted()).toBe(false)
})

it('[BLOB-15] ages stay trusted when the wall clock is adjusted by seconds', async () => {
  const time = manualTime()
  const trusted = createClockJumps(time.clock, 5 * MINUTE_MS)
  time.jumpWall(30_000)
  await time.advance(MINUTE_MS)
  expect(trusted()).toBe(true)
})

it('[BLOB-15] a blob just uploaded is kept for its whole grace period after a jump of the wall clock', async () => {
  const { upload, collect, files, time } = await open()
  const trusted = createClockJumps(time.clock, 5 * MINUTE_MS)
  await upload(callerOf(), someBytes(100))
  time.jumpWall(YEAR_MS)
  for (let minute = 0; minute < 4; minute++) {
    await time.advance(MINUTE_MS)
    if (trusted()) await collect()
    expect(files()).toHaveLength(1)
  }
  await time.advance(2 * MINUTE_MS)
  if (trusted()) await collect()
  expect(files()).toEqual([])
})
