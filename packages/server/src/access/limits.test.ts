import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConfiguredLimits, resolveLimits } from './limits.ts'
import { admitGrowth } from './quota.ts'

const CONFIGURED: ConfiguredLimits = { storageQuotaBytes: 1_000, maxEditorsPerWorkspace: 3, maxDocBytes: 500 }
const UNLIMITED: ConfiguredLimits = { storageQuotaBytes: null, maxEditorsPerWorkspace: null, maxDocBytes: null }

describe('the limits of a caller', () => {
  it('[LIM-1] without claims the configuration holds', () => {
    expect(resolveLimits({}, CONFIGURED)).toEqual({
      quotaBytes: 1_000,
      quotaSource: 'config',
      editorLimit: 3,
      maxDocBytes: 500,
      maxDocBytesSource: 'config',
    })
  })

  it('[LIM-1] a claim wins, be it lower or higher', () => {
    expect(resolveLimits({ quotaBytes: 5, editorLimit: 9, maxDocBytes: 900 }, CONFIGURED)).toEqual({
      quotaBytes: 5,
      quotaSource: 'claim',
      editorLimit: 9,
      maxDocBytes: 900,
      maxDocBytesSource: 'claim',
    })
  })

  it('[LIM-1] a 0 from either source is unlimited', () => {
    const claimed = resolveLimits({ quotaBytes: 0, editorLimit: 0, maxDocBytes: 0 }, CONFIGURED)
    const configured = resolveLimits({}, UNLIMITED)
    for (const limits of [claimed, configured])
      expect(limits).toMatchObject({ quotaBytes: null, editorLimit: null, maxDocBytes: null })
    expect([claimed.quotaSource, configured.quotaSource]).toEqual(['claim', 'config'])
  })

  it('[LIM-1] each limit is resolved by itself', () => {
    expect(resolveLimits({ maxDocBytes: 7 }, { ...CONFIGURED, maxEditorsPerWorkspace: null })).toEqual({
      quotaBytes: 1_000,
      quotaSource: 'config',
      editorLimit: null,
      maxDocBytes: 7,
      maxDocBytesSource: 'claim',
    })
  })
})

describe('growth under a quota', () => {
  const cases: readonly (readonly [string, number, number, number, number | null, string])[] = [
    ['a new document that just fits', 0, 100, 900, 1_000, 'admitted'],
    ['a new document one byte too large', 0, 101, 900, 1_000, 'over-quota'],
    ['growth that just fits', 50, 150, 900, 1_000, 'admitted'],
    ['growth one byte too large', 50, 151, 900, 1_000, 'over-quota'],
    ['equal size, far over quota', 100, 100, 5_000, 1_000, 'admitted'],
    ['shrinking, far over quota', 100, 99, 5_000, 1_000, 'admitted'],
    ['one byte of growth, far over quota', 100, 101, 5_000, 1_000, 'over-quota'],
    ['a stored blob uploaded again adds nothing', 700, 700, 1_000, 1_000, 'admitted'],
    ['unlimited', 0, 2 ** 50, 2 ** 50, null, 'admitted'],
  ]
  it.each(cases)('[LIM-4] %s', (_, fromBytes, toBytes, usedBytes, quotaBytes, admission) => {
    expect(admitGrowth({ fromBytes, toBytes }, { usedBytes, quotaBytes })).toBe(admission)
  })

  it('[LIM-4] no sequence of admitted saves that grow ends above the quota, and a full workspace can always be emptied', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1 }), fc.integer({ min: 1, max: 1_000 }), (sizes, quotaBytes) => {
        let usedBytes = 0
        let fromBytes = 0
        for (const toBytes of sizes) {
          if (admitGrowth({ fromBytes, toBytes }, { usedBytes, quotaBytes }) === 'over-quota') continue
          usedBytes += toBytes - fromBytes
          fromBytes = toBytes
          expect(usedBytes).toBeLessThanOrEqual(quotaBytes)
        }
        expect(admitGrowth({ fromBytes, toBytes: 0 }, { usedBytes: usedBytes + 10_000, quotaBytes })).toBe('admitted')
      }),
    )
  })
})
