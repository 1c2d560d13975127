import type { Cluster, ClusterNode } from './cluster.ts'
import type { Recorder } from './recorder.ts'
import { type Caller, callTool, pause, request } from './requests.ts'
import { openTypist, TYPED_PAGE, type Typist } from './typist.ts'
import { until } from '../../relay-under-test.ts'

/** Documents in which a person types at each node. */
const LIVE_DOCUMENTS = 4
const EDITS_PER_SEC = 2.5
/** Of the one writer of a document that people at the other nodes only read. */
const QUIET_EDITS_PER_SEC = 2
/** The same where nobody else works, with so many documents at each node. */
const ALONE = { documents: 4, editsPerSec: 5 } as const
const WRITER_PAUSE_MS = 250
const READER_PAUSE_MS = 100
const AGENT_PAUSE_MS = 400
const JOINED_WITHIN_MS = 30_000
const TOOL_PAGE = 'tools'
const NOTE = 'blk-note'

/**
 * The load of a fault run. At each node: a person in each live document, the only writer of a quiet document that people at all other
 * nodes read, a writer over REST who makes documents, one who rewrites a document that somebody at another node has open, an agent with
 * tools in a live document, and a reader who asks the node itself for the documents that are rewritten.
 */
export interface NodesLoad {
  readonly typists: readonly Typist[]
  /** Every document that people have open. */
  readonly documents: readonly string[]
  /** The node that each client is connected to now. */
  nodeOfClients(): ReadonlyMap<string, string | null>
  /** Ends all work; the people stay connected. */
  stop(): Promise<void>
  /** Disconnects the people. */
  close(): void
}

