import type { Membership } from '../auth/principal.ts'

/** Limits of one caller after claim and configuration were merged; `null` means unlimited. [interface, Limits rule 1; LIM-1] */
export interface ResolvedLimits {
  readonly quotaBytes: number | null
  readonly quotaSource: LimitSource
  readonly editorLimit: number | null
  readonly maxDocBytes: number | null
  readonly maxDocBytesSource: LimitSource
}

export type LimitSource = 'claim' | 'config'

/** The configured fallbacks; `null` is unlimited, the configuration has turned its 0 into it. [CFG-8] */
export interface ConfiguredLimits {
  readonly storageQuotaBytes: number | null
  readonly maxEditorsPerWorkspace: number | null
  readonly maxDocBytes: number | null
}

/**
 * The limits that hold for a caller: a claim wins over the configuration, also a claim of 0, which is unlimited. [LIM-1, K10]
 * A member whose claim is bad has none: the reader of the claims left it out. [AUTH-4]
 */
export function resolveLimits(claims: Membership['claims'], configured: ConfiguredLimits): ResolvedLimits {
  return {
    quotaBytes: pick(claims.quotaBytes, configured.storageQuotaBytes),
    quotaSource: sourceOf(claims.quotaBytes),
    editorLimit: pick(claims.editorLimit, configured.maxEditorsPerWorkspace),
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
