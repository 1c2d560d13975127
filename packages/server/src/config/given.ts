import type { KeyEntry } from './schema.ts'

/** A raw value that some source gives a key. */
export interface Given {
  readonly entry: KeyEntry
  readonly raw: unknown
  /** The source knows only text. */
  readonly asText: boolean
  /** As problems name it: a file, variable or option. */
  readonly source: string
  readonly kind: 'option' | 'environment' | 'secret-file' | 'file' | 'default'
}
