/** The pace that a body must keep while the relay waits for it. */
export interface PaceLimits {
  /** Longest wait without a byte. [REST-7] */
  readonly stallMs: number
  /** A body that arrives at this rate may take as long as it needs. */
  readonly minBytesPerSec: number
}

/**
 * The limits of the relay. On a slow line of 20 kB/s, 150 MB take two hours, which is allowed. A client that sends single bytes is far below
 * `minBytesPerSec`.
 */
export const PACE_LIMITS: PaceLimits = { stallMs: 60_000, minBytesPerSec: 1_024 }

/**
 * Computes how long the relay still waits for a body. Time that the relay itself needs does not count; each byte that
 * arrives adds the time that it may take. So a stalled body ends after `stallMs`, a trickling body a little later, and
 * a slow but steady body never.
 */
export class BodyPace {
  private behindMs = 0
  private readonly limits: PaceLimits

  constructor(limits: PaceLimits) {
    this.limits = limits
  }

  /** Milliseconds that the relay still waits for the next bytes. */
  get leftMs(): number {
    return this.limits.stallMs - this.behindMs
  }

  arrived(bytes: number, waitedMs: number): void {
    const mayTakeMs = (bytes * 1000) / this.limits.minBytesPerSec
    this.behindMs = Math.max(0, this.behindMs + waitedMs - mayTakeMs)
  }
}
