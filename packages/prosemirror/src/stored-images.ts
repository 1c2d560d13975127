/** Loads the bytes of a stored file; rejects when the person may not read it. */
export type LoadBlob = (hash: string, options: { readonly signal: AbortSignal }) => Promise<Blob>

const MAX_BYTES = 50 * 1024 * 1024

interface Loaded {
  readonly url: Promise<string>
  /** 0 until the bytes have arrived. */
  bytes: number
  shown: number
}

/**
 * Images of the workspace as object URLs, because an `<img>` cannot send a token. URLs that no view shows are kept up to 50 MB; the least
 * recently used are removed first.
 */
export class StoredImages {
  readonly #load: LoadBlob
  readonly #maxBytes: number
  readonly #stop = new AbortController()
  readonly #loaded = new Map<string, Loaded>()

  constructor(load: LoadBlob, maxBytes = MAX_BYTES) {
    this.#load = load
    this.#maxBytes = maxBytes
  }

  /** Returns the object URL of a stored file, which stays valid until `release`. After a failed load, the next caller loads again. */
  acquire(hash: string): Promise<string> {
    const loaded = this.#loaded.get(hash) ?? this.#begin(hash)
    // Keeps the map in the order of use.
    this.#loaded.delete(hash)
    this.#loaded.set(hash, loaded)
    loaded.shown++
    return loaded.url
  }

  release(hash: string): void {
    const loaded = this.#loaded.get(hash)
    if (loaded === undefined) return
    loaded.shown--
    this.#trim()
  }

  /** Aborts running loads and revokes all URLs. */
  destroy(): void {
    this.#stop.abort()
    for (const hash of [...this.#loaded.keys()]) this.#drop(hash)
  }

  #begin(hash: string): Loaded {
    const url = this.#load(hash, { signal: this.#stop.signal }).then((blob) => {
      loaded.bytes = blob.size
      this.#trim()
      return URL.createObjectURL(blob)
    })
    const loaded: Loaded = { url, bytes: 0, shown: 0 }
    url.catch(() => {
      if (this.#loaded.get(hash) === loaded) this.#loaded.delete(hash)
    })
    return loaded
  }

  #trim(): void {
    let bytes = [...this.#loaded.values()].reduce((sum, loaded) => sum + loaded.bytes, 0)
    for (const [hash, loaded] of this.#loaded) {
      if (bytes <= this.#maxBytes) return
      if (loaded.shown > 0 || loaded.bytes === 0) continue
      bytes -= loaded.bytes
      this.#drop(hash)
    }
  }

  #drop(hash: string): void {
    const loaded = this.#loaded.get(hash)
    this.#loaded.delete(hash)
    void loaded?.url.then((url) => URL.revokeObjectURL(url)).catch(() => undefined)
  }
}
