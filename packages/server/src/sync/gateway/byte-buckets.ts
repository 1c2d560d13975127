/** Bytes of SYNC messages that a workspace may send in one burst, and per second. [W4] */
const CAPACITY_BYTES = 1024 * 1024 * 1024
const REFILL_BYTES_PER_SEC = 2 * 1024 * 1024

/** The bucket of bytes of each workspace. A full bucket is forgotten. */
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

  /** Whether all buckets were full at the last `sweep`, and nothing has been taken since. */
  get areFull(): boolean {
    return this.#spent.size === 0
  }

  sweep(nowMs: number): void {
    for (const [workspaceId, bucket] of this.#spent) {
      if (bucket.bytes <= ((nowMs - bucket.atMs) * REFILL_BYTES_PER_SEC) / 1000) this.#spent.delete(workspaceId)
    }
  }
}
