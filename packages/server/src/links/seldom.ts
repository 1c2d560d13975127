import type { Clock } from '../kernel/clock.ts'

const EVERY_MS = 60_000

/** Limits a log line to one a minute. `times` counts how often the event has happened since the last line, including this time. */
export class Seldom {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #saidMs = Number.NEGATIVE_INFINITY
  #times = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  note(say: (times: number) => void): void {
    this.#times++
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#saidMs < EVERY_MS) return
    this.#saidMs = nowMs
    const times = this.#times
    this.#times = 0
    say(times)
  }
}
