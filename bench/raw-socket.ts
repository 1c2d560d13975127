import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

/**
 * A WebSocket client that costs the load generator as little as possible. It parses server frames in place, passes on views into the received chunk,
 * masks with a zero key, and writes many messages with one call. It does not support fragments, extensions or the close handshake.
 */
export class RawSocket {
  readonly socket: Socket
  onMessage: (bytes: Buffer, from: number, to: number) => void = () => {}
  onClose: (reason: string) => void = () => {}
  #rest: Buffer | null = null

  private constructor(socket: Socket) {
    this.socket = socket
  }

  /** `localAddress`: the address to connect from, for more connections than one address has ports. */
  static open(options: {
    host: string
    port: number
    path: string
    authorization?: string
    localAddress?: string
  }): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        port: options.port,
        host: options.host,
        ...(options.localAddress && { localAddress: options.localAddress }),
      })
      socket.setNoDelay(true)
      socket.once('error', reject)
      socket.once('connect', () => {
        const credential = options.authorization ? `Authorization: ${options.authorization}\r\n` : ''
        socket.write(
          `GET ${options.path} HTTP/1.1\r\nHost: ${options.host}:${options.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
            `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n${credential}\r\n`,
        )
      })
      let head = Buffer.alloc(0)
      const onHead = (chunk: Buffer) => {
        head = Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        socket.off('data', onHead)
        if (!head.subarray(0, 12).toString('latin1').includes('101')) {
          socket.destroy()
          return reject(new Error(`upgrade refused: ${head.subarray(0, Math.min(end, 300)).toString('latin1')}`))
        }
        const raw = new RawSocket(socket)
        socket.off('error', reject)
        socket.on('error', (error) => raw.onClose(error.message))
        socket.on('close', () => raw.onClose('closed'))
        socket.on('data', (data: Buffer) => raw.#received(data))
        resolve(raw)
        if (head.length > end + 4) setImmediate(() => raw.#received(head.subarray(end + 4)))
      }
      socket.on('data', onHead)
    })
  }

  /** Sends all messages with one write. */
  send(...messages: Uint8Array[]): void {
    this.socket.write(messages.length === 1 ? frameOf(messages[0] as Uint8Array) : Buffer.concat(messages.map(frameOf)))
  }

  /** Sends bytes that are already WebSocket frames. */
  sendFrames(frames: Buffer): void {
    this.socket.write(frames)
  }

  close(): void {
    this.onClose = () => {}
    this.socket.destroy()
  }

  #received(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = null
    let at = 0
    while (bytes.length - at >= 2) {
      const opcode = (bytes[at] as number) & 0x0f
      let length = (bytes[at + 1] as number) & 0x7f
      let header = 2
      if (length === 126) {
        if (bytes.length - at < 4) break
        length = bytes.readUInt16BE(at + 2)
        header = 4
      } else if (length === 127) {
        if (bytes.length - at < 10) break
        length = Number(bytes.readBigUInt64BE(at + 2))
        header = 10
      }
      if (bytes.length - at < header + length) break
      const from = at + header
      at = from + length
      if (opcode === 2) this.onMessage(bytes, from, at)
      else if (opcode === 9) this.socket.write(pongOf(bytes.subarray(from, at)))
      else if (opcode === 8)
        this.onClose(`close ${length >= 2 ? bytes.readUInt16BE(from) : ''} ${bytes.subarray(from + 2, at).toString()}`)
    }
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }
}

/** Makes a masked binary frame. The key is zero, so that the payload bytes stay as they are. */
export function frameOf(message: Uint8Array): Buffer {
  const extended = message.length < 126 ? 0 : message.length < 65_536 ? 2 : 8
  const frame = Buffer.alloc(2 + extended + 4 + message.length)
  frame[0] = 0x82
  frame[1] = 0x80 | (extended === 0 ? message.length : extended === 2 ? 126 : 127)
  if (extended === 2) frame.writeUInt16BE(message.length, 2)
  if (extended === 8) frame.writeBigUInt64BE(BigInt(message.length), 2)
  frame.set(message, 6 + extended)
  return frame
}

function pongOf(payload: Buffer): Buffer {
  const frame = Buffer.alloc(6 + payload.length)
  frame[0] = 0x8a
  frame[1] = 0x80 | payload.length
  frame.set(payload, 6)
  return frame
}
