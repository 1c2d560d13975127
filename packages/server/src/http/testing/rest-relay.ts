import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfiguredLimits, resolveLimits } from '../../access/limits.ts'
import { createInternalBearer } from '../../auth/internal-bearer.ts'
import { openKeySet } from '../../auth/key-set.ts'
import { type Tenancy, tenancyOf } from '../../auth/tenancy.ts'
import { startTestIssuer, type TestIssuer, type TokenOptions } from '../../auth/testing/test-issuer.ts'
import { createRecheck, createTokenVerifier } from '../../auth/verify-token.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { blobRoutes } from '../../blobs/blobs.routes.ts'
import { createIngest, type Ingest, type IngestDeps } from '../../blobs/ingest.ts'
import { ingestRoutes } from '../../blobs/ingest.routes.ts'
import { openRestBlobs, type RestBlobsOptions } from '../../blobs/testing/rest-blobs.ts'
import { createCalls } from '../../calls/calls.ts'
import { callRoutes } from '../../calls/calls.routes.ts'
import { collectionRoutes } from '../../collections/collections.routes.ts'
import { openBodies } from '../../documents/bodies.ts'
import type { DocumentEvent } from '../../documents/document-events.port.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import { type ChangeRecords, createChangeRecords } from '../../documents/change-records.ts'
import { createDocuments, type Documents } from '../../documents/documents.ts'
import { documentRoutes } from '../../documents/documents.routes.ts'
import { purgeMemberRoutes } from '../../documents/purge-member.routes.ts'
import type { Residents } from '../../documents/residents.port.ts'
import { memoryRateLimiter, memorySeats } from '../../drivers/memory-limits.ts'
import { openStorage, type Storage } from '../../drivers/sql/storage.ts'
import { openStorageHere } from '../../drivers/sql/testing/storage-here.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { LogFields, Logger } from '../../kernel/log.ts'
import { createMetrics, type Metrics } from '../../kernel/metrics.ts'
import type { ManualTime } from '../../kernel/testing/manual-time.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { type Check, type CheckName, CHECKS, type Checks, createReadiness } from '../../operation/health.ts'
import { healthRoutes } from '../../operation/health.routes.ts'
import { frontPageRoutes } from '../../operation/front-page.routes.ts'
import { metricsRoutes } from '../../operation/metrics.routes.ts'
import { openPreviews } from '../../previews/previews.ts'
import { previewRoutes } from '../../previews/previews.routes.ts'
import { createRecovery } from '../../recovery/recovery.ts'
import { recoveryRoutes } from '../../recovery/recovery.routes.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import { openSearchIndex } from '../../drivers/sql/search/search-index.ts'
import { createIndexFeed } from '../../search/index-feed.ts'
import { createSearch, type Search } from '../../search/search.ts'
import { searchRoutes } from '../../search/search.routes.ts'
import type { ShareLinkStore } from '../../share-links/share-link-store.port.ts'
import { createShareLinks } from '../../share-links/share-links.ts'
import { type ShareLinkPlace, shareLinkRoutes } from '../../share-links/share-links.routes.ts'
import { styleProfileRoutes } from '../../style-profiles/style-profiles.routes.ts'
import { usageRoutes } from '../../usage/usage.routes.ts'
import type { Seats } from '../../access/seats.port.ts'
import type { AnswerLimits } from '../answer-turns.ts'
import { createApp } from '../app.ts'
import { type Arrivals, createArrivals } from '../arrivals.ts'
import { createBodyBudget } from '../body-budget.ts'
import type { ConnectionLimits } from '../open-connections.ts'
import type { Route } from '../route.ts'
import { createHttpServer, type HttpServer, type HttpTimeouts } from '../server.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { openApiRoutes } from '../openapi/openapi.routes.ts'
import type { LingerLimits } from '../lingering-close.ts'
import { routeTable } from '../../compose/route-table.ts'
import { createExchangeCheck } from './exchange-check.ts'
import { sendRaw } from './send-raw.ts'
import type { AccessPolicy } from '../../access/access.ts'
import { PRIVATE_DOCS } from '../../access/testing/policies.ts'

