import { bucketOf, writeBucketKey } from '../access/rate-limiter.port.ts'
import type { Access } from '../access/access.ts'
import { resolveLimits } from '../access/limits.ts'
import { isOneOfSeveral } from '../config/several-nodes.ts'
import { successorOf } from '../documents/successor.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import type { Route } from '../http/route.ts'
import { derivedKeys } from '../kernel/derived-keys.ts'
import { systemTimers } from '../kernel/timers.ts'
import { createCredentialReader } from '../mcp/credentials.ts'
import { createEndpoint, type McpEndpoint } from '../mcp/endpoint.ts'
import type { EndpointDeps } from '../mcp/endpoint-deps.ts'
import { type McpDocuments, withLocalDocuments } from '../mcp/local-access.ts'
import { openLocalDocuments } from '../mcp/local-documents.ts'
import { mcpRoutes } from '../mcp/mcp.routes.ts'
import { instructionsFor } from '../mcp/instructions.ts'
import { createCallers } from '../mcp/memory/callers.ts'
import { Memories } from '../mcp/memory/memories.ts'
import { createRate } from '../mcp/rate.ts'
import { openStaticToken } from '../mcp/static-token.ts'
import { createToolServer } from '../mcp/registry.ts'
import type { ToolServer } from '../mcp/tool.ts'
import { allTools, offeredNames } from '../mcp/tools/all-tools.ts'
import { openDiagramLayouts } from '../mcp/tools/diagram-layouts.ts'
import type { KnowledgeDeps } from '../mcp/tools/knowledge.ts'
import { accessPolicyOf } from './access-policy.ts'
import type { Base } from './base.ts'
import type { Bus } from './bus.ts'
import type { Features } from './features.ts'
import type { Live } from './live.ts'
import { openContent, openKnowledge } from './mcp-content.ts'
import type { Tokens } from './tokens.ts'

/** The MCP endpoint before it has a listener. */
export interface Mcp {
  readonly endpoint: McpEndpoint
  /** Routes for the listener that serves the endpoint. */
  readonly routes: readonly Route[]
  readonly isPublic: boolean
}

/**
 * Opens the endpoint; `null` when it is switched off. The first start makes the static token, which the main listener
 * never accepts. [MCP-2, MCP-18, MCP-19]
 */
export async function openMcp(
  base: Base,
  tokens: Tokens,
  storage: Storage,
  bus: Bus,
  live: Live,
  features: Features,
  opened: AsyncDisposableStack,
): Promise<Mcp | null> {
  const { config, clock, random, log, metrics, tenancy } = base
  const { mcp, server, auth } = config
  const { limits } = config.tenancy
  if (!mcp.enabled) return null
  const isPublic = mcp.expose === 'public'
  const readCredential = createCredentialReader({
    staticToken: isPublic ? null : await openStaticToken(config.storage.dataDir ?? 'data', random, log),
    verify: tokens.verify,
    recheck: tokens.recheck,
    tenancy,
    limitsOf: (claims) => resolveLimits(claims, limits),
    refused: (reason) => metrics.add('relay_auth_failures_total', 1, { reason }),
  })
  const takeRate = createRate({
    limiter: live.rateLimiter,
    buckets: {
      read: bucketOf(limits.readsPerSec, limits.readsBurst),
      write: bucketOf(limits.writesPerSec, limits.writesBurst),
    },
    peopleShare: limits.peopleShare,
    timers: systemTimers,
    clock,
    keyOf: (bucket, workspaceId) => (bucket === 'write' ? writeBucketKey(workspaceId) : `read:${workspaceId}`),
    refused: (bucket) => metrics.add('relay_rate_limit_rejections_total', 1, { surface: `mcp_${bucket}` }),
  })
  const knowledge = openKnowledge(base)
  const seen = { ...features, documents: openDocuments(base, storage, features) }
  const endpoint = createEndpoint({
    parts: {
      tools: openTools(base, storage, live, seen, knowledge, opened),
      content: openContent(base, storage, live, seen.documents, knowledge, opened),
      instructions: ({ extra }) => instructionsFor(offeredNames(mcp.extraTools && extra)),
      serverInfo: { name: 'docrelay', title: 'Docrelay', version: base.release.version },
    },
    readCredential,
    takeRate,
    sharedSessions: sharedSessionsOf(base, bus),
    parseJson: (bytes, maxBytes, workspaceId) => features.bodies.for(workspaceId).parse(bytes, maxBytes),
    budget: base.budget,
    arrivals: base.arrivals,
    isDraining: () => base.draining.now,
    corsOrigins: server.corsOrigins,
    allowedOrigins: mcp.allowedOrigins,
    clock,
    timers: systemTimers,
    random,
    log,
    metrics,
  })
  return { endpoint, routes: mcpRoutes({ issuer: auth.issuer }), isPublic }
}

