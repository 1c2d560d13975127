import type { ConfigKey } from './key-kinds.ts'
import { FEATURE_KEYS } from './schema-features.ts'
import { SERVICE_KEYS } from './schema-service.ts'
import { TENANCY_KEYS } from './schema-tenancy.ts'

/**
 * THE table of configuration keys. [CFG-9, CFG-10] The parser, the type `Config`, the file of `relay init`, `relay
 * config print` and docs/reference/config.md are made from it.
 */
export const CONFIG_SCHEMA = { ...SERVICE_KEYS, ...TENANCY_KEYS, ...FEATURE_KEYS } as const

/** One key with its place in the file. */
export interface KeyEntry {
  /** e.g. `tenancy.limits`. */
  readonly section: string
  /** e.g. `max_doc_bytes`. */
  readonly name: string
  /** Name of the key in problems and documents: `[tenancy.limits].max_doc_bytes`. */
  readonly label: string
  readonly key: ConfigKey
}

/** Every key in table order. */
export const CONFIG_KEYS: readonly KeyEntry[] = Object.entries(CONFIG_SCHEMA).flatMap(([section, keys]) =>
  Object.entries(keys).map(([name, key]) => ({ section, name, label: `[${section}].${name}`, key })),
)
