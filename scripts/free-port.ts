import { createServer } from 'node:net'

/** Returns a free port below the range that the system assigns by itself, so that no other test gets it in between. */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return String(port)
  }
}