/**
 * Several nodes serve each other's MCP sessions. Returns `null` for a single relay, which keeps its sessions in memory. [MCP-31]
 */
function sharedSessionsOf({ config }: Base, { sessionFacts }: Bus): EndpointDeps['sharedSessions'] {
  if (!isOneOfSeveral(config) || sessionFacts === null) return null
  return { keys: derivedKeys(config.cluster.secret, 'mcp session'), facts: sessionFacts }
}

type SeenFeatures = Omit<Features, 'documents'> & { readonly documents: McpDocuments }

/** Opens the documents of the relay, and the local ones where they are configured. [LOCAL-1] */
function openDocuments({ config, tenancy, log }: Base, storage: Storage, { documents, bodies }: Features): McpDocuments {
  const directory = config.mcp.localDocumentsDir
  if (directory === null || tenancy.mode === 'shared') return documents
  const { workspaceId } = tenancy
  const local = openLocalDocuments({ directory, workspaceId, bodies, log })
  const storedIds = async (id: string) => new Set((await storage.documents.list(id)).map((head) => head.id))
  return withLocalDocuments(documents, { local, workspaceId, storedIds })
}

function openTools(
  { config, clock, random, log, metrics }: Base,
  storage: Storage,
  { records }: Live,
  features: SeenFeatures,
  knowledge: KnowledgeDeps,
  opened: AsyncDisposableStack,
): ToolServer {
  const { documents, bodies, blobs, ingest, previews, search } = features
  const tools = allTools({
    ...knowledge,
    layouts: opened.use(openDiagramLayouts(log)),
    documents,
    bodies,
    blobs,
    pictures: previews,
    ingest,
    search,
    wasDeleted: async (workspaceId, id) => (await storage.documents.state({ workspaceId, id })).kind === 'tombstone',
    async usage({ workspaceId }) {
      const [docBytes, blobBytes] = await Promise.all([
        storage.documents.usedBytes(workspaceId),
        storage.blobs.meteredBytes(workspaceId),
      ])
      return { docBytes, blobBytes }
    },
    maxBlobBytes: config.tenancy.limits.maxBlobBytes,
    backend: config.blobs.url.startsWith('file:') ? 'filesystem' : 'object-storage',
    blobUrlTtlSecs: config.mcp.blobUrlTtlSecs,
    editorClient: config.compat.editorClient,
    staticTokenShare: config.mcp.staticTokenShare,
    records,
    random,
    clock,
    calls: storage.calls,
    timers: systemTimers,
    localAccessEnabled: config.mcp.localDocumentsDir !== null,
  })
  const offered = config.mcp.extraTools ? tools : tools.filter(({ extra }) => extra !== true)
  const memories = new Memories({ clock, timers: systemTimers, hold: (ref) => records.hold(ref) })
  const glances = { memories, callers: createCallers(clock), records, documents, blindWrites: config.mcp.blindWrites, clock }
  const successor = async (access: Access, id: string) => {
    const { documents: store } = storage
    const state = await store.state({ workspaceId: access.workspaceId, id })
    return successorOf(access, state, { store, accessPolicy: accessPolicyOf(config) })
  }
  return createToolServer({ tools: offered, clock, random, log, metrics, glances, successorOf: successor })
}
