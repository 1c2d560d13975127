import { connect } from 'node:net'

/** Sends text as it is and gives what comes back until the connection ends, or was quiet for `quietMs`, or shorter once there was an answer. */
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
