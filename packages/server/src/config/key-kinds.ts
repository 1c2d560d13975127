/** What every key says of itself. `doc` is the sentence an operator reads. */
interface KeyFacts {
  readonly env: string
  /** The command line option of `relay serve` that overrides it. */
  readonly flag?: string
  /** Never shown; also read from the file named by `<env>_FILE`. [CFG-4] */
  readonly secret?: true
  /** The start is refused while it has no value. */
  readonly required?: true
  readonly doc: string
}

export type TextFormat =
  | 'text'
  | 'path'
  | 'shared-secret'
  | 'http-url'
  | 'secure-url'
  | 'link-url'
  | 'storage-url'
  | 'blobs-url'
  | 'bus-url'

export interface TextKey extends KeyFacts {
  readonly kind: 'text'
  readonly format: TextFormat
  /** `null`: no value. Empty text counts as no value. */
  readonly default: string | null
  /** How a value is found when none is given, in words; `load.ts` computes it. */
  readonly derived?: string
}

/** What 0 says: no limit (the value becomes `null`), a value like any other, or an error. [CFG-8] */
export type ZeroMeaning = 'unlimited' | 'free port' | 'at once' | 'none' | 'refused'

export interface IntegerKey extends KeyFacts {
  readonly kind: 'integer'
  readonly unit: 'port' | 's' | 'ms' | 'days' | 'bytes' | 'count' | '1/s'
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
  readonly format: 'origins-or-star' | 'origins' | 'hosts'
  readonly default: readonly string[]
}

export interface ChoiceKey extends KeyFacts {
  readonly kind: 'choice'
  readonly choices: readonly string[]
  readonly default: string
}

export type ConfigKey = TextKey | IntegerKey | BooleanKey | ListKey | ChoiceKey

/** The longest span that a timer of the runtime can hold; a longer one would fire at once. */
export const MAX_TIMER_SECS = 2_147_483
export const MAX_PORT = 65_535