/** A document that one writer rewrites over REST, with the last version that was confirmed. */
interface Rewritten {
  readonly id: string
  version: number
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

/** Starts the load. Resolves when everybody has joined and works. */
export async function startNodesLoad(
  { nodes, issuer }: Cluster,
  recorder: Recorder,
  { random, areWritersAlone }: { readonly random: () => number; readonly areWritersAlone: boolean },
): Promise<NodesLoad> {
  const as = (sub: string) => ({ sub, role: 'owner' })
  const caller = ({ front }: ClusterNode, sub: string): Caller => ({ baseUrl: front.baseUrl, issuer, as: as(sub), recorder })
  const page = [
    { id: TYPED_PAGE, name: 'Text', content: '<p></p>' },
    { id: TOOL_PAGE, name: 'Tools', content: `<p id="${NOTE}">Note</p>` },
  ]
  const [quietPerNode, quietEdits] = areWritersAlone ? [ALONE.documents, ALONE.editsPerSec] : [1, QUIET_EDITS_PER_SEC]
  const quiet = nodes.flatMap((node) =>
    Array.from({ length: quietPerNode }, (_, i) => ({ node, document: quietDocument(node.name, i) })),
  )
  const live = areWritersAlone ? [] : Array.from({ length: LIVE_DOCUMENTS }, (_, i) => liveDocument(i))
  const busyNodes = areWritersAlone ? [] : nodes
  const rewritten: Rewritten[] = busyNodes.map(({ name }) => ({ id: rewrittenDocument(name), version: 0 }))
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
  // They join first, so that their node is the owner.
  const quietWriters = quiet.map(({ node, document }) => open(node, document, 'writer', quietEdits))
  await joined(quietWriters)
  const typists = nodes.flatMap((node) => live.map((document) => open(node, document, 'typist', EDITS_PER_SEC)))
  const next = (i: number) => nodes[(i + 1) % nodes.length] as ClusterNode
  const readers = quiet.flatMap(({ node, document }) =>
    nodes.filter((other) => other !== node).map((other) => open(other, document, 'reader', 0)),
  )
  const watchers = rewritten.map(({ id }, i) => open(next(i), id, 'watcher', 0))
  const people = [...quietWriters, ...typists, ...readers, ...watchers]
  await joined(people)

  let isRunning = true
  const running = (): boolean => isRunning
  const work = [
    ...[...quietWriters, ...typists].map((one) => one.type(running)),
    ...busyNodes.map((node) => makeDocuments(caller(node, `maker-${node.name}`), node.name, running)),
    ...busyNodes.map((node, i) => rewrite(caller(node, `rewriter-${node.name}`), rewritten[i] as Rewritten, running)),
    ...busyNodes.map((node, i) => useTools(caller(node, `agent-${node.name}`), node.name, liveDocument(i), running)),
    ...busyNodes.map((node) => {
      const direct = { ...caller(node, `reader-${node.name}`), baseUrl: node.relay.baseUrl }
      return read(direct, rewritten, random, running)
    }),
  ]
  return {
    typists: people,
    documents: [...live, ...quiet.map(({ document }) => document), ...rewritten.map(({ id }) => id)],
    nodeOfClients: () => new Map(people.map(({ name, front }) => [name, front.nodeOf(name)])),
    async stop() {
      isRunning = false
      await Promise.all(work)
    },
    close() {
      for (const { client } of people) client.destroy()
    },
  }
}

async function create(caller: Caller, id: string, body: unknown): Promise<number> {
  const { status, body: saved } = await request(caller, 'PUT', `/api/docs/${id}`, body)
  if (status === null || status >= 300) throw new Error(`${id} was not made: ${status} ${JSON.stringify(saved)}`)
  return Number(saved?.['newVersion'] ?? 0)
}

async function makeDocuments(caller: Caller, name: string, running: () => boolean): Promise<void> {
  for (let i = 0; running(); i++) {
    await pause(WRITER_PAUSE_MS)
    const document = `made-${name}-${i}`
    const mark = `[made ${name}.${i}]`
    const richTextPages = [{ id: TYPED_PAGE, name: 'Text', content: `<p>${mark}</p>` }]
    const { status } = await request(caller, 'PUT', `/api/docs/${document}`, { name: document, pages: [], richTextPages })
    if (status !== null && status < 300)
      caller.recorder.acknowledged.push({ source: 'saved', document, mark, atMs: performance.now() })
  }
}

/** Names the version that it has seen in each write, so that a write whose answer was lost cannot take effect after a later one. [REST-16] */
async function rewrite(caller: Caller, one: Rewritten, running: () => boolean): Promise<void> {
  let { version } = one
  for (let i = 0; running(); i++) {
    await pause(WRITER_PAUSE_MS)
    const body = {
      name: one.id,
      pages: [],
      richTextPages: [{ id: TYPED_PAGE, name: 'Text', content: `<p>[${one.id}.${i}]</p>` }],
    }
    const { status, body: saved } = await request(caller, 'PUT', `/api/docs/${one.id}?expectedVersion=${version}`, body)
    if (status !== null && status < 300) {
      version = Number(saved?.['newVersion'])
      one.version = version
      continue
    }
    const seen = await request(caller, 'GET', `/api/docs/${one.id}`)
    if (seen.status === 200) version = Number(seen.body?.['serverVersion'])
  }
}

async function useTools(caller: Caller, name: string, docId: string, running: () => boolean): Promise<void> {
  for (let i = 0; running(); i++) {
    await pause(AGENT_PAUSE_MS)
    const mark = `[tool ${name}.${i}]`
    const done = await callTool(caller, 'insert_block', { docId, pageId: TOOL_PAGE, id: NOTE, content: mark })
    if (done !== null) caller.recorder.acknowledged.push({ source: 'tools', document: docId, mark, atMs: performance.now() })
  }
}

/** An answer must be as new as what had been confirmed to anybody before its request was sent. [LIFE-8] */
async function read(
  caller: Caller,
  rewritten: readonly Rewritten[],
  random: () => number,
  running: () => boolean,
): Promise<void> {
  while (running()) {
    await pause(READER_PAUSE_MS * (0.5 + random()))
    const one = rewritten[Math.floor(random() * rewritten.length)] as Rewritten
    const confirmed = one.version
    const { status, body } = await request(caller, 'GET', `/api/docs/${one.id}`)
    if (status !== 200 || Number(body?.['serverVersion']) >= confirmed) continue
    const what = `${one.id} at version ${String(body?.['serverVersion'])} after ${confirmed} was confirmed, from ${caller.baseUrl}`
    caller.recorder.staleReads.push({ what, atMs: performance.now() })
  }
}
