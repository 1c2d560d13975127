import type { Environment } from './environment.ts'
import { isNeedsSignIn, RelayError } from './errors.ts'
import { inTime } from './in-time.ts'

/** Time limit of `token()`. When it is over, all waiters fail, and the next request calls `token()` again. [WS-67] */
export const TOKEN_MS = 30_000

/**
 * Returns a token. `fresh` asks for another token than the last one, which was refused or is about to expire. A
 * callback that throws `NeedsSignIn` stops the client.
 */
export type TokenCallback = (request: { readonly fresh: boolean }) => string | Promise<string>

/** The application's one token callback, for REST and sockets. Callers that need a fresh token at the same time share one call. */
export class Tokens {
  readonly #callback: TokenCallback
  readonly #needsSignIn: (error: RelayError) => void
  readonly #environment: Pick<Environment, 'after'>
  #last: string | null = null
  #renewal: Promise<string> | null = null
  #calls = 0
  /** Number of the newest call for a fresh token that was answered. The answer of an earlier call does not become `last`. */
  #newestFresh = 0

  constructor(callback: TokenCallback, needsSignIn: (error: RelayError) => void, environment: Pick<Environment, 'after'>) {
    this.#callback = callback
    this.#needsSignIn = needsSignIn
    this.#environment = environment
  }

  /** The last token that the application gave; `null` before the first. */
  get last(): string | null {
    return this.#last
  }

  /**
   * Returns the application's value, which may be no token; rejects with the application's error. A call for a fresh token is shared for at most
   * 30 s, because its promise may never settle. Its late answer serves later requests unless a newer one has come.
   */
  get({ fresh }: { readonly fresh: boolean }): Promise<string> {
    if (!fresh) return this.#ask(false)
    const after: Environment['after'] = (ms, run) => this.#environment.after(ms, run)
    this.#renewal ??= inTime(this.#ask(true), TOKEN_MS, after, tokenLate).finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  /** Returns a token in place of `refused`: a newer one if there is one, else a fresh one. */
  replacementOf(refused: string): Promise<string> {
    return this.#last !== null && this.#last !== refused ? Promise.resolve(this.#last) : this.get({ fresh: true })
  }

  async #ask(fresh: boolean): Promise<string> {
    const call = ++this.#calls
    try {
      const token: unknown = await this.#callback({ fresh })
      if (typeof token === 'string' && token !== '' && call > this.#newestFresh) {
        this.#last = token
        if (fresh) this.#newestFresh = call
      }
      return token as string
    } catch (error) {
      if (isNeedsSignIn(error)) this.#needsSignIn(error)
      throw error
    }
  }
}

/** The failure of a `token()` that took too long. */
export function tokenLate(): RelayError {
  return new RelayError('TOKEN_FAILED', `token() gave no token within ${TOKEN_MS / 1000} s`)
}

/** Returns a token for a request; rejects with a RelayError when the application gives none. */
export async function usableToken(given: Promise<string>): Promise<string> {
  let token: unknown
  try {
    token = await given
  } catch (error) {
    if (isNeedsSignIn(error) || (error instanceof RelayError && error.code === 'TOKEN_FAILED')) throw error
    throw new RelayError('TOKEN_FAILED', `token() failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  if (typeof token === 'string' && token !== '') return token
  throw new RelayError('TOKEN_FAILED', 'token() gave no token: it has to give a string that is not empty', {
    retry: 'after-change',
  })
}

/** Returns the `sub` that a token names, unverified, or `null`. Only the relay can tell whether the token is good. */
export function subjectOf(token: string): string | null {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(part), (char) => char.charCodeAt(0))
    const { sub } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly sub?: unknown }
    return typeof sub === 'string' && sub !== '' ? sub : null
  } catch {
    return null
  }
}
