/** Limits of one caller after claim and configuration were merged; `null` means unlimited. [interface, Limits rule 1; LIM-1] */
export interface ResolvedLimits {
  readonly quotaBytes: number | null
  readonly quotaSource: LimitSource
  readonly editorLimit: number | null
  readonly maxDocBytes: number | null
  readonly maxDocBytesSource: LimitSource
}

export type LimitSource = 'claim' | 'config'
