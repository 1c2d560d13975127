import type { NodeLinks, NodeMessage } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'

/** A link is full when this many bytes are on their way, unless a test sets another number. */
const FULL_BYTES = 8 * 1024 * 1024

export interface MemoryNode extends NodeLinks {
  readonly inc: Incarnation
}

/**
 * Nodes and the links between them in one process, for simulations. Messages are delivered only when the test asks for it. Every pair of
 * nodes is linked from the moment when both have joined.
 */
export interface MemoryNetwork {
  /** Adds a node and links it with all others. */
  join(inc: Incarnation): MemoryNode
  /**
   * Delivers the oldest `count` messages from one node to another, or all waiting messages when `count` is absent. Messages that listeners
   * post meanwhile wait for the next delivery. Returns how many messages were delivered.
   */
  deliver(from: Incarnation, to: Incarnation, count?: number): number
  /** Delivers the messages between all nodes, one message per pair in turn, until none waits. Returns how many were delivered. */
  deliverAll(): number
  /** Returns how many messages wait between two nodes in one direction. */
  waiting(from: Incarnation, to: Incarnation): number
  /** Returns the directions in which messages wait, for a simulation that picks the next message. */
  pending(): readonly { readonly from: Incarnation; readonly to: Incarnation; readonly count: number }[]
  /**
   * Breaks the link of two nodes. The messages that wait in either direction are lost. The nodes in `unnoticed` still see the link as up
   * until `notice` or `heal`, and the messages that they post until then are lost.
   */
  cut(a: Incarnation, b: Incarnation, unnoticed?: readonly Incarnation[]): void
  /** Makes a node notice that its link to this peer is down. Does nothing when it has noticed already, or when the link is not down. */
  notice(at: Incarnation, peer: Incarnation): void
  /**
   * Links two nodes again. A node that has not noticed that the link was down gets `down` first. Does nothing when the nodes are linked, or
   * when one of them is gone.
   */
  heal(a: Incarnation, b: Incarnation): void
  /** Breaks every link between the two groups. */
  partition(left: readonly Incarnation[], right: readonly Incarnation[]): void
  /** Removes a node. No more messages are delivered to it, and no listener of it is called again. */
  crash(inc: Incarnation, unnoticed?: readonly Incarnation[]): void
  /** Delivers nothing to a node until `resume`, as when a signal stops its process. */
  pause(inc: Incarnation): void
  resume(inc: Incarnation): void
}

interface Waiting {
  readonly message: NodeMessage
  readonly bytes: number
}

/** One direction of a link. */
interface Way {
  readonly from: Node
  readonly to: Node
  /** True while the sender sees the link as up. */
  isUp: boolean
  /** True while messages reach the other end. */
  isWhole: boolean
  waiting: Waiting[]
  bytes: number
  wasFull: boolean
}

interface Node extends MemoryNode {
  readonly heard: Listeners
  isGone: boolean
  isPaused: boolean
}

interface Listeners {
  readonly message: ((peer: Incarnation, message: NodeMessage) => void)[]
  readonly up: ((peer: Incarnation) => void)[]
  readonly down: ((peer: Incarnation) => void)[]
  readonly drained: ((peer: Incarnation) => void)[]
}

