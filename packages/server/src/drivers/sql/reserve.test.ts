import { describe, expect, it } from 'vitest'
import { reserveGrowth, reserveTarget } from './reserve.ts'

const MIB = 1 << 20
const space = (availableMib: number, totalMib: number) => ({ availableBytes: availableMib * MIB, totalBytes: totalMib * MIB })

describe('the size of the disk reserve', () => {
  it.each([
    ['a large volume', 100_000, 64],
    ['a volume of 1,280 MiB', 1280, 64],
    ['a small volume', 100, 5],
    ['an empty volume', 0, 0],
  ])('[LIFE-31] the disk reserve has the size defined for %s', (_, totalMib, expectedMib) => {
    expect(reserveTarget(space(0, totalMib))).toBe(expectedMib * MIB)
  })

  it.each([
    ['nothing of it is there and there is room', 0, space(500, 10_000), 64],
    ['a part was used and there is room', 56 * MIB, space(500, 10_000), 8],
    ['it is whole', 64 * MIB, space(500, 10_000), 0],
    ['it was used and the disk is still short of space', 56 * MIB, space(71, 10_000), 0],
    ['it was used and there is room for it twice', 56 * MIB, space(72, 10_000), 8],
    ['the volume became smaller', 64 * MIB, space(500, 1000), 0],
  ])('[LIFE-31] the disk reserve grows to the size in the table when %s', (_, held, given, expectedMib) => {
    expect(reserveGrowth(held, given)).toBe(expectedMib * MIB)
  })
})
