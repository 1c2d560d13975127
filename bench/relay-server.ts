import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestIssuer, type TestIssuer, type TokenOptions } from '@docrelay/server/auth/testing/test-issuer'
import { mapAtOnce } from './at-once.ts'
import { freePort, type RunningServer, stopChild } from './servers.ts'
import { PAGE } from './edit-stream.ts'

const CONNECTIONS_RAISED = { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '100000', RELAY_MAX_CONNECTIONS: '100000' }
const LIMITS = {
  default: {},
  'connections raised': CONNECTIONS_RAISED,
  raised: { ...CONNECTIONS_RAISED, RELAY_WRITES_PER_SEC: '0', RELAY_WRITES_BURST: '80' },
}
/** Tries to reach a started relay before giving up. On a busy machine four relays that start together take long. */
const MOST_TRIES = 600
const TRY_MS = 50
/** The Node option with which the container image, the systemd unit and `npm start` run the relay. */
const SHIPPED_WITH = '--max-semi-space-size=16'

export interface RunningRelay extends RunningServer {
  /** One token per document, each for a different workspace. */
  readonly tokens: readonly string[]
  /** A token for any other caller. */
  token(options: TokenOptions): string
  readonly baseUrl: string
}

/**
 * Starts the relay as an operator would, in its own process with the embedded store and durable acks, and creates the documents. `limits: 'raised'`
 * raises the write rates and connection limits that one busy workspace, or many of them, would reach. `'connections raised'` raises only the
 * connection limits. All other settings are defaults.
 */
export async function startRelayServer(options: {
  readonly docs: readonly string[]
  readonly limits: 'default' | 'raised' | 'connections raised'
  /** A folder that is kept when the relay stops; it may already contain the documents. */
  readonly dataDir?: string
  /** Whether to create the documents; default true. False leaves the documents in `dataDir` unchanged. */
  readonly create?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** The checkout whose relay is run; this checkout when absent. */
  readonly checkout?: string
  /** `inherit` sends the log lines to stderr of the bench; `ignore` drops them. */
  readonly log?: 'inherit' | 'ignore'
}): Promise<RunningRelay> {
  const issuer = await startTestIssuer()
  const folder = options.dataDir ?? mkdtempSync(join(tmpdir(), 'docrelay-bench-'))
  const { child, port, baseUrl } = await spawnRelay({ ...options, issuer, folder })
  const tokens = options.docs.map((_, i) => issuer.token({ workspace: `bench-${i}`, role: 'owner' }))
  if (options.create ?? true) await createDocuments(baseUrl, options.docs, tokens)
  return {
    pid: child.pid as number,
    port,
    baseUrl,
    tokens,
    token: (options) => issuer.token(options),
    async stop() {
      await stopChild(child, options.dataDir ? undefined : folder)
      await issuer.close()
    },
  }
}

/** Starts one relay process in `folder`, and resolves when it is ready. */
export async function spawnRelay(
  options: Pick<Parameters<typeof startRelayServer>[0], 'limits' | 'env' | 'checkout' | 'log'> & {
    readonly issuer: TestIssuer
    readonly folder: string
  },
): Promise<{ readonly child: ChildProcess; readonly port: number; readonly baseUrl: string }> {
  const { issuer, folder } = options
  const port = await freePort()
  const checkout = options.checkout ?? join(import.meta.dirname, '..')
  const child = spawn(process.execPath, [SHIPPED_WITH, join(checkout, 'packages/server/bin/relay.js'), 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', options.log ?? 'inherit'],
    env: {
      PATH: process.env['PATH'],
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: String(port),
      RELAY_MCP_ENABLED: 'false',
      RELAY_METRICS_EXPOSE: 'off',
      RELAY_DATA_DIR: join(folder, 'data'),
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_TENANCY_MODE: 'shared',
      RELAY_LOG_LEVEL: 'error',
      ...LIMITS[options.limits],
      ...options.env,
    },
  })
  const baseUrl = `http://127.0.0.1:${port}`
  for (let tries = 0; !(await fetch(`${baseUrl}/readyz`).catch(() => null))?.ok; tries++) {
    if (tries > MOST_TRIES || child.exitCode !== null) {
      child.kill('SIGKILL')
      throw new Error('the relay did not become ready')
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
  return { child, port, baseUrl }
}

/** Creates each document with one empty page of prose, unless the document exists. `tokens` are in the order of `ids`. */
export async function createDocuments(baseUrl: string, ids: readonly string[], tokens: readonly string[]): Promise<void> {
  await mapAtOnce(ids, 8, (id, i) => createDocument(baseUrl, id, tokens[i] as string))
}

async function createDocument(baseUrl: string, id: string, token: string): Promise<void> {
  const body = { id, name: id, pages: [], richTextPages: [{ id: PAGE, name: 'Page', content: '<p></p>' }] }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${baseUrl}/api/docs/${id}?expectedVersion=0`, {
    method: 'PUT',
    headers,
    body: JSON.stringify(body),
  })
  if (!answer.ok && answer.status !== 409) throw new Error(`PUT of ${id} answered ${answer.status}: ${await answer.text()}`)
}
