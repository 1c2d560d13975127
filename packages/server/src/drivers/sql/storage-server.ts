import type { MessagePort } from 'node:worker_threads'
import type { AppendRecord, UpdateLog } from '../../sync/update-log.port.ts'
import { createRoundTurns, type RoundTurns } from '../../kernel/round-turns.ts'
import type { StorageHost } from './storage-host.ts'
import { kindOf, type Ports } from './storage-verbs.ts'
import {
  type AppendReply,
  type Call,
  type FromStorage,
  portable,
  type Reply,
  type ToStorage,
  toWireError,
  unpackAppends,
  wireSeqOf,
} from './storage-wire.ts'

const LONG_READS_PER_ROUND = 2

/**
 * Makes the turns for reading whole documents, which all ports share. Without turns a series of such reads would occupy the thread, and commits would
 * wait for all of them. [C3]
 */
export const createReadTurns = (): RoundTurns => createRoundTurns({ perRound: LONG_READS_PER_ROUND })

/** Answers the calls that arrive on `port` until it closes. The replies of one commit are sent as one message. */
export function serveStorage(
  port: MessagePort,
  host: StorageHost,
  { reads, close }: { readonly reads: RoundTurns; readonly close: () => Promise<void> },
): void {
  const control: Ports['control'] = { ping: () => host.ping(), stats: () => host.stats(), totals: () => host.totals(), close }
  const portOf = (name: keyof Ports): Ports[keyof Ports] => (name === 'control' ? control : host[name])
  const out = new Replies(port)
  const run = (call: Call, isRead = false): void => answer(portOf(call.port), call, out, isRead)
  port.on('message', (message: ToStorage) => {
    for (const item of message) {
      if (item.kind === 'appends') for (const call of unpackAppends(item)) append(host.updates, call, out)
      else if (kindOf(item.port, item.verb) === 'long-read') reads.run(holderOf(item), () => run(item, true))
      else run(item)
    }
  })
}

/** Returns the workspace in the first argument of a call, empty when it names none. Reads take turns by workspace. */
function holderOf({ args: [about] }: Call): string {
  if (typeof about !== 'object' || about === null || !('workspaceId' in about)) return ''
  return String(about.workspaceId)
}

function append(
  updates: UpdateLog,
  { id, records }: { readonly id: number; readonly records: readonly AppendRecord[] },
  out: Replies,
): void {
  updates.append(records).then(
    (outcomes) => out.append({ id, seqs: outcomes.map(wireSeqOf) }),
    (error: unknown) => out.reply({ id, ok: false, error: toWireError(error) }),
  )
}

/** Answers a call. `gives`: nobody else uses the answer, so its bytes may be transferred without a copy. */
function answer(named: Ports[keyof Ports], { id, port, verb, args }: Call, out: Replies, gives: boolean): void {
  const verbs = named as unknown as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>
  const call = verbs[verb]
  if (call === undefined) return out.reply({ id, ok: false, error: toWireError(new Error(`no verb ${port}.${verb}`)) })
  call.apply(named, [...args]).then(
    (value) => out.reply({ id, ok: true, value }, gives),
    (error: unknown) => out.reply({ id, ok: false, error: toWireError(error) }),
  )
}

class Replies {
  readonly #port: MessagePort
  #replies: Reply[] = []
  #owned: ArrayBuffer[] = []
  #appended: AppendReply[] = []
  #scheduled = false

  constructor(port: MessagePort) {
    this.#port = port
  }

  /** Adds a reply to the next message. `gives`: this thread no longer uses the value. */
  reply(reply: Reply, gives = false): void {
    this.#replies.push(reply.ok ? { ...reply, value: portable(reply.value, this.#owned, gives) } : reply)
    this.#schedule()
  }

  append(reply: AppendReply): void {
    this.#appended.push(reply)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    // Runs after the promises of the whole commit have settled.
    process.nextTick(() => this.#flush())
  }

  #flush(): void {
    this.#scheduled = false
    this.#port.postMessage({ replies: this.#replies, appended: this.#appended } satisfies FromStorage, this.#owned)
    this.#replies = []
    this.#owned = []
    this.#appended = []
  }
}