export interface RestRelayOptions {
  readonly tenancy?: Tenancy
  readonly limits?: Partial<ConfiguredLimits>
  /** Runs the store in a thread, for tests that measure the relay's own thread. */
  readonly storageThread?: boolean
  readonly accessPolicy?: AccessPolicy
  readonly editorClient?: boolean
  readonly corsOrigins?: readonly string[]
  readonly routes?: readonly Route[]
  readonly checks?: Partial<Record<CheckName, Check>>
  /** Wraps the real store, to watch calls or to make one fail. */
  readonly store?: (real: DocumentStore) => DocumentStore
  readonly shareLinks?: (real: ShareLinkStore) => ShareLinkStore
  readonly recovery?: (real: RecoveryStore) => RecoveryStore
  readonly residents?: Residents
  readonly search?: (real: Search) => Search
  readonly blobs?: RestBlobsOptions
  /** When absent, ingest is switched off. */
  readonly ingest?: Pick<IngestDeps, 'allowedHosts' | 'network'>
  readonly timeouts?: HttpTimeouts
  readonly linger?: LingerLimits
  readonly connections?: ConnectionLimits
  readonly answers?: AnswerLimits
  /** The clock and timers for waiting requests; the real ones when absent. */
  readonly time?: Pick<ManualTime, 'clock' | 'timers'>
  readonly maxConfigBytes?: number
  /** The page that share links open; this relay's own page when absent. */
  readonly shareLinksOpenAt?: ShareLinkPlace
  readonly docsUrl?: string
  /** The clock of share links and of their rate limit; the real one when absent. */
  readonly shareClock?: Clock
}

export interface LogLine extends LogFields {
  readonly level: string
  readonly event: string
  readonly msg: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly bytes: Uint8Array
  /** The parsed body; empty when the answer is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>
  /** The entries when the answer is a JSON list. */
  readonly list: readonly Readonly<Record<string, unknown>>[]
}

/** The content of a call besides method and path. `as`: the claims of a token made for the call. */
export interface CallOptions {
  readonly as?: TokenOptions
  readonly token?: string
  readonly body?: unknown
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** The REST routes over real HTTP on loopback, with a real SQLite store and real tokens. No document is live. */
export interface RestRelay extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly directory: string
  readonly issuer: TestIssuer
  /** The revoked `jti`s; at first only the jti `revoked`. */
  readonly revoked: Set<string>
  readonly storage: Storage
  readonly seats: Seats
  readonly rateLimiter: ReturnType<typeof memoryRateLimiter>
  readonly documents: Documents
  readonly records: ChangeRecords
  readonly blobs: Blobs
  readonly ingest: Ingest
  readonly metrics: Metrics
  readonly server: HttpServer
  readonly arrivals: Arrivals
  readonly events: DocumentEvent[]
  readonly logLines: LogLine[]
  draining: boolean
  /** Sends a request. Rejects when the route does not declare the answer. [REST-36] */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** See `sendRaw`. */
  socket(text: string | Uint8Array, quietMs?: number): Promise<string>
}

/** Residents of a relay where nobody has a document open. */
export const noResidents: Residents = {
  hasGap: () => false,
  isResident: () => false,
  settle: () => Promise.resolve(),
  async settleAll(heads) {
    const outcomes = await Promise.allSettled(heads.map((head) => this.settle(head)))
    return outcomes.filter(({ status }) => status === 'fulfilled').length
  },
  put: () => Promise.resolve('not-resident' as const),
  edit: () => Promise.resolve('not-resident' as const),
  bodyChanged() {},
  drop: () => Promise.resolve([]),
  encode: () => Promise.resolve(null),
  sharingChanged() {},
}

/** The OpenAPI description of all routes, made once for all relays. */
let description: ReturnType<typeof openApiDocument> | undefined

