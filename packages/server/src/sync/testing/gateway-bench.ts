import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { startTestIssuer, type TestIssuer, type TokenOptions } from '../../auth/testing/test-issuer.ts'
import { openKeySet } from '../../auth/key-set.ts'
import { createTokenVerifier } from '../../auth/verify-token.ts'
import type { DocumentHead, DocumentRef, DocumentState } from '../../documents/document-store.port.ts'
import type { DocumentEvents } from '../../documents/document-events.port.ts'
import { noFacts } from '../../documents/testing/document-writes.ts'
import { memoryRateLimiter, memorySeats } from '../../drivers/memory-limits.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { createDocumentEvents } from '../gateway/events.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { openRooms, type Rooms } from '../gateway/rooms.ts'
import type { RoomsDeps } from '../gateway/rooms-deps.ts'
import type { WorkerPool } from '../worker-pool.port.ts'
import type { GatewaySettings, SessionDeps } from '../gateway/session-context.ts'
import { ScriptedWorkers } from './scripted-workers.ts'
import { TestClient } from './test-client.ts'
import { PRIVATE_DOCS } from '../../access/testing/policies.ts'

export interface BenchOptions {
  readonly settings?: Partial<GatewaySettings>
  readonly deps?: Partial<SessionDeps>
  readonly rooms?: Partial<RoomsDeps>
  readonly workers?: WorkerPool
}

/** The states of documents, for the reads of the gateway from the store. */
export class TestStore {
  readonly states = new Map<string, DocumentState>()
  /** Replaces the answers from `states` when it is not null. */
  answer: ((ref: DocumentRef) => Promise<DocumentState>) | null = null

  async state(ref: DocumentRef): Promise<DocumentState> {
    if (this.answer !== null) return this.answer(ref)
    return this.states.get(`${ref.workspaceId}/${ref.id}`) ?? { kind: 'absent' }
  }

  put(head: DocumentHead): DocumentHead {
    this.states.set(`${head.workspaceId}/${head.id}`, { kind: 'document', head })
    return head
  }

  bury(ref: DocumentRef): void {
    const tombstone = { ...ref, deletedAtMs: 1, lastServerVersion: 1, ownerId: 'ann' }
    this.states.set(`${ref.workspaceId}/${ref.id}`, { kind: 'tombstone', tombstone })
  }
}

let nextKey = 1

export function headOf(id: string, given: Partial<DocumentHead> = {}): DocumentHead {
  const facts = { ...noFacts, title: id }
  const log = { lastSeq: 0, coveredSeq: 0, bodyAhead: false, owner: null }
  const times = { createdAtMs: 1, updatedAtMs: 1, titleChangedAtMs: 0 }
  const owner = { ownerId: 'ann', ownerName: 'ann', collectionId: null, sharedWith: [] }
  const key = nextKey++
  const lineage = `lineage-${String(key).padStart(8, '0')}`
  return { workspaceId: 'default', id, key, lineage, version: 1, ...owner, ...times, sizeBytes: 2, facts, ...log, ...given }
}

export interface Bench extends AsyncDisposable {
  readonly gateway: Gateway
  readonly rooms: Rooms
  readonly events: DocumentEvents
  readonly workers: ScriptedWorkers
  readonly store: TestStore
  readonly issuer: TestIssuer
  readonly revoked: Set<string>
  readonly port: number
  /** Opens a socket. Each socket has a different address, unless a header X-Forwarded-For sets one. `query` begins with `?`. */
  open(query?: string, options?: ClientOptions, protocols?: string[]): Promise<TestClient>
  /** Returns the HTTP answer to a refused upgrade. */
  refused(
    query?: string,
    options?: ClientOptions,
  ): Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: string }>
  /** Returns an open socket whose AUTH has succeeded. */
  authed(token?: TokenOptions, features?: readonly string[]): Promise<TestClient>
  /** Returns an authenticated socket that has joined and has got its step1. */
  joined(docId: string, token?: TokenOptions, features?: readonly string[]): Promise<TestClient>
}

