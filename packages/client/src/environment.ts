/** What the clients need from their platform. Browsers and Node 22 or newer have all of it; tests pass their own. */
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
}

/** The part of a browser WebSocket that is used; binary messages arrive as ArrayBuffer. */
export interface SocketLike {
  binaryType: string
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  /** `message` is there on some platforms: the browser tells nothing of why a socket failed. */
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
}
