import type { NodeLinkService } from '../../../links/node-links.ts'
import { BatchWriter, readBatch } from '../../../links/link-codec.ts'
import type { NodeMessage } from '../../node-links.port.ts'
import type { Incarnation } from '../../ownership.port.ts'
import { createMemoryNetwork, type MemoryNetwork } from '../memory-links.ts'
import type { Choices, Process, Schedule } from './schedule.ts'

/** A node treats a link as down after this silence. */
const DEAD_MS = 2_000

/**
 * The links of a simulation. A link delivers messages in order and once each, until it is down. In the relay, frames of a link are numbered
 * and sealed, so a frame that a faulty network drops, doubles or changes ends the link. The simulation therefore makes such a fault as a cut,
 * which loses the messages on their way, and a new link after a while.
 */
export class SimNetwork {
  readonly #network: MemoryNetwork
  readonly #schedule: Schedule
  readonly #choices: Choices
  readonly #processes = new Map<Incarnation, Process>()
  /** The pairs of nodes between which no messages arrive. */
  readonly #parted = new Set<string>()
  /** For each slow pair of nodes, the longest time that a message takes between them, in ms. */
  readonly #slow = new Map<string, number>()
  readonly #lastMs = new Map<string, number>()
  readonly #nameOf = new Map<Incarnation, string>()

  constructor(schedule: Schedule, choices: Choices, fullBytes: number) {
    this.#schedule = schedule
    this.#choices = choices
    this.#network = createMemoryNetwork({ fullBytes })
  }

  /** Opens the links of an incarnation of the node `name` in this process. `seen` may replace each message that arrives. */
  open(inc: Incarnation, name: string, process: Process, seen: (message: NodeMessage) => NodeMessage): NodeLinkService {
    const others = [...this.#processes.keys()]
    this.#processes.set(inc, process)
    this.#nameOf.set(inc, name)
    const node = this.#network.join(inc)
    for (const other of others) if (this.#isParted(inc, other)) this.#network.cut(inc, other)
    const writer = new BatchWriter()
    return {
      port: 0,
      peers: () => node.peers(),
      post: (peer, message) => {
        writer.add(message)
        for (const sent of readBatch(writer.take().bytes)) this.#post(node, peer, seen(sent))
      },
      isFull: (peer) => node.isFull(peer),
      onMessage: (listener) => node.onMessage((peer, message) => process.run(() => listener(peer, message))),
      onUp: (listener) => node.onUp((peer) => process.run(() => listener(peer))),
      onDown: (listener) => node.onDown((peer) => process.run(() => listener(peer))),
      onDrained: (listener) => node.onDrained((peer) => process.run(() => listener(peer))),
      setPeers: () => undefined,
      dialOwnUrl: async () => 'itself',
      stats: () => ({ links: node.peers().length, sentBytes: 0, receivedBytes: 0, bufferedBytes: 0, rttSeconds: null }),
      [Symbol.asyncDispose]: async () => this.close(inc),
    }
  }

  /** Ends the links of an incarnation. The other nodes notice the end at once, or only by silence; a random choice decides. */
  close(inc: Incarnation): void {
    if (!this.#processes.delete(inc)) return
    const others = [...this.#processes.keys()]
    this.#network.crash(inc, others)
    const isSilent = this.#choices.percent(50)
    for (const other of others) this.#noticeLater(other, inc, isSilent ? DEAD_MS : 1)
  }

  /** Cuts the links between two nodes until `join`. With `isSilent` the nodes notice the cut only by silence, otherwise at once. */
  part(a: string, b: string, isSilent: boolean): void {
    this.#parted.add(pairOf(a, b))
    this.#ofPair(a, b, (x, y) => this.#break(x, y, isSilent))
  }

  join(a: string, b: string): void {
    this.#parted.delete(pairOf(a, b))
    this.#ofPair(a, b, (x, y) => this.#dial(x, y))
  }

  /** Ends one link. It is opened again after a while. */
  reset(a: string, b: string): void {
    this.#ofPair(a, b, (x, y) => {
      this.#break(x, y, false)
      this.#dial(x, y)
    })
  }

  /** Makes messages between two nodes take up to `mostMs` from now on. */
  slow(a: string, b: string, mostMs: number): void {
    this.#slow.set(pairOf(a, b), mostMs)
  }

  /** Pauses the links of a process. No messages are delivered to it, and the other nodes treat its links as dead after `DEAD_MS`. */
  paused(inc: Incarnation): void {
    const process = this.#processes.get(inc)
    this.#network.pause(inc)
    this.#schedule.after(DEAD_MS, () => {
      if (process?.isPaused !== true || this.#processes.get(inc) !== process) return
      for (const other of this.#processes.keys()) if (other !== inc) this.#network.cut(other, inc, [inc])
    })
  }

  resumed(inc: Incarnation): void {
    this.#network.resume(inc)
    for (const other of this.#processes.keys()) {
      if (other === inc) continue
      for (let i = this.#network.waiting(other, inc); i > 0; i--)
        this.#schedule.after(0, () => this.#network.deliver(other, inc, 1))
      if (!this.#isParted(inc, other)) this.#dial(inc, other)
    }
  }

  #post(node: NodeLinkPart, peer: Incarnation, message: NodeMessage): void {
    const { inc } = node
    node.post(peer, message)
    const way = `${inc}>${peer}`
    const mostMs = this.#slow.get(pairOf(this.#nameOf.get(inc) ?? '', this.#nameOf.get(peer) ?? '')) ?? 2
    const atMs = Math.max(this.#lastMs.get(way) ?? 0, this.#schedule.nowMs + this.#choices.between(0, mostMs))
    this.#lastMs.set(way, atMs)
    this.#schedule.after(atMs - this.#schedule.nowMs, () => this.#network.deliver(inc, peer, 1))
  }

  #break(a: Incarnation, b: Incarnation, isSilent: boolean): void {
    this.#network.cut(a, b, [a, b])
    for (const [at, peer] of [
      [a, b],
      [b, a],
    ] as const)
      this.#noticeLater(at, peer, isSilent ? DEAD_MS : 1)
  }

  #noticeLater(at: Incarnation, peer: Incarnation, afterMs: number): void {
    this.#schedule.after(afterMs + this.#choices.between(0, afterMs / 4), () => this.#network.notice(at, peer))
  }

  #dial(a: Incarnation, b: Incarnation): void {
    this.#schedule.after(this.#choices.between(50, 500), () => {
      const [left, right] = [this.#processes.get(a), this.#processes.get(b)]
      if (left === undefined || right === undefined || this.#isParted(a, b)) return
      if (left.isPaused || right.isPaused) return
      this.#network.heal(a, b)
    })
  }

  #isParted(a: Incarnation, b: Incarnation): boolean {
    return this.#parted.has(pairOf(this.#nameOf.get(a) ?? '', this.#nameOf.get(b) ?? ''))
  }

  #ofPair(a: string, b: string, use: (a: Incarnation, b: Incarnation) => void): void {
    const named = (name: string) => [...this.#processes.keys()].filter((inc) => this.#nameOf.get(inc) === name)
    for (const x of named(a)) for (const y of named(b)) use(x, y)
  }
}

type NodeLinkPart = ReturnType<MemoryNetwork['join']>

function pairOf(a: string, b: string): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`
}
