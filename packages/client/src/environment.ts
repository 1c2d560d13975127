/** The functions that the clients need from their platform. Browsers and Node 22 or newer have all of them; tests pass their own. */
export interface Environment {
  /** ms since 1970. */
  now(): number
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `ms`; the returned function cancels the call. */
  after(ms: number, run: () => void): () => void
  openSocket(url: string): SocketLike
  /** False where `openSocket` cannot work at all; assumed true when absent. */
  hasWebSocket?(): boolean
  fetch(url: string, init: RequestInit): Promise<Response>
  /** Calls `run` whenever the platform says that the network is back; the returned function ends this. */
  onOnline?(run: () => void): () => void
}

/** The members of the browser WebSocket that the client uses. Binary messages arrive as ArrayBuffer. */
export interface SocketLike {
  binaryType: string
  readonly readyState: number
  /** Bytes that were given to `send` and have not left the page. */
  readonly bufferedAmount?: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  /** Some platforms set `message`; browsers do not say why a socket failed. */
  onerror: ((event: { readonly message?: unknown }) => void) | null
  send(data: Uint8Array<ArrayBuffer>): void
  close(code?: number, reason?: string): void
}

export const platform: Environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  hasWebSocket: () => typeof WebSocket !== 'undefined',
  openSocket: (url) => new WebSocket(url) as unknown as SocketLike,
  fetch: (url, init) => fetch(url, init),
  onOnline(run) {
    // Node has no `online` event.
    const page = globalThis as Partial<
      Record<'addEventListener' | 'removeEventListener', (type: string, run: () => void) => void>
    >
    page.addEventListener?.('online', run)
    return () => page.removeEventListener?.('online', run)
  },
}

/** Returns the platform's environment with the members of `given` in their place. With a given `openSocket`, the platform needs no WebSocket. */
export function environmentWith(given: Partial<Environment> = {}): Environment {
  return { ...platform, ...(given.openSocket && { hasWebSocket: () => true }), ...given }
}

/** Resolves after `ms`; rejects with the reason of the signal when the signal is aborted first. */
export function delay(environment: Environment, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const aborted = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = environment.after(ms, () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
