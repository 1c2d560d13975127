import { parentPort, type MessagePort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/log.ts'
import type { FindRequest, IndexedRef } from '../../../search/search-index.port.ts'
import type { PostgresOptions } from '../postgres.ts'
import { bodySource } from './body-source.ts'
import { Filler } from './filler.ts'
import { type FoundInIndex, type IndexReader, type IndexWriter, type OnNew, searchesAtOnce } from './index-engine.ts'
import { type PackedRequest, ReceivedLists } from './packed-request.ts'

/** Start data of the two threads of an index: one thread searches, the other one fills the index. */
export interface SearchThreadData {
  readonly role: 'search' | 'fill'
  /** `sqlite:<path>` or `postgres://…` */
  readonly url: string
  /** Whether several nodes fill the index. */
  readonly isShared: boolean
}

export type SearchCall =
  | { readonly kind: 'find'; readonly request: PackedRequest }
  | { readonly kind: 'refresh'; readonly refs: readonly IndexedRef[] }
  | { readonly kind: 'damaged'; readonly workspaceId: string }
  | { readonly kind: 'rebuild' }
  | { readonly kind: 'close' }

export type ToSearchThread = SearchCall & { readonly id: number }

export type FromSearchThread =
  | { readonly kind: 'done'; readonly id: number; readonly found: FoundInIndex | null }
  | { readonly kind: 'failed'; readonly id: number; readonly detail: string }
  | { readonly kind: 'log'; readonly event: string; readonly msg: string; readonly fields: Record<string, unknown> }

/** A call as it is served: its request contains the list of documents instead of the number of the list. */
type ServedCall = Exclude<SearchCall, { kind: 'find' }> | { readonly kind: 'find'; readonly request: FindRequest }

type Serve = (call: ServedCall) => Promise<FoundInIndex | null>

const nowMs = (): number => systemClock.monotonicMs()

async function openSearching(url: string, isShared: boolean, log: Logger): Promise<Serve> {
  const { reader, close } = await openReader(url, isShared, log)
  return async (call) => {
    if (call.kind === 'find') return reader.find(call.request)
    if (call.kind === 'close') await close()
    return null
  }
}

/**
 * Options for the connections. Several nodes wait for each other's locks, so their connections have the time limits of nodes. Without these a node
 * that lost its network would hold the lock of a document until the server notices, hours later. [LIFE-26]
 */
const limitsOf = (isShared: boolean): Pick<PostgresOptions, 'node'> => (isShared ? { node: { inc: null } } : {})

interface OpenedReader {
  readonly reader: IndexReader
  close(): Promise<void>
}

async function openReader(url: string, isShared: boolean, log: Logger): Promise<OpenedReader> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteIndexReader } = await import('./sqlite-reader.ts')
    const reader = openSqliteIndexReader(url.slice('sqlite:'.length), nowMs)
    return { reader, close: () => reader.close() }
  }
  const [{ openPostgres }, { openPostgresIndexReader }] = await Promise.all([
    import('../postgres.ts'),
    import('./postgres-index.ts'),
  ])
  const database = await openPostgres(url, 0, log, { connections: searchesAtOnce(url), ...limitsOf(isShared) })
  return { reader: openPostgresIndexReader(database.reader, nowMs), close: () => database.close() }
}

async function openFilling(url: string, isShared: boolean, log: Logger): Promise<Serve> {
  // The index tells the filler when the index is empty, and the filler writes to the index.
  let filler: Filler | null = null
  const { source, index, close } = await openWriter(url, isShared, log, (workspaceId) => filler?.lookIn(workspaceId))
  const filling = (filler = new Filler({ source: bodySource(source), index, pause: () => new Promise(setImmediate), log }))
  return async (call) => {
    switch (call.kind) {
      case 'refresh':
        await filling.refresh(call.refs)
        break
      case 'damaged':
        await filling.refill(call.workspaceId)
        break
      case 'rebuild':
        await filling.rebuild()
        break
      case 'close':
        await filling.close()
        await close()
        break
      case 'find':
        throw new Error('this thread fills the index')
    }
    return null
  }
}

interface OpenedWriter {
  readonly source: Parameters<typeof bodySource>[0]
  readonly index: IndexWriter
  close(): Promise<void>
}

async function openWriter(url: string, isShared: boolean, log: Logger, onNew: OnNew): Promise<OpenedWriter> {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length)
    const [{ openSqliteReader }, { openSqliteWriter }] = await Promise.all([
      import('../sqlite-reader.ts'),
      import('./sqlite-writer.ts'),
    ])
    const source = openSqliteReader(path)
    const index = openSqliteWriter(path, nowMs, onNew)
    return { source: source.db, index, close: () => Promise.all([index.close(), source.close()]).then(() => undefined) }
  }
  const [{ openPostgres }, { openPostgresWriter }] = await Promise.all([import('../postgres.ts'), import('./postgres-index.ts')])
  const database = await openPostgres(url, 0, log, limitsOf(isShared))
  return { source: database.reader, index: openPostgresWriter(database.writer, onNew, isShared), close: () => database.close() }
}

function serve(port: MessagePort, { role, url, isShared }: SearchThreadData): void {
  const tell = (message: FromSearchThread): void => port.postMessage(message)
  const at = (event: string, msg: string, fields: Record<string, unknown> = {}): void => tell({ kind: 'log', event, msg, fields })
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: at, error: at }
  // The store is opened at the first call. When that fails, the next call tries again.
  let opened: Promise<Serve> | null = null
  const run = async (call: ServedCall): Promise<FoundInIndex | null> => {
    if (opened === null && call.kind === 'close') return null
    opened ??= role === 'search' ? openSearching(url, isShared, log) : openFilling(url, isShared, log)
    const serving = opened.catch((error: unknown) => {
      opened = null
      throw error
    })
    return (await serving)(call)
  }
  const lists = new ReceivedLists()
  port.on('message', ({ id, ...call }: ToSearchThread) => {
    // Requests are unpacked at once, in the order of arrival, because later requests refer to lists that came with earlier ones.
    run(call.kind === 'find' ? { ...call, request: lists.unpack(call.request) } : call)
      .then((found) => tell({ kind: 'done', id, found }))
      .catch((error: unknown) => tell({ kind: 'failed', id, detail: error instanceof Error ? error.message : String(error) }))
      .finally(() => {
        // Deferred, so that the answer is sent first.
        if (call.kind === 'close') setImmediate(() => port.close())
      })
  })
}

if (parentPort !== null) serve(parentPort, workerData as SearchThreadData)