export async function startRestRelay(options: RestRelayOptions = {}): Promise<RestRelay> {
  const directory = await mkdtemp(join(tmpdir(), 'relay-rest-'))
  const logLines: LogLine[] = []
  const log = recordingLogger(logLines)
  const issuer = await startTestIssuer()
  const keySet = openKeySet({ url: issuer.jwksUrl, log })
  await keySet.firstFetch(5_000)
  const open = options.storageThread === true ? openStorage : openStorageHere
  const storage = await open({ url: `sqlite:${join(directory, 'relay.db')}`, commitDelayMs: 0, log })
  const revoked = new Set(['revoked'])
  const verify = createTokenVerifier({
    issuer: issuer.issuer,
    audience: issuer.audience,
    resource: null,
    keySet,
    revocations: revoked,
    clock: systemClock,
  })
  const metrics = createMetrics({ version: '0.0.0', commit: 'test' })
  const events: DocumentEvent[] = []
  const limits = { storageQuotaBytes: null, maxEditorsPerWorkspace: null, maxDocBytes: null, ...options.limits }
  const bodies = openBodies({ maxBytes: 128 * 1024 * 1024, log })
  const shared = {
    residents: options.residents ?? noResidents,
    events: { publish: (event: DocumentEvent) => void events.push(event) },
    bodies,
    accessPolicy: options.accessPolicy ?? PRIVATE_DOCS,
    clock: systemClock,
    log,
  }
  const records = createChangeRecords()
  const store = options.store?.(storage.documents) ?? storage.documents
  const documents = createDocuments({ ...shared, records, metrics, store })
  const points = options.recovery?.(storage.recovery) ?? storage.recovery
  const recovery = createRecovery({ ...shared, documents, store: points, random: systemRandom })
  const previews = openPreviews({ documents, clock: systemClock, log })
  const index = openSearchIndex({ url: `sqlite:${join(directory, 'relay.db')}`, log })
  const feed = createIndexFeed({ index, timers: systemTimers })
  storage.onStored((document) => feed.stored(document))
  const search = createSearch({ ...shared, documents, store, index, timers: systemTimers })
  const always = Object.fromEntries(CHECKS.filter((name) => name !== 'cluster').map((name) => [name, () => ({ ok: true })]))
  const checks = { ...(always as unknown as Checks), ...options.checks }
  const version = { server: 'docrelay', version: '0.0.0', commit: 'test', built: '', protocolVersion: 4, protocolMinor: 2 }
  const state = { draining: false }
  const corsOrigins = options.corsOrigins ?? ['*']
  const seats = memorySeats()
  const { registries: registryStore, shareLinks, blobs: ledger } = storage
  const blobs = await openRestBlobs({
    ...shared,
    directory,
    ledger,
    documents: storage.documents,
    metrics,
    options: options.blobs ?? {},
  })
  const ingest = createIngest({
    upload: blobs.upload,
    allowedHosts: options.ingest?.allowedHosts ?? [],
    network: options.ingest?.network ?? { resolve: () => Promise.resolve([]), connect: (host, port) => ({ host, port }) },
    maxBlobBytes: options.blobs?.maxBlobBytes ?? 157_286_400,
    userAgent: 'docrelay/test',
    log,
    metrics,
  })
  const registries = { store: registryStore, maxBytes: options.maxConfigBytes ?? 2_097_152 }
  const shareClock = options.shareClock ?? systemClock
  const rateLimiter = memoryRateLimiter(shareClock)
  const sharing = { documents, rateLimiter, clock: shareClock, random: systemRandom, log, metrics }
  const used = { documents: storage.documents, blobs: ledger, registries: registryStore, seats, rateLimiter }
  const routes: readonly Route[] = [
    ...documentRoutes({ documents, editorClient: options.editorClient ?? false }),
    ...recoveryRoutes({ recovery, editorClient: options.editorClient ?? false }),
    ...callRoutes({ calls: createCalls({ ...shared, documents, store: storage.documents, calls: storage.calls }) }),
    ...previewRoutes({ previews }),
    ...searchRoutes({ search: options.search?.(search) ?? search }),
    ...blobRoutes(blobs),
    ...ingestRoutes(ingest),
    ...collectionRoutes({ registries, documents }),
    ...styleProfileRoutes(registries),
    ...usageRoutes({ ...used, writes: { ratePerSec: 40, burst: 80 }, maxConnections: 25 }),
    ...shareLinkRoutes({
      links: createShareLinks({ store: options.shareLinks?.(shareLinks) ?? shareLinks, ...sharing }),
      documents,
      clock: shareClock,
      opensAt: options.shareLinksOpenAt ?? { kind: 'page' },
      docsUrl: options.docsUrl ?? null,
    }),
    ...purgeMemberRoutes({ documents, log }),
    ...frontPageRoutes({ version: '0.0.0', docsUrl: null, servesMcp: false, consolePath: null }),
    ...healthRoutes({ readiness: createReadiness(checks, { clock: systemClock, timers: systemTimers }), version }),
    ...metricsRoutes(metrics),
    ...openApiRoutes((description ??= openApiDocument(routeTable(), '0.0.0'))),
    ...(options.routes ?? []),
  ]
  const check = createExchangeCheck(routes)
  const arrivals = createArrivals()
  const app = createApp({
    routes,
    verify,
    recheck: createRecheck({ revocations: revoked, clock: systemClock }),
    tenancy: options.tenancy ?? tenancyOf('shared', ''),
    limitsOf: (claims) => resolveLimits(claims, limits),
    internalBearer: createInternalBearer('a-secret-of-sixteen'),
    corsOrigins,
    maxDocBytes: limits.maxDocBytes,
    isDraining: () => state.draining,
    parseJson: (bytes, maxBytes) => bodies.parse(bytes, maxBytes),
    budget: createBodyBudget(128 * 1024 * 1024),
    arrivals,
    ...(options.answers && { answers: options.answers }),
    clock: options.time?.clock ?? systemClock,
    timers: options.time?.timers ?? systemTimers,
    random: systemRandom,
    log,
    metrics,
  })
  const server = createHttpServer({
    app,
    corsOrigins,
    random: systemRandom,
    ...(options.timeouts && { timeouts: options.timeouts }),
    ...(options.linger && { linger: options.linger }),
    ...(options.connections && { connections: options.connections }),
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    directory,
    issuer,
    revoked,
    storage,
    seats,
    rateLimiter,
    documents,
    records,
    blobs,
    ingest,
    metrics,
    server,
    arrivals,
    events,
    logLines,
    get draining() {
      return state.draining
    },
    set draining(draining) {
      state.draining = draining
    },
    async call(method, path, call) {
      const answer = await send(port, issuer, method, path, call)
      check(method, path, answer)
      return answer
    },
    socket: (text, quietMs) => sendRaw(port, text, quietMs),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await previews[Symbol.asyncDispose]()
      feed[Symbol.dispose]()
      await index[Symbol.asyncDispose]()
      await bodies[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
      await keySet[Symbol.asyncDispose]()
      await issuer.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Sends a request with `node:http`: unlike fetch it sends paths and headers exactly as given. */
function send(port: number, issuer: TestIssuer, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { as, token, body, raw } = options
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const headers: Record<string, string> = { ...options.headers }
  const bearer = token ?? (as && issuer.token(as))
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
  if (body !== undefined) headers['content-type'] ??= 'application/json'
  if (payload !== undefined && headers['transfer-encoding'] === undefined)
    headers['content-length'] ??= String(Buffer.byteLength(payload))
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const whole = Buffer.concat(chunks)
        const text = whole.toString()
        const answerHeaders = new Headers()
        for (let i = 0; i < response.rawHeaders.length; i += 2) {
          answerHeaders.append(response.rawHeaders[i] as string, response.rawHeaders[i + 1] as string)
        }
        const value = parsed(text)
        const list = Array.isArray(value) ? (value as Answer['list']) : []
        const json = typeof value === 'object' && value !== null ? (value as Answer['json']) : {}
        resolve({ status: response.statusCode ?? 0, headers: answerHeaders, text, bytes: new Uint8Array(whole), json, list })
      })
    })
    request.on('error', reject)
    request.end(payload)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function recordingLogger(lines: LogLine[]): Logger {
  const at = (level: string) => (event: string, msg: string, more?: LogFields) => void lines.push({ ...more, level, event, msg })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
