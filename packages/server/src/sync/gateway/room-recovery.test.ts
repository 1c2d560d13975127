import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { RoomRecovery } from './room-recovery.ts'

const MINUTE_MS = 60_000

it('[LIFE-26] a document that seems to end nodes is not opened for 60 s, once in ten minutes, and other documents are not affected', async () => {
  const time = manualTime()
  const recovery = new RoomRecovery({ post: () => {}, clock: time.clock, log: silentLogger, isWatched: () => false })
  const [bad, good] = ['bad', 'good'].map((id) => ({ workspaceId: 'w', id })) as [Ref, Ref]
  expect(recovery.isBarred(bad)).toBe(false)
  expect(recovery.bar(bad)).toBe(true)
  expect([recovery.isBarred(bad), recovery.isBarred(good)]).toEqual([true, false])
  await time.advance(MINUTE_MS - 1)
  expect(recovery.isBarred(bad)).toBe(true)
  await time.advance(1)
  expect([recovery.isBarred(bad), recovery.bar(bad), recovery.isBarred(bad)]).toEqual([false, false, false])
  await time.advance(9 * MINUTE_MS)
  expect([recovery.bar(bad), recovery.isBarred(bad)]).toEqual([true, true])
})

interface Ref {
  readonly workspaceId: string
  readonly id: string
}
