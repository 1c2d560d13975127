// A lower bound: forwards every message to all other sockets of the same path. No CRDT, no log, no permissions. argv: port.
import { type WebSocket, WebSocketServer } from 'ws'

const rooms = new Map<string, Set<WebSocket>>()
const server = new WebSocketServer({ port: Number(process.argv[2]), host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket, request) => {
  const path = request.url ?? '/'
  const room = rooms.get(path) ?? new Set<WebSocket>()
  rooms.set(path, room.add(socket))
  socket.on('message', (message, binary) => {
    for (const other of room) if (other !== socket) other.send(message, { binary })
  })
  socket.on('close', () => room.delete(socket))
})
server.on('listening', () => console.log('ready'))
