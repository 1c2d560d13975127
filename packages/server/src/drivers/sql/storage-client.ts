import type { MessagePort } from 'node:worker_threads'
import { RelayError } from '../../kernel/errors.ts'
import type { AppendOutcome, AppendRecord, UpdateLog } from '../../sync/update-log.port.ts'
import { rememberingList } from './head-memory.ts'
import {
  type Call,
  fromWireError,
  type FromStorage,
  outcomeOf,
  packAppends,
  portable,
  type Ports,
  type ToStorage,
} from './storage-wire.ts'

/** The ports of the storage thread at the other end of `port`. Calls made in one turn are sent as one message, in order. */
export function storageFromPort(port: MessagePort): Omit<Ports, 'heads'> {
  const client = new StorageClient(port)
  const verb =
    <P extends keyof Ports>(name: P) =>
    <V extends keyof Ports[P] & string>(of: V): Ports[P][V] =>
      ((...args: readonly unknown[]) => client.call(name, of, args)) as Ports[P][V]
  const documents = verb('documents')
  const calls = verb('calls')
  const heads = verb('heads')
  const updates = verb('updates')
  const revocations = verb('revocations')
  const recovery = verb('recovery')
  const blobs = verb('blobs')
  const registries = verb('registries')
  const shareLinks = verb('shareLinks')
  const control = verb('control')
  return {
    documents: {
      state: documents('state'),
      heads: documents('heads'),
      read: documents('read'),
      write: documents('write'),
      overQuota: documents('overQuota'),
      remove: documents('remove'),
      list: rememberingList({ stamps: heads('stamps'), heads: heads('heads') }),
      referencing: documents('referencing'),
      usedBytes: documents('usedBytes'),
      formerClients: documents('formerClients'),
      giveLineages: documents('giveLineages'),
      purgeTombstones: documents('purgeTombstones'),
      purgeFormerClients: documents('purgeFormerClients'),
      remembered: documents('remembered'),
      purgeRemembered: documents('purgeRemembered'),
      behind: documents('behind'),
    },
    calls: { list: calls('list'), read: calls('read'), purge: calls('purge'), totalBytes: calls('totalBytes') },
    updates: {
      append: (records) => client.append(records),
      load: updates('load'),
      after: updates('after'),
      compact: updates('compact'),
      rebuild: updates('rebuild'),
      purgeRemovals: updates('purgeRemovals'),
    } satisfies UpdateLog,
    revocations: { add: revocations('add'), all: revocations('all'), cursor: revocations('cursor') },
    recovery: { list: recovery('list'), read: recovery('read'), capture: recovery('capture'), restore: recovery('restore') },
    blobs: {
      find: blobs('find'),
      uploadedBy: blobs('uploadedBy'),
      reserve: blobs('reserve'),
      release: blobs('release'),
      grant: blobs('grant'),
      staged: blobs('staged'),
      overdueStaged: blobs('overdueStaged'),
      releaseUnreferenced: blobs('releaseUnreferenced'),
      unsettled: blobs('unsettled'),
      orphans: blobs('orphans'),
      forgetOrphan: blobs('forgetOrphan'),
      meteredBytes: blobs('meteredBytes'),
    },
    registries: { read: registries('read'), replace: registries('replace'), configBytes: registries('configBytes') },
    shareLinks: {
      issue: shareLinks('issue'),
      list: shareLinks('list'),
      revoke: shareLinks('revoke'),
      find: shareLinks('find'),
      purgeExpired: shareLinks('purgeExpired'),
    },
    control: { ping: control('ping'), stats: control('stats'), totals: control('totals'), close: control('close') },
  }
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: RelayError): void
  readonly writes: boolean
}

type Outgoing = Call | { readonly kind: 'append'; readonly id: number; readonly records: readonly AppendRecord[] }

const READS = new Set([
  ...[
    'state',
    'read',
    'list',
    'stamps',
    'heads',
    'referencing',
    'usedBytes',
    'overQuota',
    'behind',
    'remembered',
    'load',
    'after',
    'all',
    'cursor',
    'ping',
    'stats',
    'totals',
    'totalBytes',
  ],
  ...['find', 'uploadedBy', 'staged', 'overdueStaged', 'unsettled', 'orphans', 'meteredBytes', 'configBytes'],
])

class StorageClient {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #outgoing: Outgoing[] = []
  #closed = false

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (message: FromStorage) => this.#receive(message))
    port.on('close', () => this.#close())
    port.unref()
  }

  append(records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    if (records.length === 0) return Promise.resolve([])
    return this.#send((id) => ({ kind: 'append', id, records }), true) as Promise<readonly AppendOutcome[]>
  }

  call(port: keyof Ports, verb: string, args: readonly unknown[]): Promise<unknown> {
    return this.#send((id) => ({ kind: 'call', id, port, verb, args }), !READS.has(verb))
  }

  #send(make: (id: number) => Outgoing, writes: boolean): Promise<unknown> {
    if (this.#closed) return Promise.reject(new RelayError('UNAVAILABLE', 'the store is closed'))
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject, writes })
      if (this.#waiting.size === 1) this.#port.ref()
      // Sent after the microtasks of this turn, so that appends of many rooms in the same turn share a message.
      if (this.#outgoing.length === 0) process.nextTick(() => this.#flush())
      this.#outgoing.push(make(id))
    })
  }

  #flush(): void {
    const outgoing = this.#outgoing
    this.#outgoing = []
    const owned: ArrayBuffer[] = []
    const message: ToStorage[number][] = []
    let appends: { readonly id: number; readonly records: readonly AppendRecord[] }[] = []
    const packPending = () => {
      if (appends.length === 0) return
      const packed = packAppends(appends)
      owned.push(packed.bytes.buffer)
      message.push(packed)
      appends = []
    }
    for (const item of outgoing) {
      if (item.kind === 'append') {
        appends.push(item)
        continue
      }
      packPending()
      message.push({ ...item, args: portable(item.args, owned) as readonly unknown[] })
    }
    packPending()
    this.#port.postMessage(message satisfies ToStorage, owned)
  }

  #receive({ replies, appended }: FromStorage): void {
    for (const { id, seqs } of appended) this.#take(id)?.resolve(seqs.map(outcomeOf))
    for (const reply of replies) {
      const waiting = this.#take(reply.id)
      if (reply.ok) waiting?.resolve(reply.value)
      else waiting?.reject(fromWireError(reply.error))
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#port.unref()
    return waiting
  }

  /** The thread has ended: it is unknown what it did with the calls it had received. [C7] */
  #close(): void {
    this.#closed = true
    for (const { reject, writes } of this.#waiting.values()) {
      reject(
        writes
          ? new RelayError('NOT_PERSISTED', 'the store ended before it answered')
          : new RelayError('UNAVAILABLE', 'the store ended'),
      )
    }
    this.#waiting.clear()
  }
}
