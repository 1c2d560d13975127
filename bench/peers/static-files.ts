// A lower bound for downloads: serves the files of one folder with a bare node server. No tokens, no permissions. argv: port, a file in
// that folder.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, dirname, join } from 'node:path'

const folder = dirname(process.argv[3] as string)
createServer((request, response) => {
  const path = join(folder, basename(request.url ?? ''))
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': statSync(path).size })
  createReadStream(path).pipe(response)
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
