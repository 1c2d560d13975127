import { createServer } from 'node:net'

/** A port of this host, and the environment variable that chooses another. */
export interface WantedPort {
  readonly port: number
  readonly variable: string
}

/** Those that something else listens on now, told in one sentence each. */
export async function takenPorts(wanted: readonly WantedPort[]): Promise<readonly string[]> {
  const taken: string[] = []
  for (const { port, variable } of wanted) {
    if (!(await isFree(port))) taken.push(`port ${port} is taken, perhaps by another start; ${variable} chooses another`)
  }
  return taken
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
