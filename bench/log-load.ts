// Runs the store that `log-bench.ts` measures, in a separate process so that its CPU time is that of one program. Arguments: the checkout whose
// storage is run, the file of the store, the number of documents. Each message of the parent is the length of a round in seconds.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@docrelay/server/kernel/clock'
import { systemRandom } from '@docrelay/server/kernel/ids'
import { silentLogger } from '@docrelay/server/kernel/log'
import { waitingTimers } from '@docrelay/server/kernel/timers'
import { bodyOf, creation, written } from '@docrelay/server/documents/testing/document-writes'
import type { DocumentHead } from '@docrelay/server/documents/document-store.port'
import type { StorageHost, StorageHostOptions } from '@docrelay/server/drivers/sql/storage-host'

/** The figures of one round. */
export interface Round {
  readonly edits: number
  readonly commits: number
  readonly compactions: number
  readonly deletions: number
  /** Pages of the write-ahead log: `editPages` were written by commits of edits, `pages` by everything. */
  readonly editPages: number
  readonly pages: number
  /** Bytes given to `write`: log, checkpoints and marks. */
  readonly bytes: number
  readonly micros: number
  readonly commitMs: { readonly p50: number; readonly p99: number; readonly worst: number }
}

const PER_COMMIT = 36
const COMPACT_AT = 500
/** Edits between two stored bodies: at 5 edits/s in each document a body is stored about every 10 s. */
const STORE_AT = 50
const COMMITS_PER_DELETION = 100
const BODY = bodyOf(JSON.stringify({ text: 'x'.repeat(4000) }))
const SNAPSHOT = new Uint8Array(20_000).fill(5)

/** Opens the storage of a checkout as the storage thread does, in this thread. */
export async function openStorageOf(checkout: string, url: string): Promise<StorageHost> {
  const program = (await import(join(checkout, 'packages/server/src/drivers/sql/storage-host.ts'))) as {
    openStorageHost(options: StorageHostOptions): Promise<StorageHost>
  }
  const ring = (await import(join(checkout, 'packages/server/src/drivers/sql/recovery-ring.ts'))) as {
    DEFAULT_RECOVERY_RING: StorageHostOptions['recovery']
  }
  return program.openStorageHost({
    url,
    commitDelayMs: 1,
    recovery: ring.DEFAULT_RECOVERY_RING,
    log: silentLogger,
    clock: systemClock,
    timers: waitingTimers,
    random: systemRandom,
    hooks: { synchronous: 'FULL', ackBeforeCommit: false, commitHoldMs: 0, answerHoldMs: 0 },
    onFatal(error) {
      throw error
    },
  })
}

interface Document {
  head: DocumentHead
  lastSeq: number
  compactedAt: number
  storedAt: number
}

/** Counts the pages that were written to the write-ahead log, by its index in shared memory. */
class Pages {
  readonly #file: number
  readonly #bytes = Buffer.alloc(4)
  #last = 0
  count = 0

  constructor(path: string) {
    this.#file = openSync(`${path}-shm`, 'r')
    this.look()
    this.count = 0
  }

  /** Adds the pages written since the last look. The log starts again from its first page after a checkpoint of all its pages. */
  look(): number {
    readSync(this.#file, this.#bytes, 0, 4, 16)
    const now = this.#bytes.readUInt32LE()
    const added = now >= this.#last ? now - this.#last : now
    this.#last = now
    this.count += added
    return added
  }

  close(): void {
    closeSync(this.#file)
  }
}

const bytesWritten = (): number => Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])

let state = 12_345
/** Draws numbers below `below`, the same sequence in every run. */
function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return Math.floor((state / 0x80000000) * below)
}

const recordsOf = (document: Document, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    key: document.head.key,
    afterSeq: document.lastSeq + i,
    actor: 'user-0123456789abcdef',
    atMs: Date.now(),
    update: new Uint8Array(24 + random(16)).fill(7),
  }))

async function newDocument(host: StorageHost, id: string, lastServerVersion?: number): Promise<Document> {
  const expect = lastServerVersion === undefined ? {} : { expect: { kind: 'tombstone', lastServerVersion } as const }
  const head = written(await host.documents.write(creation({ workspaceId: 'w', id }, JSON.stringify({ text: '' }), expect)))
  return { head, lastSeq: 0, compactedAt: 0, storedAt: random(STORE_AT) }
}

