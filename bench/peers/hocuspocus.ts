// The peer: @hocuspocus/server with its SQLite extension, configured as in its documentation. argv: port, database file, and `each-change`
// when a store of the whole document is to begin with each change, in place of 2 s after the last and at the latest 10 s after the first.
import { SQLite } from '@hocuspocus/extension-sqlite'
import { Server } from '@hocuspocus/server'

const [port, database, stores] = process.argv.slice(2)
const server = new Server({
  port: Number(port),
  address: '127.0.0.1',
  quiet: true,
  ...(stores === 'each-change' && { debounce: 0, maxDebounce: 0 }),
  extensions: [new SQLite({ database: database as string })],
})
await server.listen()
console.log('ready')
