import type { Cluster, ClusterNode } from './cluster.ts'
import type { Recorder } from './recorder.ts'
import { type Caller, callTool, pause, request } from './requests.ts'
import { openTypist, TYPED_PAGE, type Typist } from './typist.ts'
import { until } from '../../relay-under-test.ts'

/** Number of documents in which a person types at each node. */
const LIVE_DOCUMENTS = 4
/**
 * The loads. At each node, `typists` people type in each live document, and `quiet` documents have one writer and are only read at the other
 * nodes. A load may include callers of REST and agents. `few people` leaves room below the limits of a workspace.
 */
const LOADS = {
  usual: { typists: 1, typistsEdits: 2.5, quiet: 1, quietEdits: 2, hasCallers: true },
  'sixty typists': { typists: 5, typistsEdits: 0.6, quiet: 1, quietEdits: 2, hasCallers: true },
  'writers alone': { typists: 0, typistsEdits: 0, quiet: 4, quietEdits: 5, hasCallers: false },
  'few people': { typists: 0, typistsEdits: 0, quiet: 1, quietEdits: 8, hasCallers: false },
} as const
export type LoadName = keyof typeof LOADS
const WRITER_PAUSE_MS = 250
const READER_PAUSE_MS = 100
const AGENT_PAUSE_MS = 400
const JOINED_WITHIN_MS = 30_000
const TOOL_PAGE = 'tools'
const NOTE = 'blk-note'

/**
 * The load of a fault run. At each node there are: a person in each live document, the only writer of a quiet document that people at all other
 * nodes read, a writer over REST who makes documents, a writer who rewrites a document that somebody at another node has open, an agent with
 * tools in a live document, and a reader who requests the rewritten documents from the node itself.
 */
export interface NodesLoad {
  readonly typists: readonly Typist[]
  /** The names of the clients at each node that get events of documents made by others. */
  readonly watchers: readonly string[]
  /** Every document that people have open. */
  readonly documents: readonly string[]
  /** Returns the node to which each client is connected now. */
  nodeOfClients(): ReadonlyMap<string, string | null>
  /** Starts the work; may be called again after `rest`. */
  begin(): void
  /** Stops all work. The people stay connected. */
  rest(): Promise<void>
  /** Disconnects the people. */
  close(): void
}

/** A document that one writer rewrites over REST, with its last confirmed version. */
interface Rewritten {
  readonly id: string
  version: number
  confirmedAtMs: number
}

type Running = () => boolean
/** Works until `running` returns false. May be called again afterwards. */
type Work = (running: Running) => Promise<void>

/** Whether a load includes callers of REST and agents with tools. */
export function hasCallers(kind: LoadName): boolean {
  return LOADS[kind].hasCallers
}

export function liveDocument(i: number): string {
  return `live-${i % LIVE_DOCUMENTS}`
}

export function quietDocument(node: string, i = 0): string {
  return `quiet-${node}-${i}`
}

function rewrittenDocument(node: string): string {
  return `rewritten-${node}`
}

/** Makes the documents and opens them for the people. Resolves when everybody has joined. */
export async function startNodesLoad(
  { nodes, issuer }: Cluster,
  recorder: Recorder,
  { random, kind }: { readonly random: () => number; readonly kind: LoadName },
): Promise<NodesLoad> {
  const as = (sub: string) => ({ sub, role: 'owner' })
  const caller = ({ front }: ClusterNode, sub: string): Caller => ({ baseUrl: front.baseUrl, issuer, as: as(sub), recorder })
  const page = [
    { id: TYPED_PAGE, name: 'Text', content: '<p></p>' },
    { id: TOOL_PAGE, name: 'Tools', content: `<p id="${NOTE}">Note</p>` },
  ]
  const { typists: perLive, typistsEdits, quiet: perNode, quietEdits } = LOADS[kind]
  const quiet = nodes.flatMap((node) =>
    Array.from({ length: perNode }, (_, i) => ({ node, document: quietDocument(node.name, i) })),
  )
  const live = perLive === 0 ? [] : Array.from({ length: LIVE_DOCUMENTS }, (_, i) => liveDocument(i))
  const busyNodes = hasCallers(kind) ? nodes : []
  const rewritten: Rewritten[] = busyNodes.map(({ name }) => ({ id: rewrittenDocument(name), version: 0, confirmedAtMs: 0 }))
  const first = caller(nodes[0] as ClusterNode, 'maker')
  const make = (id: string) => create(first, id, { name: id, pages: [], richTextPages: page })
  for (const id of [...live, ...quiet.map(({ document }) => document)]) await make(id)
  for (const one of rewritten) one.version = await make(one.id)

  const open = (node: ClusterNode, document: string, role: string, editsPerSec: number): Typist =>
    openTypist({ name: `${role}-${node.name}.${document}`, document, front: node.front, issuer, recorder, random, editsPerSec })
  const joined = (people: readonly Typist[]) =>
    until(
      'people to join',
      () => people.every(({ client }) => client.state.synced && client.state.saved === 'saved'),
      JOINED_WITHIN_MS,
    )
  // These writers join first, so that their node becomes the owner.
  const quietWriters = quiet.map(({ node, document }) => open(node, document, 'writer', quietEdits))
  await joined(quietWriters)
  const typists = nodes.flatMap((node) =>
    live.flatMap((document) => Array.from({ length: perLive }, (_, i) => open(node, document, `typist${i}`, typistsEdits))),
  )
  const next = (i: number) => nodes[(i + 1) % nodes.length] as ClusterNode
  const readers = quiet.flatMap(({ node, document }) =>
    nodes.filter((other) => other !== node).map((other) => open(other, document, 'reader', 0)),
  )
  const watchers = rewritten.map(({ id }, i) => open(next(i), id, 'watcher', 0))
  const people = [...quietWriters, ...typists, ...readers, ...watchers]
  await joined(people)

  let isRunning = false
  const running = (): boolean => isRunning
  const makers = busyNodes.map((node) => makerOfDocuments(caller(node, `maker-${node.name}`), node.name))
  const rewriters = busyNodes.map((node, i) => rewriter(caller(node, `rewriter-${node.name}`), rewritten[i] as Rewritten))
  const agents = busyNodes.map((node, i) => agentWithTools(caller(node, `agent-${node.name}`), node.name, liveDocument(i)))
  const askers = busyNodes.map((node) =>
    reader({ ...caller(node, `reader-${node.name}`), baseUrl: node.relay.baseUrl }, rewritten, random),
  )
  const writers = [...quietWriters, ...typists].map((one) => (running: Running) => one.type(running))
  let work: readonly Promise<void>[] = []
  return {
    typists: people,
    watchers: watchers.map(({ name }) => name),
    documents: [...live, ...quiet.map(({ document }) => document), ...rewritten.map(({ id }) => id)],
    nodeOfClients: () => new Map(people.map(({ name, front }) => [name, front.nodeOf(name)])),
    begin() {
      isRunning = true
      work = [...writers, ...makers, ...rewriters, ...agents, ...askers].map((one) => one(running))
    },
    async rest() {
      isRunning = false
      await Promise.all(work)
    },
    close() {
      for (const { client } of people) client.destroy()
    },
  }
}

