import type { Environment } from '../environment.ts'
import { RelayError } from '../errors.ts'

interface WaitOptions {
  /** What the caller waits for, for the message of TIMEOUT. */
  readonly what: string
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Promises that settle when a state meets their condition. */
export class Waiters {
  readonly #environment: Pick<Environment, 'after'>
  readonly #looks = new Set<() => void>()

  constructor(environment: Pick<Environment, 'after'>) {
    this.#environment = environment
  }

  /** Checks the condition of every waiter. Call it after every change of the state. */
  look(): void {
    for (const look of [...this.#looks]) look()
  }

  /** Waits until `outcome` returns something other than false: resolves for true, rejects with a returned error. */
  wait(outcome: () => boolean | RelayError, { what, timeoutMs, signal }: WaitOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancelTimeout = () => {}
      const settle = (settled: () => void): void => {
        this.#looks.delete(look)
        cancelTimeout()
        signal?.removeEventListener('abort', aborted)
        settled()
      }
      const look = (): void => {
        const now = outcome()
        if (now === true) settle(resolve)
        else if (now !== false) settle(() => reject(now))
      }
      const aborted = (): void => settle(() => reject(signal?.reason))
      if (signal?.aborted) return aborted()
      signal?.addEventListener('abort', aborted)
      this.#looks.add(look)
      if (timeoutMs !== undefined)
        cancelTimeout = this.#environment.after(timeoutMs, () =>
          settle(() => reject(new RelayError('TIMEOUT', `waited ${timeoutMs} ms in vain for ${what}`))),
        )
      look()
    })
  }
}
