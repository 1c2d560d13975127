/** Thrown when `shouldStop` says that the caller no longer wants the layout. */
export class LayoutStopped extends Error {
  constructor() {
    super('The layout was stopped.')
  }
}

/**
 * How much work a layout may still do. The work is counted in steps of about equal cost, not in time, so that the same input always gets the
 * same drawing. About every 100,000 steps, calls `shouldStop`. [DIAG-4, DIAG-17]
 */
export class Effort {
  private left: number
  private untilAsking = 0
  private readonly shouldStop: () => boolean

  constructor(steps: number, shouldStop: () => boolean) {
    this.left = steps
    this.shouldStop = shouldStop
  }

  /** Takes steps. Returns false when none are left; then work that only improves the drawing should end. Throws `LayoutStopped`. */
  spend(steps: number): boolean {
    this.left -= steps
    this.untilAsking -= steps
    if (this.untilAsking <= 0) {
      this.untilAsking = 100_000
      if (this.shouldStop()) throw new LayoutStopped()
    }
    return this.left > 0
  }

  /** Splits off a share, from 0 to 1, of the steps that are left. */
  share(part: number): Effort {
    const steps = Math.max(0, Math.floor(this.left * part))
    this.left -= steps
    return new Effort(steps, this.shouldStop)
  }
}
