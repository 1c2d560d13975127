import type { KeyEntry } from './schema.ts'

/** A raw value that a source gives to a key. */
export interface Given {
  readonly entry: KeyEntry
  readonly raw: unknown
  /** True when the source has only text (environment, command line). */
  readonly asText: boolean
  /** Name of the source in messages: a file, variable or option. */
  readonly source: string
  /** Line of the file, where it is known. */
  readonly line?: number
  readonly kind: 'option' | 'environment' | 'secret-file' | 'file' | 'default'
}
