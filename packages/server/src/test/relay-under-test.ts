import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { platform } from '@docrelay/client/environment'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { SyncClient, type SyncClientOptions } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { checkedFetch, createExchangeCheck } from '../http/testing/exchange-check.ts'
import { routeTable } from '../compose/route-table.ts'
import { patienceClock } from '../kernel/testing/patience.ts'
import { COMPILED_CODE } from './compiled-code.ts'
import { tieToProcess } from './end-with-process.ts'
import { RELAY_PROGRAM } from './relay-program.ts'
import { startTestIssuer, type TestIssuer, type TokenOptions } from '../auth/testing/test-issuer.ts'

/** A relay in a process of its own, as an operator runs it, with a real issuer. Its data survive `kill` and `restart`. */
export interface RelayUnderTest extends AsyncDisposable {
  readonly baseUrl: string
  readonly wsUrl: string
  /** Address of the MCP endpoint, when the relay has one. A local endpoint gets another address at every `restart`. */
  readonly mcpUrl: string
  readonly dataDir: string
  readonly issuer: TestIssuer
  readonly pid: number
  /** The lines of stderr so far, which are the log. */
  readonly logLines: readonly string[]
  /** Returns a token issued in this second. Calls with the same options in one second may return the same token. */
  token(options?: TokenOptions): string
  /** Fetches a path of the relay. Rejects when the OpenAPI document does not describe the answer. [REST-36] */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Returns a REST client. Its calls also reject when the OpenAPI document does not describe an answer. */
  rest(options?: TokenOptions): RelayClient
  /** Returns a connected client, which is destroyed with the relay. */
  sync(docId: string, options?: TokenOptions, more?: Partial<SyncClientOptions>): SyncClient
  /** Sends SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number>
  /**
   * Starts the relay again on the same data and port, with `env` in place of the first variables and `args` after `serve`. Runs `program`, or the
   * present sources when absent.
   */
  restart(env?: Readonly<Record<string, string>>, args?: readonly string[], program?: string): Promise<void>
}

interface RelayOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The data directory; a new folder when absent. */
  readonly dataDir?: string
  /** Serves MCP on a free port or on the main listener; off when absent. */
  readonly mcp?: 'local' | 'public'
  /** Arguments after `serve`, at the first start. */
  readonly args?: readonly string[]
  /** The program of the first start; that of the present sources when absent. */
  readonly program?: string
  /** The issuer that several relays share; a new one when absent. */
  readonly issuer?: TestIssuer
  /** Receives the lines of the log, so that they can be read before the relay is ready. */
  readonly logLines?: string[]
}

