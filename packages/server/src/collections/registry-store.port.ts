/** A workspace keeps one versioned JSON value of each of these kinds beside its documents. */
export type RegistryKind = 'collections' | 'style-profiles'

export interface Registry {
  /** 0 before the first write; each write adds 1. [REST-25] */
  readonly version: number
  /** JSON text of the list; `[]` before the first write. */
  readonly text: string
}

export interface RegistryWrite {
  readonly workspaceId: string
  readonly kind: RegistryKind
  readonly text: string
  /** `null` replaces the value whatever its version. */
  readonly expectedVersion: number | null
  /** Most UTF-8 bytes that all registries of the workspace may have together. [REST-32] */
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
