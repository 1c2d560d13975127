import { type IncomingHttpHeaders, request } from 'node:http'
import type { Bucket } from '../../access/rate-limiter.port.ts'
import { openKeySet } from '../../auth/key-set.ts'
import { type Tenancy, tenancyOf } from '../../auth/tenancy.ts'
import { startTestIssuer, type TestIssuer } from '../../auth/testing/test-issuer.ts'
import { createRecheck, createTokenVerifier } from '../../auth/verify-token.ts'
import { openBodies } from '../../documents/bodies.ts'
import { memoryRateLimiter } from '../../drivers/memory-limits.ts'
import { createApp } from '../../http/app.ts'
import { createArrivals } from '../../http/arrivals.ts'
import { type BodyBudget, createBodyBudget } from '../../http/body-budget.ts'
import { createHttpServer, type HttpServer, type HttpTimeouts } from '../../http/server.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { LogFields, Logger } from '../../kernel/log.ts'
import { createMetrics, type Metrics } from '../../kernel/metrics.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import type { McpContent } from '../content.ts'
import { createCredentialReader } from '../credentials.ts'
import { createEndpoint } from '../endpoint.ts'
import { loopbackRoot, mcpRoutes } from '../mcp.routes.ts'
import { createRate } from '../rate.ts'
import type { EndpointDeps } from '../endpoint-deps.ts'
import type { SessionLimits } from '../session-room.ts'
import type { ToolServer } from '../tool.ts'
import { type FakeContent, fakeContent } from './fake-content.ts'
import { type FakeTools, fakeTools } from './fake-tools.ts'

/** The instructions of the endpoint under test. */
export const INSTRUCTIONS = 'Instructions of the test.'
export const STATIC_TOKEN = 'static-token-of-32-characters-00'

/** The endpoint on both of its listeners, over real HTTP with real tokens, with fake tools and a clock that the test moves. */
export interface McpRelay extends AsyncDisposable {
  readonly urls: Readonly<Record<MountName, string>>
  readonly issuer: TestIssuer
  readonly tools: FakeTools
  readonly content: FakeContent
  readonly time: ManualTime
  readonly metrics: Metrics
  readonly limiter: ReturnType<typeof memoryRateLimiter>
  readonly revoked: Set<string>
  readonly logLines: string[]
  readonly servers: readonly HttpServer[]
  draining: boolean
  drain(): void
  /** Sends one request and reads the whole response. */
  send(options?: McpRequest): Promise<McpAnswer>
  /** Sends one request whose response is a stream that stays open. */
  stream(options?: McpRequest): Promise<OpenStream>
}

export type MountName = 'local' | 'public'

export interface McpRequest {
  readonly mount?: MountName
  readonly method?: string
  readonly path?: string
  /** The bearer token. Absent: a token of member ann. `null`: no token. */
  readonly bearer?: string | null
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Text or bytes are sent unchanged, any other value as JSON. */
  readonly body?: unknown
}

/** A received message, with the members that tests check. */
export interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> }
}

export interface McpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; for a stream, its last message. */
  readonly json: Message
  /** The messages of a stream. */
  readonly messages: readonly Message[]
}

export interface OpenStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly messages: readonly Message[]
  /** Resolves when the text contains `part`. */
  until(part: string): Promise<void>
  readonly ended: Promise<void>
  close(): void
}

export interface McpRelayOptions {
  readonly tenancy?: Tenancy
  readonly staticToken?: string | null
  readonly allowedOrigins?: readonly string[]
  readonly corsOrigins?: readonly string[]
  /** Replaces the fake tools. */
  readonly tools?: ToolServer
  /** Replaces the fake resources and prompts. */
  readonly content?: McpContent
  readonly timeouts?: HttpTimeouts
  readonly buckets?: Partial<Readonly<Record<'read' | 'write', Bucket>>>
  readonly sessionLimits?: SessionLimits
  /** Replaces the budget for request bodies, which is large in a real relay. */
  readonly budget?: BodyBudget
  /** Makes each of the two listeners a node of its own; called once per listener. */
  readonly sharedSessions?: () => EndpointDeps['sharedSessions']
}

const UNLIMITED = { ratePerSec: null, burst: 0 }

