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

/** The relay as an operator runs it, in a process of its own, with a real issuer; data survives `kill` and `restart`. */
export interface RelayUnderTest extends AsyncDisposable {
  readonly baseUrl: string
  readonly wsUrl: string
  /** Of the MCP endpoint, when the relay was started with one; a local one moves with every `restart`. */
  readonly mcpUrl: string
  readonly dataDir: string
  readonly issuer: TestIssuer
  readonly pid: number
  /** Lines of stderr so far: the log. */
  readonly logLines: readonly string[]
  /** Of this second; calls with the same options within it may return the same token. */
  token(options?: TokenOptions): string
  /** fetch of a path of the relay; rejects when the answer is not one that OpenAPI tells of. [REST-36] */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Rejects, too, when an answer is not one that OpenAPI tells of. */
  rest(options?: TokenOptions): RelayClient
  /** A connected client; destroyed with the relay. */
  sync(docId: string, options?: TokenOptions, more?: Partial<SyncClientOptions>): SyncClient
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number>
  /**
   * Starts again on the same data and port, with `env` in place of the first variables and `args` after `serve`. Runs `program`,
   * or the one of these sources when absent.
   */
  restart(env?: Readonly<Record<string, string>>, args?: readonly string[], program?: string): Promise<void>
}

interface RelayOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A folder of the relay's own when absent. */
  readonly dataDir?: string
  /** Serves MCP, on a free port or on the main listener; not at all when absent. */
  readonly mcp?: 'local' | 'public'
  /** After `serve`, at the first start. */
  readonly args?: readonly string[]
  /** The program that is started first; the one of these sources when absent. */
  readonly program?: string
  /** The issuer of several relays that accept the same tokens; the relay has an issuer of its own when absent. */
  readonly issuer?: TestIssuer
  /** Gets the lines of its log, which can so be read before it is ready. */
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
  /** Tokens of one second differ in nothing but their `jti`, and signing one takes as long as a small request. */
  const token = (claims: TokenOptions = {}): string => {
    // A member of value `undefined` says something, too: it leaves a claim out.
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
  /** Addresses by name. */
  readonly listeners: ReadonlyMap<string, string>
  readonly ended: Promise<number>
}

/** Resolves when the relay has printed the awaited listeners, which is when its ports are bound. */
async function launch(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  logLines: string[],
  awaited: readonly string[],
): Promise<Running> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  tieToProcess(child)
  // Not `exit`, at which the last lines of the log may still be on their way.
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

/** Waits until `holds`; gives up, with `what`, after `timeoutMs` of a quiet machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const givenUp = patienceClock(timeoutMs)
  while (!(await holds())) {
    if (givenUp()) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Waits until a line of the log has all these words. The log is another pipe than an answer, which may be here before its lines. */
export function logged(relay: Pick<RelayUnderTest, 'logLines'>, ...words: readonly string[]): Promise<void> {
  return until(`a line with ${words.join(' and ')}`, () =>
    relay.logLines.some((line) => words.every((word) => line.includes(word))),
  )
}

/** Waits until a client is in sync and everything it wrote is durable. */
export function saved(...clients: readonly SyncClient[]): Promise<void> {
  return until('clients to be saved', () => clients.every((client) => client.state.synced && client.state.saved === 'saved'))
}
