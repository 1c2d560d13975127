import type { ResolvedLimits } from '../limits.ts'

/** Of a caller whose claims and configuration set none. */
export const NO_LIMITS: ResolvedLimits = {
  quotaBytes: null,
  quotaSource: 'config',
  editorLimit: null,
  editorLimitSource: 'config',
  maxDocBytes: null,
  maxDocBytesSource: 'config',
}
