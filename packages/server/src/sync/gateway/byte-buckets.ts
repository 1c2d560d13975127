/** Bytes of SYNC messages that a workspace may send in one burst, and per second. [W4] */
const CAPACITY_BYTES = 1024 * 1024 * 1024
const REFILL_BYTES_PER_SEC = 2 * 1024 * 1024

/** A full bucket that was used within this time is kept, because it is probably used again. */
const KEPT_MS = 10_000

/** The bucket of bytes of each workspace. A full bucket is forgotten a while after its last use. */
export class ByteBuckets {
  readonly #spent = new Map<string, { bytes: number; atMs: number }>()
  readonly #capacityBytes: number

  constructor(capacityBytes = CAPACITY_BYTES) {
    this.#capacityBytes = capacityBytes
  }

  /** Takes bytes and returns 0, or returns the ms until the bucket has that many bytes. */
  take(workspaceId: string, bytes: number, nowMs: number): number {
    const bucket = this.#spent.get(workspaceId)
    if (bucket === undefined) {
      this.#spent.set(workspaceId, { bytes, atMs: nowMs })
      return 0
    }
    bucket.bytes = Math.max(0, bucket.bytes - ((nowMs - bucket.atMs) * REFILL_BYTES_PER_SEC) / 1000)
    bucket.atMs = nowMs
    if (bucket.bytes + bytes > this.#capacityBytes) {
      return Math.ceil(((bucket.bytes + bytes - this.#capacityBytes) * 1000) / REFILL_BYTES_PER_SEC)
    }
    bucket.bytes += bytes
    return 0
  }

  /** Whether no bucket is remembered. */
  get isEmpty(): boolean {
    return this.#spent.size === 0
  }

  sweep(nowMs: number): void {
    for (const [workspaceId, bucket] of this.#spent) {
      const restedMs = nowMs - bucket.atMs
      if (restedMs >= KEPT_MS && bucket.bytes <= (restedMs * REFILL_BYTES_PER_SEC) / 1000) this.#spent.delete(workspaceId)
    }
  }
}
