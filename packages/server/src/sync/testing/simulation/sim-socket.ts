import type { Wire } from '../../gateway/connection.ts'
import type { Connection } from '../../gateway/connection.ts'
import type { Sessions } from '../../gateway/sessions.ts'
import type { Choices, Process, Schedule } from './schedule.ts'
import type { SimSocket, SocketListener } from './sim-client.ts'

const WAY_MS = 5

/** The node's side of a socket. */
export interface ServerSocket {
  /** Called when the process of the node has ended. */
  broken(): void
}

/** Opens a socket between a client and the sessions of a process. Frames arrive in order, after up to 5 ms. */
export function openSocket({
  sessions,
  process,
  schedule,
  choices,
  listener,
  ended,
}: {
  readonly sessions: Sessions
  readonly process: Process
  readonly schedule: Schedule
  readonly choices: Choices
  readonly listener: SocketListener
  readonly ended: (socket: ServerSocket) => void
}): { readonly near: SimSocket; readonly far: ServerSocket } {
  const toServer = inOrder(schedule, choices)
  const toClient = inOrder(schedule, choices)
  let connection: Connection | null = null
  let isOpen = true
  let isReading = true
  let unread: Uint8Array[] = []
  const parser = new FrameParser()

  const close = (code: number): void => {
    if (!isOpen) return
    isOpen = false
    toClient(() => listener.closed(code))
    ended(far)
    process.run(() => connection !== null && sessions.gone(connection))
  }
  const read = (frame: Uint8Array): void => {
    if (!isOpen || connection === null) return
    if (isReading) sessions.receive(connection, frame, true)
    else unread.push(frame)
  }
  const wire: Wire = {
    raw: {
      writableLength: 0,
      get destroyed() {
        return !isOpen
      },
      write(bytes) {
        for (const frame of parser.take(bytes)) toClient(() => listener.frame(frame))
        return true
      },
      cork: () => undefined,
      uncork: () => undefined,
      once: () => undefined,
    },
    // The close is reported later, because `ws` reports it only after the client has answered it.
    close: (code) => void schedule.after(0, () => close(code)),
    terminate: () => close(1006),
    ping: () => undefined,
    pause: () => {
      isReading = false
    },
    resume: () => {
      isReading = true
      void process.after(0, () => {
        const frames = unread
        unread = []
        for (const frame of frames) read(frame)
      })
    },
  }
  const far: ServerSocket = {
    broken() {
      if (!isOpen) return
      isOpen = false
      toClient(() => listener.closed(1006))
    },
  }
  toServer(() => process.run(() => (connection = sessions.open(wire, undefined, null))))
  return {
    far,
    near: {
      send: (frame) => toServer(() => process.run(() => read(frame))),
      drop: () =>
        toServer(() =>
          process.run(() => {
            if (!isOpen || connection === null) return
            isOpen = false
            ended(far)
            sessions.closing(connection, null)
            sessions.gone(connection)
          }),
        ),
    },
  }
}

function inOrder(schedule: Schedule, choices: Choices): (work: () => void) => void {
  let lastMs = 0
  return (work) => {
    lastMs = Math.max(lastMs, schedule.nowMs + choices.between(0, WAY_MS))
    schedule.after(lastMs - schedule.nowMs, work)
  }
}

/** Takes the messages out of the WebSocket frames that a server writes. These frames are complete and unmasked. */
class FrameParser {
  #rest: Buffer = Buffer.alloc(0)

  take(bytes: Uint8Array): Uint8Array[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const messages: Uint8Array[] = []
    for (;;) {
      const size = this.#size()
      if (size === null || this.#rest.length < size.header + size.payload) return messages
      messages.push(new Uint8Array(this.#rest.subarray(size.header, size.header + size.payload)))
      this.#rest = this.#rest.subarray(size.header + size.payload)
    }
  }

  #size(): { readonly header: number; readonly payload: number } | null {
    const length = (this.#rest[1] ?? 0) & 127
    if (this.#rest.length < 10 && this.#rest.length < (length < 126 ? 2 : length === 126 ? 4 : 10)) return null
    if (length < 126) return { header: 2, payload: length }
    return length === 126
      ? { header: 4, payload: this.#rest.readUInt16BE(2) }
      : { header: 10, payload: Number(this.#rest.readBigUInt64BE(2)) }
  }
}