/** Makes a document before the load begins, and returns its version. Retries, because a busy machine may not answer at once. */
async function create(caller: Caller, id: string, body: unknown): Promise<number> {
  let version: number | null = null
  await until(`the document ${id} to be made`, async () => {
    const { status, body: saved } = await request(caller, 'PUT', `/api/docs/${id}`, body)
    if (status === 200) version = Number(saved?.['newVersion'] ?? 0)
    return version !== null
  })
  return version ?? 0
}

function makerOfDocuments(caller: Caller, name: string): Work {
  let made = 0
  return whileRunning(WRITER_PAUSE_MS, async () => {
    const i = made++
    const document = `made-${name}-${i}`
    const mark = `[made ${name}.${i}]`
    const richTextPages = [{ id: TYPED_PAGE, name: 'Text', content: `<p>${mark}</p>` }]
    const { status } = await request(caller, 'PUT', `/api/docs/${document}`, { name: document, pages: [], richTextPages })
    if (status !== null && status < 300)
      caller.recorder.acknowledged.push({ source: 'saved', document, mark, atMs: performance.now() })
  })
}

/**
 * Rewrites a document with the last version as expectedVersion, so that a write whose answer was lost cannot take effect after a later one.
 * [REST-16]
 */
function rewriter(caller: Caller, one: Rewritten): Work {
  let { version } = one
  let tried = 0
  return whileRunning(WRITER_PAUSE_MS, async () => {
    const i = tried++
    const body = {
      name: one.id,
      pages: [],
      richTextPages: [{ id: TYPED_PAGE, name: 'Text', content: `<p>[${one.id}.${i}]</p>` }],
    }
    const { status, body: saved } = await request(caller, 'PUT', `/api/docs/${one.id}?expectedVersion=${version}`, body)
    if (status !== null && status < 300) {
      version = Number(saved?.['newVersion'])
      one.version = version
      one.confirmedAtMs = performance.now()
      return
    }
    const seen = await request(caller, 'GET', `/api/docs/${one.id}`)
    if (seen.status === 200) version = Number(seen.body?.['serverVersion'])
  })
}

function agentWithTools(caller: Caller, name: string, docId: string): Work {
  let called = 0
  return whileRunning(AGENT_PAUSE_MS, async () => {
    const mark = `[tool ${name}.${called++}]`
    const done = await callTool(caller, 'insert_block', { docId, pageId: TOOL_PAGE, id: NOTE, content: mark })
    if (done !== null) caller.recorder.acknowledged.push({ source: 'tools', document: docId, mark, atMs: performance.now() })
  })
}

/** Reads rewritten documents. An answer must be as new as the last version confirmed to anybody before its request was sent. [LIFE-8] */
function reader(caller: Caller, rewritten: readonly Rewritten[], random: () => number): Work {
  return whileRunning(READER_PAUSE_MS * (0.5 + random()), async () => {
    const one = rewritten[Math.floor(random() * rewritten.length)] as Rewritten
    const { version: confirmed, confirmedAtMs } = one
    const { status, body } = await request(caller, 'GET', `/api/docs/${one.id}`)
    if (status !== 200 || Number(body?.['serverVersion']) >= confirmed || caller.recorder.isOfLostTail(confirmedAtMs)) return
    const what = `${one.id} at version ${String(body?.['serverVersion'])} after ${confirmed} was confirmed, from ${caller.baseUrl}`
    caller.recorder.staleReads.push({ what, atMs: performance.now() })
  })
}

function whileRunning(everyMs: number, once: () => Promise<void>): Work {
  return async (running) => {
    while (running()) {
      await pause(everyMs)
      await once()
    }
  }
}
