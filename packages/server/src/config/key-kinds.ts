/** Facts that every key has. `doc` is the sentence that an operator reads. */
interface KeyFacts {
  readonly env: string
  /** The option of `relay serve` that overrides the key. */
  readonly flag?: string
  /** The value is never shown, and can also be read from the file that `<env>_FILE` names. [CFG-4] */
  readonly secret?: true
  /** The relay does not start while the key has no value. */
  readonly required?: true
  readonly doc: string
}

export type TextFormat =
  | 'text'
  | 'path'
  | 'listen-host'
  | 'shared-secret'
  | 'http-url'
  | 'issuer'
  | 'secure-url'
  | 'link-url'
  | 'page-path'
  | 'authorize-params'
  | 'storage-url'
  | 'blobs-url'
  | 'bus-url'
  | 'node-url'

export interface TextKey extends KeyFacts {
  readonly kind: 'text'
  readonly format: TextFormat
  /** `null`: no value. Empty text counts as no value. */
  readonly default: string | null
  /** Says in words how the value is derived when none is given; `load.ts` computes it. */
  readonly derived?: string
}

/** The meaning of 0: no limit (the value becomes `null`), a value like any other, or an error. [CFG-8] */
export type ZeroMeaning = 'unlimited' | 'free port' | 'at once' | 'none' | 'off' | 'refused'

export interface IntegerKey extends KeyFacts {
  readonly kind: 'integer'
  readonly unit: 'port' | 's' | 'ms' | 'days' | 'bytes' | 'count' | '1/s' | 'percent'
  readonly default: number
  readonly zero: ZeroMeaning
  readonly min?: number
  readonly max?: number
}

export interface BooleanKey extends KeyFacts {
  readonly kind: 'boolean'
  readonly default: boolean
}

export interface ListKey extends KeyFacts {
  readonly kind: 'list'
  readonly format: 'origins-or-star' | 'origins' | 'http-origins' | 'hosts' | 'cidrs' | 'cluster-secrets'
  readonly default: readonly string[]
}

export interface ChoiceKey extends KeyFacts {
  readonly kind: 'choice'
  readonly choices: readonly string[]
  readonly default: string
}

export type ConfigKey = TextKey | IntegerKey | BooleanKey | ListKey | ChoiceKey

/** Longest time in seconds that a timer of the runtime can hold; a longer one would fire at once. */
export const MAX_TIMER_SECS = 2_147_483
export const MAX_PORT = 65_535