/** Creates a network. A link is full when `fullBytes` bytes are on their way in one direction. */
export function createMemoryNetwork({ fullBytes = FULL_BYTES }: { readonly fullBytes?: number } = {}): MemoryNetwork {
  const nodes = new Map<Incarnation, Node>()
  const ways: Way[] = []

  const wayOf = (from: Incarnation, to: Incarnation): Way | undefined =>
    ways.find((way) => way.from.inc === from && way.to.inc === to)

  function tell(node: Node, event: 'up' | 'down' | 'drained', peer: Incarnation): void {
    if (node.isGone) return
    for (const listener of node.heard[event]) listener(peer)
  }

  function down(way: Way): void {
    if (!way.isUp) return
    way.isUp = false
    lose(way)
    tell(way.from, 'down', way.to.inc)
  }

  function connect(a: Node, b: Node): void {
    const both = [wayOf(a.inc, b.inc), wayOf(b.inc, a.inc)].filter((way) => way !== undefined)
    for (const way of both) down(way)
    for (const way of both) {
      way.isUp = true
      way.isWhole = true
    }
    for (const way of both) tell(way.from, 'up', way.to.inc)
  }

  function take(way: Way): void {
    const next = way.waiting.shift()
    if (next === undefined) return
    way.bytes -= next.bytes
    for (const listener of way.to.heard.message) listener(way.from.inc, next.message)
    if (!way.wasFull || way.bytes > fullBytes / 2 || !way.isUp) return
    way.wasFull = false
    tell(way.from, 'drained', way.to.inc)
  }

  const canDeliver = (way: Way): boolean => way.isWhole && !way.to.isGone && !way.to.isPaused && way.waiting.length > 0

  function newNode(inc: Incarnation): Node {
    const heard: Listeners = { message: [], up: [], down: [], drained: [] }
    const outgoing = (peer: Incarnation): Way | undefined => {
      const way = wayOf(inc, peer)
      return way?.isUp === true ? way : undefined
    }
    return {
      inc,
      heard,
      isGone: false,
      isPaused: false,
      peers: () => ways.filter((way) => way.from.inc === inc && way.isUp).map((way) => way.to.inc),
      post(peer, message) {
        const way = outgoing(peer)
        if (way?.isWhole !== true) return
        const copy = { message: plainCopy(message) as NodeMessage, bytes: sizeOf(message) }
        way.waiting.push(copy)
        way.bytes += copy.bytes
        if (way.bytes >= fullBytes) way.wasFull = true
      },
      onMessage: (listener) => void heard.message.push(listener),
      onUp: (listener) => void heard.up.push(listener),
      onDown: (listener) => void heard.down.push(listener),
      isFull: (peer) => outgoing(peer)?.wasFull ?? false,
      onDrained: (listener) => void heard.drained.push(listener),
    }
  }

  function cut(a: Incarnation, b: Incarnation, unnoticed: readonly Incarnation[] = []): void {
    for (const way of [wayOf(a, b), wayOf(b, a)]) {
      if (way === undefined) continue
      way.isWhole = false
      lose(way)
    }
    for (const way of [wayOf(a, b), wayOf(b, a)])
      if (way !== undefined && !unnoticed.includes(way.from.inc) && !way.from.isPaused) down(way)
  }

  return {
    join(inc) {
      if (nodes.has(inc)) throw new Error(`node ${inc} has joined already`)
      const node = newNode(inc)
      for (const other of nodes.values()) {
        const fresh = { isUp: false, isWhole: false, bytes: 0, wasFull: false }
        ways.push({ ...fresh, from: node, to: other, waiting: [] }, { ...fresh, from: other, to: node, waiting: [] })
        if (!other.isGone) connect(node, other)
      }
      nodes.set(inc, node)
      return node
    },
    deliver(from, to, count = Number.POSITIVE_INFINITY) {
      const way = wayOf(from, to)
      if (way === undefined) return 0
      let delivered = 0
      for (const most = Math.min(count, way.waiting.length); delivered < most && canDeliver(way); delivered++) take(way)
      return delivered
    },
    deliverAll() {
      let delivered = 0
      for (let more = true; more; ) {
        more = false
        for (const way of ways) {
          if (!canDeliver(way)) continue
          take(way)
          delivered += 1
          more = true
        }
      }
      return delivered
    },
    waiting: (from, to) => wayOf(from, to)?.waiting.length ?? 0,
    pending: () =>
      ways.filter(canDeliver).map(({ from, to, waiting }) => ({ from: from.inc, to: to.inc, count: waiting.length })),
    cut,
    notice(at, peer) {
      const way = wayOf(at, peer)
      if (way !== undefined && !way.isWhole) down(way)
    },
    heal(a, b) {
      const [left, right] = [nodes.get(a), nodes.get(b)]
      if (left === undefined || right === undefined || left.isGone || right.isGone) return
      if (wayOf(a, b)?.isWhole !== true) connect(left, right)
    },
    partition(left, right) {
      for (const a of left) for (const b of right) cut(a, b)
    },
    crash(inc, unnoticed = []) {
      const node = nodes.get(inc)
      if (node === undefined) return
      node.isGone = true
      for (const other of nodes.keys()) if (other !== inc) cut(inc, other, unnoticed)
    },
    pause(inc) {
      const node = nodes.get(inc)
      if (node !== undefined) node.isPaused = true
    },
    resume(inc) {
      const node = nodes.get(inc)
      if (node === undefined) return
      node.isPaused = false
      for (const way of ways) if (way.from === node && !way.isWhole) down(way)
    },
  }
}

function lose(way: Way): void {
  way.waiting = []
  way.bytes = 0
  way.wasFull = false
}

/** Returns a copy as a peer in another process gets it. Throws for a value that cannot be sent, which is a fault of the sender. */
function plainCopy(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof Uint8Array) return new Uint8Array(value)
  if (Array.isArray(value)) return value.map(plainCopy)
  if (typeof value === 'object' && isPlain(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return Object.fromEntries(members.map(([name, member]) => [name, plainCopy(member)]))
  }
  throw new TypeError(`a message between nodes cannot hold a value of type ${typeof value}`)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns about how many bytes a message has on its way. */
function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length + 4
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 2
  for (const [name, member] of Object.entries(value)) bytes += name.length + 3 + sizeOf(member)
  return bytes
}
