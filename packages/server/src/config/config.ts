import type { CONFIG_SCHEMA } from './schema.ts'

type Schema = typeof CONFIG_SCHEMA

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S

type ValueOf<K> = K extends { kind: 'integer' }
  ? K extends { zero: 'unlimited' }
    ? number | null
    : number
  : K extends { kind: 'boolean' }
    ? boolean
    : K extends { kind: 'list' }
      ? readonly string[]
      : K extends { kind: 'choice'; choices: readonly (infer C)[] }
        ? C
        : K extends { required: true }
          ? string
          : string | null

type Section<S extends keyof Schema> = {
  readonly [N in keyof Schema[S] & string as Camel<N>]: ValueOf<Schema[S][N]>
}

/**
 * The effective configuration: sections and keys of the table in camelCase, e.g. `config.tenancy.limits.maxDocBytes`.
 *
 * An unlimited 0 is `null` [CFG-8]; a text without value is `null`. Three defaults are derived from other keys:
 * `storage.url`, `blobs.url` and `tenancy.workspaceId`, which is the pinned workspace and so `null` exactly in shared
 * mode [AUTH-7].
 */
export type Config = { readonly [S in Exclude<keyof Schema, 'tenancy' | 'tenancy.limits' | 'storage' | 'blobs'>]: Section<S> } & {
  readonly storage: Filled<Section<'storage'>>
  readonly blobs: Filled<Section<'blobs'>>
  readonly tenancy: Section<'tenancy'> & { readonly limits: Section<'tenancy.limits'> }
}

type Filled<T extends { readonly url: string | null }> = Omit<T, 'url'> & { readonly url: string }

/** Turns `max_doc_bytes` into `maxDocBytes`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
