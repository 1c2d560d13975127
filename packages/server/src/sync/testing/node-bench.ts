import { DatabaseSync } from 'node:sqlite'
import { TAG } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { systemClock } from '../../kernel/clock.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'
import type { Storage } from '../../drivers/sql/storage.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { openNodeHomes } from '../remote/node-homes.ts'
import { serveEdges } from '../remote/edges.ts'
import { openSettling } from '../remote/settling.ts'
import type { DocumentWorkerOptions } from '../workers/document-worker.ts'
import { type Bench, type BenchOptions, startBench } from './gateway-bench.ts'
import { fencedStores, type FencedStores, type StoreFaults } from './fenced-stores.ts'
import { HomesHere } from './homes-here.ts'
import { createMemoryNetwork, type MemoryNetwork, type MemoryNode } from './memory-links.ts'
import { lastSeqIn, MemoryOwnership } from './memory-ownership.ts'
import { TextEditor } from './text-editor.ts'
import { writeDocument } from './stored-document.ts'
import { openTestStorage } from './worker-harness.ts'

/** In these tests a node is dead after this time without a heartbeat. */
const DEAD_MS = 300

export interface TestNode {
  readonly inc: number
  readonly bench: Bench
  readonly homes: HomesHere
  readonly links: MemoryNode
  readonly stores: FencedStores
  readonly faults: StoreFaults
  /**
   * Connects an editor to this node and joins it to the document in the workspace of the token. `doc` is the copy that the editor already
   * has.
   */
  editor(docId: string, token?: TokenOptions, doc?: Y.Doc): Promise<TextEditor>
}

/** Nodes in one process. Their gateways, sockets and rooms are real. They share one store, and their links are in memory. */
export interface NodeBench extends AsyncDisposable {
  readonly nodes: readonly TestNode[]
  readonly network: MemoryNetwork
  readonly ownership: MemoryOwnership
  readonly storage: Storage
  create(id: string, workspaceId?: string): Promise<DocumentHead>
  /** Returns the text of a document according to its log. */
  stored(head: DocumentHead): Promise<string>
  /** Removes the last records of a log, as a failover to a standby that lags does. Works only with the bench's own storage. */
  loseTail(head: DocumentHead, records: number): void
  /** Ends the process of a node at once: its heartbeat, its links, its rooms, and its sockets. */
  crash(node: TestNode): void
  /** The nodes that the other nodes treat as draining. */
  readonly draining: Set<number>
  /** True when messages between nodes are delivered at once. A test that sets it to false delivers them itself. */
  delivers: boolean
}

export interface NodeBenchOptions {
  readonly count: number
  readonly fullBytes?: number
  /** The storage of all nodes, which the caller closes. When absent, the bench opens its own storage. */
  readonly storage?: Storage
  /** A body is stored after this time without an edit, in ms. */
  readonly saveIdleMs?: number
  /** The nodes that run the previous version, which settles documents for other nodes one by one. */
  readonly older?: readonly number[]
  readonly bench?: Omit<BenchOptions, 'workers'>
  /** Options of the homes of each node's rooms. */
  readonly homes?: Partial<DocumentWorkerOptions>
}

export async function startNodes(given: NodeBenchOptions): Promise<NodeBench> {
  const { count, fullBytes, older = [], saveIdleMs = 100, bench: options = {}, homes: homeOptions = {} } = given
  const own = given.storage === undefined ? await openTestStorage() : null
  const storage: Storage = given.storage ?? own ?? missing()
  const draining = new Set<number>()
  const network = createMemoryNetwork(fullBytes === undefined ? {} : { fullBytes })
  const ownership = new MemoryOwnership({
    clock: systemClock,
    deadMs: DEAD_MS,
    takenMs: DEAD_MS,
    lastSeq: lastSeqIn(storage.updates),
  })
  const nodes: TestNode[] = []
  for (let inc = 1; inc <= count; inc++) nodes.push(await startNode(inc))
  const made: NodeBench = {
    nodes,
    network,
    ownership,
    storage,
    draining,
    delivers: true,
    create: (id, workspaceId = 'default') => writeDocument(storage.documents, { workspaceId, id }),
    async stored({ key }) {
      const log = await storage.updates.load(key)
      if (log.kind !== 'loaded') throw new Error('the log was not loaded')
      const doc = new Y.Doc()
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
      return doc.getText('t').toString()
    },
    loseTail({ key }, records) {
      if (own === null) throw new Error('the storage is not that of the bench')
      const db = new DatabaseSync(own.url.slice('sqlite:'.length), { timeout: 5_000 })
      const { last } = db.prepare('select max(seq) as last from updates where key = ?').get(key) as { last: number }
      db.prepare('delete from updates where key = ? and seq > ?').run(key, last - records)
      db.prepare('update log_heads set last_seq = ? where key = ?').run(last - records, key)
      db.close()
    },
    crash(node) {
      ownership.silence(node.inc)
      network.crash(node.inc)
      node.homes.off()
      for (const connection of Array.from(node.bench.gateway.sessions.all())) connection.wire.terminate()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(pump)
      for (const { bench, homes } of nodes) {
        await bench[Symbol.asyncDispose]()
        await homes[Symbol.asyncDispose]()
      }
      await own?.[Symbol.asyncDispose]()
    },
  }
  const pump = setInterval(() => made.delivers && network.deliverAll(), 1)

  async function startNode(inc: number): Promise<TestNode> {
    const links = network.join(inc)
    const faults: StoreFaults = { gate: Promise.resolve(), isDown: false }
    const stores = fencedStores(storage, ownership, inc, faults)
    const homes = new HomesHere({ ...stores, rooms: { saveIdleMs, saveLatestMs: 3 * saveIdleMs }, ...homeOptions })
    const workers = openNodeHomes({ local: homes, links })
    const settling = older.includes(inc) ? null : openSettling(links)
    let connections = 0
    const nextConnection = (): number => ++connections
    const bench = await startBench({
      ...options,
      workers,
      settings: {
        writes: { ratePerSec: null, burst: 0 },
        maxConnectionsPerWorkspace: null,
        nodeId: `n${inc}`,
        ...options.settings,
      },
      deps: { store: stores.documents, nextConnection, ...options.deps },
      rooms: {
        store: stores.documents,
        idleMs: 200,
        nodes: {
          ownership: ownership.of(inc),
          links,
          homes: workers,
          known: {
            isDraining: (node) => draining.has(node),
            hasBeatSince: (node, ms) => ownership.lastBeatMs(node) >= ms,
          },
          ...(settling && { settling }),
        },
        ...options.rooms,
      },
    })
    serveEdges({ links, rooms: bench.rooms.hosted, timers: systemTimers, nextConnection })
    settling?.serve(bench.rooms.hosted)
    return {
      inc,
      bench,
      homes,
      links,
      stores,
      faults,
      async editor(docId, token = {}, doc = new Y.Doc()) {
        const editor = new TextEditor(await bench.authed(token, ['ack']), doc)
        editor.start(docId)
        await editor.client.next(TAG.sync)
        return editor
      },
    }
  }
  return made
}

function missing(): never {
  throw new Error('there is no storage')
}

export async function until(holds: () => boolean | Promise<boolean>, waitMs = 8_000): Promise<void> {
  const givenUp = patienceClock(waitMs)
  while (!(await holds())) {
    if (givenUp()) throw new Error(`it did not come to hold in time: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
