import { expect, it } from 'vitest'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createSpaceCheck, isTooFull, type VolumeSpace } from './space.ts'

const GIB = 1_073_741_824

it.each([
  [{ availableBytes: GIB, totalBytes: 100 * GIB }, false],
  [{ availableBytes: GIB - 1, totalBytes: 100 * GIB }, true],
  [{ availableBytes: GIB / 2, totalBytes: 10 * GIB }, false],
  [{ availableBytes: GIB / 2 - 1, totalBytes: 10 * GIB }, true],
  [{ availableBytes: 0, totalBytes: GIB }, true],
] as const)('[X34] a volume is too full below 1 GiB and below 5% free space', (space, expected) => {
  expect(isTooFull(space)).toBe(expected)
})

it('[X34] uploads are refused while the volume is too full, measured once a second', async () => {
  const { clock, advance } = manualTime()
  let space: VolumeSpace = { availableBytes: 1, totalBytes: 100 * GIB }
  let measured = 0
  const check = createSpaceCheck(() => {
    measured += 1
    return Promise.resolve(space)
  }, clock)
  await expect(check()).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterMs: 30_000 } })
  space = { availableBytes: 50 * GIB, totalBytes: 100 * GIB }
  await expect(check()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await advance(1_000)
  await expect(check()).resolves.toBeUndefined()
  expect(measured).toBe(2)
})

it('[X34] a failed measurement refuses uploads and is repeated', async () => {
  const { clock, advance } = manualTime()
  let fails = true
  const check = createSpaceCheck(
    () => (fails ? Promise.reject(new Error('no volume')) : Promise.resolve({ availableBytes: GIB, totalBytes: GIB })),
    clock,
  )
  await expect(check()).rejects.toThrow('no volume')
  fails = false
  await advance(1_000)
  await expect(check()).resolves.toBeUndefined()
})
