import { describe, expect, it } from 'vitest'
import { type ConfiguredLimits, resolveLimits } from './limits.ts'

const CONFIGURED: ConfiguredLimits = { storageQuotaBytes: 1_000, maxEditorsPerWorkspace: 3, maxDocBytes: 500 }
const UNLIMITED: ConfiguredLimits = { storageQuotaBytes: null, maxEditorsPerWorkspace: null, maxDocBytes: null }

describe('limits of a caller', () => {
  it('[LIM-1] without claims the configured limits apply', () => {
    expect(resolveLimits({}, CONFIGURED)).toEqual({
      quotaBytes: 1_000,
      quotaSource: 'config',
      editorLimit: 3,
      editorLimitSource: 'config',
      maxDocBytes: 500,
      maxDocBytesSource: 'config',
    })
  })

  it('[LIM-1] a claim replaces the configured limit, lower or higher', () => {
    expect(resolveLimits({ quotaBytes: 5, editorLimit: 9, maxDocBytes: 900 }, CONFIGURED)).toEqual({
      quotaBytes: 5,
      quotaSource: 'claim',
      editorLimit: 9,
      editorLimitSource: 'claim',
      maxDocBytes: 900,
      maxDocBytesSource: 'claim',
    })
  })

  it('[LIM-1] a 0 in claim or configuration means unlimited', () => {
    const claimed = resolveLimits({ quotaBytes: 0, editorLimit: 0, maxDocBytes: 0 }, CONFIGURED)
    const configured = resolveLimits({}, UNLIMITED)
    for (const limits of [claimed, configured])
      expect(limits).toMatchObject({ quotaBytes: null, editorLimit: null, maxDocBytes: null })
    expect([claimed.quotaSource, configured.quotaSource]).toEqual(['claim', 'config'])
  })

  it('[LIM-1] each limit of a caller is resolved independently', () => {
    expect(resolveLimits({ maxDocBytes: 7 }, { ...CONFIGURED, maxEditorsPerWorkspace: null })).toEqual({
      quotaBytes: 1_000,
      quotaSource: 'config',
      editorLimit: null,
      editorLimitSource: 'config',
      maxDocBytes: 7,
      maxDocBytesSource: 'claim',
    })
  })
})
