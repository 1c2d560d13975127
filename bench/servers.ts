import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RunningServer {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/**
 * Starts a peer script with the port, a database file and `args` as argv, and waits for its line `ready`. A folder that is passed in is kept
 * when the peer stops.
 */
export async function startPeer(
  script: string,
  { dataDir, args = [] }: { readonly dataDir?: string; readonly args?: readonly string[] } = {},
): Promise<RunningServer> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'docrelay-bench-'))
  const port = await freePort()
  const argv = [join(import.meta.dirname, 'peers', script), String(port), join(folder, 'peer.db'), ...args]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${script} ended before it was ready`)))
    child.stdout?.on('data', (data) => String(data).includes('ready') && resolve())
  })
  return { pid: child.pid as number, port, stop: () => stopChild(child, dataDir === undefined ? folder : undefined) }
}

export async function stopChild(child: ChildProcess, folder?: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const ended = new Promise<void>((resolve) =>
    child.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve(),
  )
  child.kill(signal)
  // The peer is killed after 25 s, which is longer than the relay takes for a clean stop.
  const timer = setTimeout(() => child.kill('SIGKILL'), 25_000)
  await ended
  clearTimeout(timer)
  if (folder) rmSync(folder, { recursive: true, force: true })
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
