import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { AppendOutcome, AppendRecord } from '../../sync/update-log.port.ts'
import type { ChangeStamps } from './change-stamps.ts'
import { rememberingList } from './head-memory.ts'
import { rememberingRead } from './read-memory.ts'
import { type Ports, VERBS } from './storage-verbs.ts'
import { type Call, fromWireError, type FromStorage, outcomeOf, packAppends, portable, type ToStorage } from './storage-wire.ts'

/**
 * Returns the ports of the storage thread at the other end of `port`. Calls made in one turn are sent as one message, in order. With `remembering`
 * the caller may get the same record of a document several times.
 */
export function storageFromPort(
  port: MessagePort,
  remembering: { readonly stamps: ChangeStamps; readonly clock: Clock } | null = null,
): Omit<Ports, 'heads'> {
  const client = new StorageClient(port)
  const { heads, documents, updates, ...others } = callsOf(client)
  const read = remembering === null ? documents.read : rememberingRead(documents.read, remembering.stamps, remembering.clock)
  return {
    ...others,
    documents: { ...documents, read, list: rememberingList(heads) },
    // Appends of one turn of the event loop are packed into one message instead of being sent as calls.
    updates: { ...updates, append: (records) => client.append(records) },
  }
}

/** Returns every method of the table `VERBS` as a function that sends the call. */
function callsOf(client: StorageClient): Ports {
  const ports = Object.entries(VERBS).map(([port, kinds]) => {
    const verbs = Object.entries(kinds).map(([verb, kind]) => {
      const call = (...args: readonly unknown[]) => client.call(port as keyof Ports, verb, args, kind === 'write')
      return [verb, call] as const
    })
    return [port, Object.fromEntries(verbs)] as const
  })
  return Object.fromEntries(ports) as unknown as Ports
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: RelayError): void
  readonly writes: boolean
}

type Outgoing = Call | { readonly kind: 'append'; readonly id: number; readonly records: readonly AppendRecord[] }

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

  call(port: keyof Ports, verb: string, args: readonly unknown[], writes: boolean): Promise<unknown> {
    return this.#send((id) => ({ kind: 'call', id, port, verb, args }), writes)
  }

  #send(make: (id: number) => Outgoing, writes: boolean): Promise<unknown> {
    if (this.#closed) return Promise.reject(new RelayError('UNAVAILABLE', 'the store is closed'))
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject, writes })
      if (this.#waiting.size === 1) this.#port.ref()
      // Sent after the microtasks of this turn, so that appends of many rooms in one turn share a message.
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

  /** Rejects the pending calls when the thread has ended: it is unknown what the thread did with calls that it had received. [C7] */
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
