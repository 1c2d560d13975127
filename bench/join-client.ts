import type { Dialect } from './dialects.ts'
import { RawSocket } from './raw-socket.ts'

/** Joins documents like a client but builds no Y.Doc, so that only the server's work and the transfer are measured. */
export class JoinClient {
  readonly #dialect: Dialect
  readonly #socket: RawSocket
  readonly #doc: string
  readonly #acks: (() => void)[] = []

  private constructor(dialect: Dialect, socket: RawSocket, doc: string) {
    this.#dialect = dialect
    this.#socket = socket
    this.#doc = doc
  }

  /**
   * Opens a socket and joins. Resolves when the whole state has arrived, with that state and the time since just before the socket was
   * opened.
   */
  static async join(
    dialect: Dialect,
    port: number,
    doc: string,
    token: string,
  ): Promise<{ client: JoinClient; ms: number; state: Uint8Array }> {
    const startedAt = performance.now()
    const socket = await RawSocket.open({ host: '127.0.0.1', port, path: dialect.path(doc) })
    const client = new JoinClient(dialect, socket, doc)
    const incoming = { kind: 'other' as 'step1' | 'step2' | 'update' | 'ack' | 'other', from: 0, to: 0, ordinal: 0 }
    const joined = new Promise<{ ms: number; state: Uint8Array }>((resolve, reject) => {
      socket.onClose = (reason) => reject(new Error(`the server ended the connection: ${reason}`))
      socket.onMessage = (bytes, from, to) => {
        dialect.read(bytes, from, to, incoming)
        if (incoming.kind === 'ack') for (const settle of client.#acks.splice(0)) settle()
        if (incoming.kind !== 'step2') return
        const ms = performance.now() - startedAt
        resolve({ ms, state: bytes.slice(incoming.from, incoming.to) })
      }
    })
    socket.send(...dialect.hello(doc, token))
    return { client, ...(await joined) }
  }

  /** Sends an update and waits until the server acknowledges it. */
  async write(update: Uint8Array): Promise<void> {
    const acknowledged = new Promise<void>((resolve) => this.#acks.push(resolve))
    for (const message of this.#dialect.largeUpdate(this.#doc, update)) this.#socket.send(message)
    await acknowledged
  }

  close(): void {
    this.#socket.close()
  }
}
