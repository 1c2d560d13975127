import type { ResolvedLimits } from '../limits.ts'

/** Limits of a caller for whom neither claims nor configuration set any. */
export const NO_LIMITS: ResolvedLimits = {
  quotaBytes: null,
  quotaSource: 'config',
  editorLimit: null,
  editorLimitSource: 'config',
  maxDocBytes: null,
  maxDocBytesSource: 'config',
}
