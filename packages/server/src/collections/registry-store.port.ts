/** What a workspace keeps beside its documents: one versioned JSON value of each kind. */
export type RegistryKind = 'collections' | 'style-profiles'

export interface Registry {
  /** 0 before the first write, then 1 more with each. [REST-25] */
  readonly version: number
  /** JSON text of the list; `[]` before the first write. */
  readonly text: string
}

export interface RegistryWrite {
  readonly workspaceId: string
  readonly kind: RegistryKind
  readonly text: string
  /** `null` replaces whatever is there. */
  readonly expectedVersion: number | null
  /** Ceiling on the UTF-8 bytes of all registries of the workspace together. [REST-32] */
  readonly maxBytes: number
}

export type RegistryOutcome =
  | { readonly kind: 'replaced'; readonly version: number }
  | { readonly kind: 'conflict'; readonly current: Registry }
  | { readonly kind: 'too-large'; readonly sizeBytes: number }

/** A write is durable when it resolves; compare and set are one transaction. Rejects with UNAVAILABLE or NOT_PERSISTED. */
export interface RegistryStore {
  read(workspaceId: string, kind: RegistryKind): Promise<Registry>
  replace(write: RegistryWrite): Promise<RegistryOutcome>
  /** UTF-8 bytes of all registries of a workspace. [REST-28] */
  configBytes(workspaceId: string): Promise<number>
}
