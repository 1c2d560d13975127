interface ModelDocument {
  bytes: number
  references: readonly string[]
  /** The references of the document's recovery points, oldest first. */
  points: (readonly string[])[]
  lagging: boolean
}

interface ModelGrant {
  readonly bytes: number
  metered: boolean
  unreferencedAtMs: number | null
}

interface ModelUpload {
  readonly workspace: string
  readonly hash: string
  readonly bytes: number
  readonly expiresAtMs: number
  readonly kind: 'stream' | 'presigned'
}

/** A model in memory of which workspace holds which blob. The random test compares the store with it. */
export class BlobModel {
  readonly uploads = new Map<string, ModelUpload>()
  readonly #documents = new Map<string, Map<string, ModelDocument>>()
  readonly #grants = new Map<string, Map<string, ModelGrant>>()
  /** Hashes whose bytes an upload may have left in the blob store. */
  readonly #bytes = new Set<string>()
  readonly #ring: number

  constructor(ring: number) {
    this.#ring = ring
  }

  document(workspace: string, id: string): ModelDocument | undefined {
    return this.#documents.get(workspace)?.get(id)
  }

  grantOf(workspace: string, hash: string): ModelGrant | undefined {
    return this.#grants.get(workspace)?.get(hash)
  }

  documentBytes(workspace: string): number {
    return sum([...(this.#documents.get(workspace)?.values() ?? [])].map(({ bytes }) => bytes))
  }

  meteredBytes(workspace: string): number {
    const grants = [...(this.#grants.get(workspace)?.values() ?? [])]
    return sum(grants.filter(({ metered }) => metered).map(({ bytes }) => bytes))
  }

  counted(workspace: string, nowMs: number, except: string | null = null): number {
    const live = [...this.uploads].filter(([id, of]) => id !== except && of.workspace === workspace && of.expiresAtMs > nowMs)
    const counting = live.filter(([, { hash, bytes }]) => this.grantOf(workspace, hash)?.bytes !== bytes)
    return this.documentBytes(workspace) + this.meteredBytes(workspace) + sum(counting.map(([, { bytes }]) => bytes))
  }

  /** Returns the bytes that a save adds to the usage besides those of the body. */
  meteredAnew(workspace: string, references: readonly string[]): number {
    return sum(
      references.map((hash) => this.grantOf(workspace, hash)).map((grant) => (grant?.metered === false ? grant.bytes : 0)),
    )
  }

  save(
    workspace: string,
    id: string,
    save: { readonly bytes: number; readonly references: readonly string[]; readonly captures: boolean; readonly nowMs: number },
  ): void {
    const before = this.document(workspace, id)
    const points = before === undefined ? [] : save.captures ? [...before.points, before.references] : before.points
    const after = { bytes: save.bytes, references: save.references, points: points.slice(-this.#ring), lagging: false }
    this.#within(this.#documents, workspace).set(id, after)
    for (const hash of save.references) {
      const grant = this.grantOf(workspace, hash)
      if (grant !== undefined) Object.assign(grant, { metered: true, unreferencedAtMs: null })
    }
    this.#lost(workspace, before, points.slice(0, -this.#ring), save.nowMs)
  }

  remove(workspace: string, id: string, nowMs: number): void {
    const before = this.document(workspace, id)
    this.#documents.get(workspace)?.delete(id)
    this.#lost(workspace, before, before?.points ?? [], nowMs)
  }

  reserve(id: string, upload: ModelUpload, nowMs: number): void {
    const isTold = this.#told(upload.workspace, upload.hash, nowMs)
    if (isTold && upload.kind === 'presigned') return
    this.uploads.set(id, { ...upload, bytes: this.grantOf(upload.workspace, upload.hash)?.bytes ?? upload.bytes })
    this.#bytes.add(upload.hash)
  }

  grant(workspace: string, hash: string, bytes: number, nowMs: number): void {
    this.#bytes.add(hash)
    if (this.#told(workspace, hash, nowMs)) return
    const unreferencedAtMs = this.#isReferenced(workspace, hash) ? null : nowMs
    this.#within(this.#grants, workspace).set(hash, { bytes, metered: true, unreferencedAtMs })
  }

  release(beforeMs: number, nowMs: number): void {
    for (const [id, { kind, expiresAtMs }] of this.uploads) {
      if (kind === 'stream' && expiresAtMs <= nowMs) this.uploads.delete(id)
    }
    for (const [workspace, grants] of this.#grants) {
      if ([...(this.#documents.get(workspace)?.values() ?? [])].some(({ lagging }) => lagging)) continue
      for (const [hash, grant] of grants) {
        if (grant.unreferencedAtMs === null || grant.unreferencedAtMs > beforeMs) continue
        if (this.#isRetained(workspace, hash)) Object.assign(grant, { metered: false, unreferencedAtMs: null })
        else grants.delete(hash)
      }
    }
  }

  orphans(): string[] {
    const held = new Set([...this.#grants.values()].flatMap((grants) => [...grants.keys()]))
    for (const { hash } of this.uploads.values()) held.add(hash)
    return [...this.#bytes].filter((hash) => !held.has(hash)).sort()
  }

  forget(hash: string): void {
    this.#bytes.delete(hash)
  }

  endStreams(): void {
    for (const [id, { kind }] of this.uploads) if (kind === 'stream') this.uploads.delete(id)
  }

  /** Tells a caller that a blob exists, which restarts its grace period. Returns false when the blob does not exist. */
  #told(workspace: string, hash: string, nowMs: number): boolean {
    const grant = this.grantOf(workspace, hash)
    if (grant === undefined) return false
    if (grant.unreferencedAtMs !== null) grant.unreferencedAtMs = Math.max(grant.unreferencedAtMs, nowMs)
    return true
  }

  #lost(workspace: string, before: ModelDocument | undefined, points: readonly (readonly string[])[], nowMs: number): void {
    for (const hash of before?.references ?? []) {
      const grant = this.grantOf(workspace, hash)
      if (grant !== undefined && !this.#isReferenced(workspace, hash)) grant.unreferencedAtMs = nowMs
    }
    for (const hash of points.flat()) {
      const grant = this.grantOf(workspace, hash)
      if (grant?.metered === false && !this.#isRetained(workspace, hash)) grant.unreferencedAtMs ??= nowMs
    }
  }

  #isReferenced(workspace: string, hash: string): boolean {
    return [...(this.#documents.get(workspace)?.values() ?? [])].some(({ references }) => references.includes(hash))
  }

  #isRetained(workspace: string, hash: string): boolean {
    return [...(this.#documents.get(workspace)?.values() ?? [])].some(({ points }) => points.some((of) => of.includes(hash)))
  }

  #within<T>(of: Map<string, Map<string, T>>, workspace: string): Map<string, T> {
    const found = of.get(workspace) ?? new Map<string, T>()
    of.set(workspace, found)
    return found
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
