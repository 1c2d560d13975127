import type { Environment, SocketLike } from '../environment.ts'

/** A socket whose other end is a test. */
export class PlayedSocket implements SocketLike {
  binaryType = ''
  readyState = 0
  /** Bytes that were passed to `send` and have not left the socket, as set by the test. */
  bufferedAmount = 0
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  readonly sent: Uint8Array[] = []
  /** The code with which the client closed the socket; `null` before that. */
  closedWith: number | null = null

  send(data: Uint8Array): void {
    this.sent.push(data)
  }

  close(code = 1005): void {
    this.readyState = 3
    this.closedWith = code
  }

  open(): void {
    this.readyState = 1
    this.onopen?.({} as never)
  }

  receive(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.onmessage?.({ data: new Uint8Array(frame).buffer })
  }
}

/** An environment whose time, sockets and network events a test controls. */
export function playedEnvironment() {
  const urls: string[] = []
  const sockets: PlayedSocket[] = []
  const timers = new Map<number, { readonly dueMs: number; readonly ms: number; readonly run: () => void }>()
  let [made, nowMs] = [0, 0]
  let online = () => {}
  const environment: Environment = {
    now: () => nowMs,
    random: () => 0,
    after(ms, run) {
      const id = ++made
      timers.set(id, { dueMs: nowMs + ms, ms, run })
      return () => timers.delete(id)
    },
    openSocket(url) {
      urls.push(url)
      const socket = new PlayedSocket()
      sockets.push(socket)
      return socket
    },
    fetch: () => Promise.reject(new Error('no fetch here')),
    onOnline(run) {
      online = run
      return () => {
        online = () => {}
      }
    },
  }
  const settled = () => new Promise<void>((resolve) => void setTimeout(resolve))
  /** Advances the time timer by timer, and runs what each timer starts. */
  const advance = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms
    for (;;) {
      await settled()
      const [next] = [...timers].filter(([, { dueMs }]) => dueMs <= untilMs).sort(([, a], [, b]) => a.dueMs - b.dueMs)
      if (next === undefined) break
      const [id, { dueMs, run }] = next
      timers.delete(id)
      nowMs = dueMs
      run()
    }
    nowMs = untilMs
  }
  return {
    environment,
    urls,
    sockets,
    advance,
    settled,
    online: () => online(),
    /** The delays of the pending timers, in the order in which they were set. */
    waiting: () => [...timers.values()].map(({ ms }) => ms),
  }
}
