import { createServer } from 'node:net'

/** A port of this host, with the environment variable that can change it. */
export interface WantedPort {
  readonly port: number
  readonly variable: string
}

/** Returns the port from an environment variable, or `usual` when the variable is not set. @throws Error that names the variable and its value */
export function portOf(env: Readonly<Record<string, string | undefined>>, variable: string, usual: number): WantedPort {
  const given = env[variable]
  if (given === undefined || given === '') return { port: usual, variable }
  const port = Number(given)
  if (!/^\d+$/.test(given) || port < 1 || port > 65_535)
    throw new Error(`${variable} is not a port (got "${given}", allowed 1 to 65535)`)
  return { port, variable }
}

/** Returns one sentence for each of these ports that is already in use. */
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
