import type { Membership } from '../auth/principal.ts'

/** The limits of one caller, from claims and configuration; `null` is unlimited. [LIM-1] */
export interface ResolvedLimits {
  readonly quotaBytes: number | null
  readonly quotaSource: LimitSource
  readonly editorLimit: number | null
  readonly editorLimitSource: LimitSource
  readonly maxDocBytes: number | null
  readonly maxDocBytesSource: LimitSource
}

export type LimitSource = 'claim' | 'config'

/**
 * The configured limits, used where a token has no claim; `null` is unlimited (a configured 0 became `null`). [CFG-8]
 */
export interface ConfiguredLimits {
  readonly storageQuotaBytes: number | null
  readonly maxEditorsPerWorkspace: number | null
  readonly maxDocBytes: number | null
}

/**
 * Returns the limits of a caller. A claim wins over the configuration, also a claim of 0, which is unlimited. [LIM-1,
 * K10] An invalid claim counts as absent: the reader of the claims has left it out. [AUTH-4]
 */
export function resolveLimits(claims: Membership['claims'], configured: ConfiguredLimits): ResolvedLimits {
  return {
    quotaBytes: pick(claims.quotaBytes, configured.storageQuotaBytes),
    quotaSource: sourceOf(claims.quotaBytes),
    editorLimit: pick(claims.editorLimit, configured.maxEditorsPerWorkspace),
    editorLimitSource: sourceOf(claims.editorLimit),
    maxDocBytes: pick(claims.maxDocBytes, configured.maxDocBytes),
    maxDocBytesSource: sourceOf(claims.maxDocBytes),
  }
}

function pick(claim: number | undefined, configured: number | null): number | null {
  if (claim === undefined) return configured
  return claim === 0 ? null : claim
}

function sourceOf(claim: number | undefined): LimitSource {
  return claim === undefined ? 'config' : 'claim'
}
