/** What the clients take from the platform they run on; browser and Node 22+ have all of it. Tests give their own. */
export interface Environment {
  /** ms since 1970. */
  now(): number
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `ms`; the answer cancels it. */
  after(ms: number, run: () => void): () => void
  openSocket(url: string): SocketLike
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** The part of a browser WebSocket that is used; binary messages arrive as ArrayBuffer. */
export interface SocketLike {
  binaryType: string
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onerror: ((event: never) => void) | null
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
  openSocket: (url) => new WebSocket(url) as unknown as SocketLike,
  fetch: (url, init) => fetch(url, init),
}