export async function startMcpRelay(options: McpRelayOptions = {}): Promise<McpRelay> {
  const time = manualTime(Date.now())
  const { clock, timers } = time
  const logLines: string[] = []
  const log = recordingLogger(logLines)
  const issuer = await startTestIssuer({ nowMs: () => clock.nowMs() })
  const { issuer: name, audience, jwksUrl } = issuer
  const keySet = openKeySet({ url: jwksUrl, log })
  await keySet.firstFetch(5_000)
  const revoked = new Set<string>()
  const verify = createTokenVerifier({ issuer: name, audience, resource: null, keySet, revocations: revoked, clock })
  const recheck = createRecheck({ revocations: revoked, clock })
  const metrics = createMetrics({ version: '0.0.0', commit: 'test' })
  const bodies = openBodies({ maxBytes: 8_388_608, log })
  const budget = options.budget ?? createBodyBudget(8_388_608)
  const tools = fakeTools()
  const content = fakeContent()
  const limiter = memoryRateLimiter(clock)
  const state = { draining: false }
  const limitsOf = () =>
    ({
      quotaBytes: null,
      quotaSource: 'config',
      editorLimit: null,
      editorLimitSource: 'config',
      maxDocBytes: null,
      maxDocBytesSource: 'config',
    }) as const
  const tenancy = options.tenancy ?? tenancyOf('dedicated', null)
  const endpointOf = (staticToken: string | null) =>
    createEndpoint({
      parts: {
        tools: options.tools ?? tools,
        content: options.content ?? content,
        instructions: () => INSTRUCTIONS,
        serverInfo: { name: 'docrelay', title: 'Docrelay', version: '1.2.3' },
      },
      readCredential: createCredentialReader({
        staticToken,
        verify,
        recheck,
        tenancy,
        limitsOf,
        refused: (reason) => metrics.add('relay_auth_failures_total', 1, { reason }),
      }),
      takeRate: createRate({
        limiter,
        buckets: { read: UNLIMITED, write: UNLIMITED, ...options.buckets },
        keyOf: (bucket, workspaceId) => `${bucket}:${workspaceId}`,
        peopleShare: 50,
        timers,
        clock,
        refused: (bucket) => metrics.add('relay_rate_limit_rejections_total', 1, { surface: `mcp_${bucket}` }),
      }),
      sharedSessions: options.sharedSessions?.() ?? null,
      ...(options.sessionLimits && { sessionLimits: options.sessionLimits }),
      parseJson: (bytes, maxBytes) => bodies.parse(bytes, maxBytes),
      budget,
      arrivals: createArrivals(),
      isDraining: () => state.draining,
      corsOrigins: options.corsOrigins ?? ['*'],
      allowedOrigins: options.allowedOrigins ?? [],
      clock,
      timers,
      random: systemRandom,
      log,
      metrics,
    })
  const local = endpointOf(options.staticToken === undefined ? STATIC_TOKEN : options.staticToken)
  const folded = endpointOf(null)
  const app = (routes: Parameters<typeof createApp>[0]['routes'], corsOrigins: readonly string[]) =>
    createApp({
      routes,
      verify,
      recheck,
      tenancy,
      limitsOf,
      internalBearer: () => 'not-configured',
      corsOrigins,
      maxDocBytes: null,
      isDraining: () => state.draining,
      parseJson: (bytes, maxBytes) => bodies.parse(bytes, maxBytes),
      budget,
      arrivals: createArrivals(),
      clock,
      timers,
      random: systemRandom,
      log,
      metrics,
    })
  const routes = mcpRoutes({ issuer: name })
  const listener = { random: systemRandom, ...(options.timeouts && { timeouts: options.timeouts }) }
  const servers = [
    createHttpServer({ ...listener, app: app([loopbackRoot('1.2.3'), ...routes], []), beside: local.loopback, corsOrigins: [] }),
    createHttpServer({ ...listener, app: app(routes, ['*']), beside: folded.folded, corsOrigins: ['*'] }),
  ]
  const ports = await Promise.all(servers.map((server) => server.listen({ host: '127.0.0.1', port: 0 })))
  const [localUrl, publicUrl] = ports.map(({ port }) => `http://127.0.0.1:${port}/mcp`)
  const urls = { local: localUrl ?? '', public: publicUrl ?? '' }
  const open = (sent: McpRequest) =>
    openRequest(urls[sent.mount ?? 'local'], sent, () => issuer.token({ sub: 'ann', role: 'member' }))

  return {
    urls,
    issuer,
    tools,
    content,
    time,
    metrics,
    limiter,
    revoked,
    logLines,
    servers,
    get draining() {
      return state.draining
    },
    set draining(draining) {
      state.draining = draining
    },
    drain() {
      local.drain()
      folded.drain()
    },
    async send(sent = {}) {
      const stream = await open(sent)
      await stream.ended
      const { status, headers, text, messages } = stream
      return {
        status,
        headers,
        text,
        messages,
        get json() {
          return messages.at(-1) ?? JSON.parse(text)
        },
      }
    },
    stream: (sent = {}) => open(sent),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]()
      await bodies[Symbol.asyncDispose]()
      await keySet[Symbol.asyncDispose]()
      await issuer.close()
    },
  }
}

/** Uses `node:http`, because it sends Host and Origin as given. */
function openRequest(url: string, sent: McpRequest, token: () => string): Promise<OpenStream> {
  const { hostname, port, pathname } = new URL(url)
  const { method = 'POST', path = pathname, bearer = token(), body } = sent
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : body === undefined ? '' : JSON.stringify(body)
  const headers: Record<string, string | readonly string[]> = { ...sent.headers }
  if (bearer !== null) headers['authorization'] ??= `Bearer ${bearer}`
  if (body !== undefined && headers['transfer-encoding'] === undefined)
    headers['content-length'] ??= String(Buffer.byteLength(bytes))
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path, headers: headers as Record<string, string>, agent: false },
      (response) => {
        let text = ''
        const waiting = new Set<() => void>()
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          for (const check of waiting) check()
        })
        const ended = new Promise<void>((done) => response.once('close', done))
        response.on('error', () => undefined)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          get text() {
            return text
          },
          get messages() {
            return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
          },
          ended,
          until: (part) =>
            new Promise((done, failed) => {
              const check = (): void => {
                if (!text.includes(part)) return
                waiting.delete(check)
                done()
              }
              waiting.add(check)
              void ended.then(() => failed(new Error(`the stream ended without ${part}: ${text}`)))
              check()
            }),
          close: () => outgoing.destroy(),
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

function recordingLogger(lines: string[]): Logger {
  const write =
    (level: string) =>
    (event: string, msg: string, fields: LogFields = {}) =>
      void lines.push(JSON.stringify({ level, event, msg, ...fields }))
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