export async function startRelayUnderTest(options: RelayOptions = {}): Promise<RelayUnderTest> {
  const issuer = options.issuer ?? (await startTestIssuer())
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-test-'))
  const dataDir = options.dataDir ?? join(folder, 'data')
  const { logLines = [] } = options
  const clients: SyncClient[] = []
  const variables = (port: number, env = options.env) => ({
    ...COMPILED_CODE,
    PATH: process.env['PATH'],
    RELAY_HOST: '127.0.0.1',
    RELAY_PORT: String(port),
    RELAY_DATA_DIR: dataDir,
    RELAY_MCP_ENABLED: String(options.mcp !== undefined),
    RELAY_MCP_PORT: '0',
    RELAY_MCP_EXPOSE: options.mcp ?? 'local',
    RELAY_METRICS_EXPOSE: 'public',
    RELAY_JWT_ISSUER: issuer.issuer,
    RELAY_JWT_JWKS_URL: issuer.jwksUrl,
    RELAY_REVOCATION_BEARER: 'revocation-secret-for-tests',
    ...env,
  })
  const awaited = options.mcp === 'local' ? ['main', 'mcp'] : ['main']
  const start = (env: NodeJS.ProcessEnv, args: readonly string[] = [], program = RELAY_PROGRAM) =>
    launch([program, 'serve', ...args], env, folder, logLines, awaited)
  let running = await start(variables(0), options.args, options.program)
  const baseUrl = running.listeners.get('main') ?? ''
  const port = Number(new URL(baseUrl).port)
  const environment = { ...platform, fetch: checkedFetch(createExchangeCheck(routeTable()), (url) => url.startsWith(baseUrl)) }
  const wsUrl = `${baseUrl.replace('http', 'ws')}/ws`

  const signed = new Map<string, { readonly token: string; readonly second: number }>()
  /** Reuses a token within one second, because tokens would differ only in their `jti`, and signing takes as long as a small request. */
  const token = (claims: TokenOptions = {}): string => {
    // A member with the value `undefined` is part of the key, because it leaves a claim out.
    const key = issuer.key.kid + JSON.stringify(claims, (_, value: unknown) => (value === undefined ? '(none)' : value))
    const second = Math.floor(Date.now() / 1000)
    const last = signed.get(key)
    if (last?.second === second) return last.token
    const made = issuer.token(claims)
    signed.set(key, { token: made, second })
    return made
  }

  const relay: RelayUnderTest = {
    baseUrl,
    wsUrl,
    dataDir,
    issuer,
    logLines,
    get mcpUrl() {
      return options.mcp === 'public' ? `${baseUrl}/mcp` : (running.listeners.get('mcp') ?? '')
    },
    get pid() {
      return running.child.pid as number
    },
    token,
    fetch: (path, init = {}) => environment.fetch(baseUrl + path, init),
    rest: (claims) => new RelayClient({ baseUrl, token: () => token(claims), environment }),
    sync(docId, claims, more) {
      const client = new SyncClient({ url: wsUrl, docId, doc: new Y.Doc(), token: () => token(claims), ...more })
      clients.push(client)
      client.connect()
      return client
    },
    async kill() {
      running.child.kill('SIGKILL')
      await running.ended
    },
    async stop() {
      running.child.kill('SIGTERM')
      return running.ended
    },
    async restart(env = options.env, args = [], program = RELAY_PROGRAM) {
      running = await start(variables(port, env), args, program)
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy()
      running.child.kill('SIGKILL')
      await running.ended
      rmSync(folder, { recursive: true, force: true })
      if (options.issuer === undefined) await issuer.close()
    },
  }
  return relay
}

interface Running {
  readonly child: ChildProcess
  /** The addresses of the listeners by name. */
  readonly listeners: ReadonlyMap<string, string>
  readonly ended: Promise<number>
}

/** Starts a process. Resolves when the relay has printed the awaited listeners, whose ports are bound then. */
async function launch(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  logLines: string[],
  awaited: readonly string[],
): Promise<Running> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  tieToProcess(child)
  // `close` and not `exit`, because the last lines of the log may still be on their way at `exit`.
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  createInterface({ input: child.stderr }).on('line', (line) => logLines.push(line))
  const listeners = new Map<string, string>()
  const bound = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [name = '', url = ''] = line.split(' ')
      listeners.set(name, url)
      if (awaited.every((each) => listeners.has(each))) resolve()
    })
  })
  const failed = ended.then((code) => {
    throw new Error(`the relay ended with ${code} before it was bound: ${logLines.slice(-5).join('\n')}`)
  })
  await Promise.race([bound, failed])
  return { child, listeners, ended }
}

/** Waits until `holds` returns true. Rejects with `what` after `timeoutMs` of a quiet machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const givenUp = patienceClock(timeoutMs)
  while (!(await holds())) {
    if (givenUp()) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits until a line of the log contains all these words. The log comes through another pipe than an answer, so its lines may come later. */
export function logged(relay: Pick<RelayUnderTest, 'logLines'>, ...words: readonly string[]): Promise<void> {
  return until(`a line with ${words.join(' and ')}`, () =>
    relay.logLines.some((line) => words.every((word) => line.includes(word))),
  )
}

/** Waits until each client is in sync and everything that it wrote is durable. */
export function saved(...clients: readonly SyncClient[]): Promise<void> {
  return until('clients to be saved', () => clients.every((client) => client.state.synced && client.state.saved === 'saved'))
}