/** Stores the body of a document at the end of its log, as a room does. */
async function store(host: StorageHost, document: Document): Promise<void> {
  const { head } = document
  document.head = written(
    await host.documents.write({
      ref: { workspaceId: 'w', id: head.id },
      expect: { kind: 'document', key: head.key, version: head.version },
      set: { body: BODY },
      bump: true,
      nowMs: Date.now(),
      quotaBytes: null,
      log: { kind: 'live', lastSeq: document.lastSeq, append: [] },
    }),
  )
  document.storedAt = document.lastSeq + random(5)
}

async function compact(host: StorageHost, document: Document): Promise<void> {
  const throughSeq = document.lastSeq
  await host.updates.compact(document.head.key, { update: SNAPSHOT, stateVector: SNAPSHOT.subarray(0, 100), throughSeq })
  document.compactedAt = throughSeq
}

/**
 * Gives each document the log of a document that was edited for long: a snapshot, the records that the snapshot covers, and some records after it.
 */
async function fill(host: StorageHost, documents: readonly Document[]): Promise<void> {
  // Appends to all documents in turn, so that the records of one document lie as far apart as in a store where many documents are edited.
  const appendTo = async (chosen: readonly Document[]): Promise<void> => {
    await host.updates.append(chosen.flatMap((document) => recordsOf(document, 1)))
    for (const document of chosen) document.lastSeq++
  }
  for (let seq = 1; seq <= COMPACT_AT; seq++) await appendTo(documents)
  for (const document of documents) await compact(host, document)
  const lengths = new Map(documents.map((document) => [document, COMPACT_AT + random(COMPACT_AT)]))
  for (let seq = COMPACT_AT + 1; seq < 2 * COMPACT_AT; seq++)
    await appendTo(documents.filter((document) => seq <= (lengths.get(document) ?? 0)))
  for (const document of documents) document.storedAt = document.lastSeq - random(STORE_AT)
}

async function round(host: StorageHost, path: string, documents: Document[], seconds: number): Promise<Round> {
  const pages = new Pages(path)
  const done = { edits: 0, commits: 0, compactions: 0, deletions: 0, editPages: 0 }
  const times: number[] = []
  const bytesBefore = bytesWritten()
  const cpuBefore = process.threadCpuUsage()
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    const chosen = new Set<Document>()
    while (chosen.size < Math.min(PER_COMMIT, documents.length)) chosen.add(documents[random(documents.length)] as Document)
    const records = [...chosen].flatMap((document) => recordsOf(document, 1))
    const from = performance.now()
    for (const { kind } of await host.updates.append(records)) if (kind !== 'appended') throw new Error(kind)
    times.push(performance.now() - from)
    done.editPages += pages.look()
    done.commits++
    done.edits += records.length
    for (const document of chosen) {
      document.lastSeq++
      if (document.lastSeq - document.storedAt >= STORE_AT) await store(host, document)
      if (document.lastSeq - document.compactedAt < COMPACT_AT) continue
      await compact(host, document)
      done.compactions++
    }
    if (done.commits % COMMITS_PER_DELETION === 0) {
      const at = random(documents.length)
      const { head } = documents[at] as Document
      await host.documents.remove({ workspaceId: 'w', id: head.id }, head.key, Date.now())
      documents[at] = await newDocument(host, head.id, head.version)
      done.deletions++
    }
    pages.look()
  }
  const { user, system } = process.threadCpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  pages.close()
  return {
    ...done,
    pages: pages.count,
    bytes: bytesWritten() - bytesBefore,
    micros: user + system,
    commitMs: { p50: at(0.5), p99: at(0.99), worst: at(1) },
  }
}

async function main([checkout = '', path = '', count = '']: readonly string[]): Promise<void> {
  const host = await openStorageOf(checkout, `sqlite:${path}`)
  const documents: Document[] = []
  for (let i = 0; i < Number(count); i++) documents.push(await newDocument(host, `doc-${i}`))
  await fill(host, documents)
  process.on('message', (seconds: number) => {
    if (seconds > 0) void round(host, path, documents, seconds).then((measured) => process.send?.(measured))
    else void host[Symbol.asyncDispose]().then(() => process.exit(0))
  })
  process.send?.('ready')
}

if (process.send !== undefined && process.argv.length > 3) await main(process.argv.slice(2))
