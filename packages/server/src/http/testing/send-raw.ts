import { connect } from 'node:net'

/** Sends text unchanged. Returns everything received until the connection ends, is silent for `quietMs`, or for 200 ms after data came. */
export function sendRaw(port: number, text: string | Uint8Array, quietMs = 5_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const end = (): void => {
      socket.destroy()
      resolve(received)
    }
    socket.setTimeout(quietMs, end)
    socket.on('data', (data) => {
      received += data.toString('latin1')
      socket.setTimeout(200)
    })
    socket.on('close', end)
    socket.on('error', end)
    socket.write(text)
  })
}
