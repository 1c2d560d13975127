import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { WantedPort } from './free-ports.ts'

/** Number of tries, 100 ms apart, before `ready` reports a slow start: about 15 s. */
const SLOW_TRIES = 150
/** Without this option the main thread keeps 128 MB for new objects once it was busy. The image and the systemd unit use the same option. */
const NODE_OPTION = '--max-semi-space-size=16'
/** Module for `--import`. It ends a process that was started with an IPC channel when its parent ends. */
export const END_WITH_THIS = fileURLToPath(new URL('./end-with-parent.js', import.meta.url))

export interface RelayEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Ports {
  readonly issuer: WantedPort
  readonly relay: WantedPort
  readonly mcp: WantedPort
  readonly metrics: WantedPort
}

/** The relay of a try-out, in a child process that ends with this one. */
export interface RelayProcess {
  readonly ended: Promise<RelayEnd>
  /** Sends SIGTERM to the relay. */
  stop(): void
  /**
   * Waits until the relay is ready, without a time limit, because a slow machine may take minutes. Rejects when the relay ends. Calls `say` once
   * when it takes long.
   */
  ready(baseUrl: string, say: (text: string) => void): Promise<void>
}

/** Starts the relay. `program` is its main file, `env` its whole environment. */
export function startRelayProcess(program: string, configFile: string, env: NodeJS.ProcessEnv): RelayProcess {
  const args = [NODE_OPTION, '--import', END_WITH_THIS, program, 'serve', '--config', configFile]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env })
  const ended = new Promise<RelayEnd>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  return {
    ended,
    stop: () => void child.kill('SIGTERM'),
    async ready(baseUrl, say) {
      for (let tries = 0; child.exitCode === null && child.signalCode === null; tries++) {
        const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
        if (answer?.ok) return
        if (tries === SLOW_TRIES) say(`The relay is not ready yet at ${baseUrl}; Ctrl-C ends it.`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      throw new Error(`the relay did not become ready at ${baseUrl}; its log above says why`)
    },
  }
}
