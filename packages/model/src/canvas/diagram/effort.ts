/** Thrown out of a layout whose caller no longer wants it. */
export class LayoutStopped extends Error {
  constructor() {
    super('The layout was stopped.')
  }
}

/**
 * What a layout may still spend, in counted steps of about equal cost instead of time, so that the same input always gets the same
 * drawing. Asks now and then whether to go on. [DIAG-4, DIAG-17]
 */
export class Effort {
  private left: number
  private untilAsking = 0
  private readonly shouldStop: () => boolean

  constructor(steps: number, shouldStop: () => boolean) {
    this.left = steps
    this.shouldStop = shouldStop
  }

  /** Takes steps; `false` when none are left, and work that only makes the drawing better should end. */
  spend(steps: number): boolean {
    this.left -= steps
    this.untilAsking -= steps
    if (this.untilAsking <= 0) {
      this.untilAsking = 100_000
      if (this.shouldStop()) throw new LayoutStopped()
    }
    return this.left > 0
  }

  /** A part of what is left, to be spent on its own. */
  share(part: number): Effort {
    const steps = Math.max(0, Math.floor(this.left * part))
    this.left -= steps
    return new Effort(steps, this.shouldStop)
  }
}
