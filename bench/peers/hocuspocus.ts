// The peer: @hocuspocus/server with its SQLite extension, configured as in its documentation. argv: port, database file.
import { SQLite } from '@hocuspocus/extension-sqlite'
import { Server } from '@hocuspocus/server'

const [port, database] = process.argv.slice(2)
const server = new Server({
  port: Number(port),
  address: '127.0.0.1',
  quiet: true,
  extensions: [new SQLite({ database: database as string })],
})
await server.listen()
console.log('ready')
