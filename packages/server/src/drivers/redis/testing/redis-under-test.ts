import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { tieToProcess } from '../../../test/end-with-process.ts'

/** A Redis for one test file. Keys and channels of this test begin with `prefix`. */
export interface RedisUnderTest extends AsyncDisposable {
  readonly url: string
  readonly prefix: string
  /** The server when only this test uses it, so that the test may stop and empty it; `null` when others use it too. */
  readonly own: OwnRedis | null
}

export interface OwnRedis {
  /** The process id of the server; different after a restart. */
  pid(): number
  /** Sends a signal to the server: SIGSTOP freezes it, SIGCONT lets it go on, SIGKILL ends it. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts the server again after SIGKILL, empty and on the same port. */
  restart(): Promise<void>
  /** Runs a command of words without spaces, such as `FLUSHALL`; rejects when the server refuses it. */
  run(command: string): Promise<void>
}

const NAMED = 'RELAY_TEST_REDIS_URL'
const LOCAL_PORT = 6379
const STARTS_WITHIN_MS = 10_000
const LOOK_MS = 25

/**
 * Opens the server that `RELAY_TEST_REDIS_URL` names. Without that variable starts one from the program `redis-server`, without persistence; when
 * that is not installed, uses the one at 127.0.0.1:6379. Returns a string with the reason when there is none.
 */
export async function openRedisUnderTest(): Promise<RedisUnderTest | string> {
  const prefix = `test:${randomUUID()}:`
  const named = process.env[NAMED]
  if (named !== undefined && named !== '') return { url: named, prefix, own: null, [Symbol.asyncDispose]: async () => undefined }
  const started = await startOwn(prefix)
  if (typeof started !== 'string') return started
  if (!(await answers(LOCAL_PORT))) return `no Redis: none at 127.0.0.1:${LOCAL_PORT}, and ${started}`
  return { url: `redis://127.0.0.1:${LOCAL_PORT}`, prefix, own: null, [Symbol.asyncDispose]: async () => undefined }
}

async function startOwn(prefix: string): Promise<RedisUnderTest | string> {
  const port = await freePort()
  let server = await start(port)
  if (typeof server === 'string') return server
  const end = async (): Promise<void> => {
    if (typeof server === 'string' || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    prefix,
    own: {
      pid: () => (server as ChildProcess).pid ?? 0,
      async kill(signal) {
        if (signal === 'SIGKILL') await end()
        else if (typeof server !== 'string') server.kill(signal)
      },
      async restart() {
        await end()
        server = await start(port)
        if (typeof server === 'string') throw new Error(server)
      },
      async run(command) {
        const answer = await ask(port, command)
        if (!answer.startsWith('+OK')) throw new Error(`${command} was answered ${answer}`)
      },
    },
    [Symbol.asyncDispose]: end,
  }
}

async function start(port: number): Promise<ChildProcess | string> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp']
  const server = spawn('redis-server', options, { stdio: 'ignore' })
  tieToProcess(server)
  const failed = once(server, 'error').then(([error]) => String(error))
  const ended = once(server, 'exit').then(([code]) => `redis-server ended with code ${code}`)
  const until = Date.now() + STARTS_WITHIN_MS
  while (Date.now() < until) {
    const problem = await Promise.race([failed, ended, answers(port).then((isUp) => (isUp ? null : undefined))])
    if (problem === null) return server
    if (problem !== undefined) return problem
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  server.kill('SIGKILL')
  return 'redis-server did not answer in time'
}

async function answers(port: number): Promise<boolean> {
  const answer = await ask(port, 'PING').catch(() => '')
  return answer.startsWith('+PONG')
}

/** Sends a command and returns the first bytes of the answer. The words of the command contain no spaces. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.write(`${command}\r\n`))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString())
    })
    socket.once('error', reject)
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