const SETTINGS: GatewaySettings = {
  tenancy: { mode: 'dedicated', workspaceId: 'default' },
  region: '',
  corsOrigins: ['*'],
  authTimeoutMs: 10_000,
  maxUnauthenticatedSockets: 256,
  trustedProxies: ['127.0.0.1'],
  wsBufferBytes: 8 * 1024 * 1024,
  maxPayloadBytes: 262_144,
  maxConnectionsPerWorkspace: 25,
  configuredLimits: { storageQuotaBytes: null, maxEditorsPerWorkspace: null, maxDocBytes: null },
  writes: { ratePerSec: 40, burst: 80 },
  accessPolicy: PRIVATE_DOCS,
  nodeId: 'n1',
}

let openBenchRooms = openRooms

/**
 * Makes the benches of this test file open their rooms with `open`. Restores `openRooms` after all tests, because other test files of the
 * process share this module.
 */
export function benchesWith(open: typeof openRooms): void {
  beforeAll(() => {
    openBenchRooms = open
  })
  afterAll(() => {
    openBenchRooms = openRooms
  })
}

/** Starts a gateway on a real HTTP server with real tokens. Only the workers and the store are small replacements. */
export async function startBench(options: BenchOptions = {}): Promise<Bench> {
  const issuer = await startTestIssuer()
  const clock = options.deps?.clock ?? systemClock
  const timers = options.deps?.timers ?? systemTimers
  const keySet = openKeySet({ url: issuer.jwksUrl, log: silentLogger })
  await keySet.firstFetch(5_000)
  const revoked = new Set<string>()
  const claimRules = { issuer: issuer.issuer, audience: issuer.audience, resource: null }
  const verifyToken = createTokenVerifier({ ...claimRules, keySet, revocations: revoked, clock })
  const store = new TestStore()
  const workers = options.workers ?? new ScriptedWorkers()
  const rooms = openBenchRooms({ workers, store, clock, timers, log: silentLogger, ...options.rooms })
  const settings = { ...SETTINGS, ...options.settings }
  const limits = { seats: memorySeats(), rateLimiter: memoryRateLimiter(clock) }
  const kernel = { clock, timers, random: systemRandom, log: silentLogger }
  const gateway = createGateway({
    settings,
    verifyToken,
    isRevoked: (jti) => revoked.has(jti),
    ...limits,
    store,
    rooms,
    ...kernel,
    ...options.deps,
  })
  const { sessions } = gateway
  const events = createDocumentEvents({
    ofWorkspace: (id) => sessions.ofWorkspace(id),
    outbox: sessions.outbox,
    accessPolicy: settings.accessPolicy,
  })
  const server = createServer()
  server.on('upgrade', gateway.handleUpgrade)
  const port = await listen(server)
  const clients: TestClient[] = []
  let strangers = 0
  const connect = (query: string, clientOptions: ClientOptions, protocols: string[] = []): WebSocket => {
    const headers = { 'X-Forwarded-For': `198.51.${strangers >> 8}.${strangers++ & 255}`, ...clientOptions.headers }
    return new WebSocket(`ws://127.0.0.1:${port}/ws${query}`, protocols, { perMessageDeflate: true, ...clientOptions, headers })
  }

  const bench: Bench = {
    gateway,
    rooms,
    events,
    workers: workers as ScriptedWorkers,
    store,
    issuer,
    revoked,
    port,
    async open(query = '', clientOptions = {}, protocols = []) {
      const socket = connect(query, clientOptions, protocols)
      const client = new TestClient(socket)
      clients.push(client)
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
      return client
    },
    refused: (query = '', clientOptions = {}) => refusal(connect(query, clientOptions)),
    async authed(token = {}, features) {
      const client = await bench.open()
      client.auth(issuer.token(token), features)
      const response = await client.nextJson(TAG.authResponse)
      if (response['success'] !== true) throw new Error(`AUTH failed: ${String(response['error'])}`)
      return client
    },
    async joined(docId, token = {}, features) {
      const client = await bench.authed(token, features)
      client.join(docId)
      await client.next(TAG.sync)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.socket.terminate()
      await gateway[Symbol.asyncDispose]()
      await rooms[Symbol.asyncDispose]()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await keySet[Symbol.asyncDispose]()
      await issuer.close()
    },
  }
  return bench
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function refusal(socket: WebSocket): ReturnType<Bench['refused']> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('the upgrade was accepted')))
    socket.on('error', () => {})
    socket.once('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (part: Buffer) => (body += part.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
  })
}
