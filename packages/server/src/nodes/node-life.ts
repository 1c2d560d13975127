import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Timers } from '../kernel/timers.ts'
import type { Incarnation } from '../sync/ownership.port.ts'
import {
  type Answered,
  isCutOff,
  lackingSince,
  lacksLinks,
  livePeers,
  mayTakeOver,
  permissionOf,
  SUSPEND_MS,
} from './node-health.ts'
import type { Beating, Heartbeat, NodeDescription, NodeRegistry, NodeState, Peer } from './registry.port.ts'

/** Time between two pulses. A pulse tells the registry that the main thread runs, and decides anew what the node may do. */
const PULSE_MS = 500
/** Time between two pulses until the first heartbeat is answered, so that a start is short. */
const FIRST_PULSES_MS = 50
const REGISTER_AGAIN_MS = 1_000

/**
 * The state of a node.
 * - `joining`: the node is registered, and its first heartbeat is not answered yet.
 * - `serving`: the node does everything.
 * - `refusing`: the database is silent, and the node does nothing for which it must own a document.
 * - `cut-off`: too few of the other nodes are linked. The node takes no new work and owns no documents.
 * - `suspended`: the node owns no documents, and registers again as soon as the database answers.
 * - `ended`: the node has left, or another process has its node_id.
 */
export type NodePhase = 'joining' | 'serving' | 'refusing' | 'cut-off' | 'suspended' | 'ended'

/** The callbacks for changes of the state of this node. A callback must not throw. */
export interface NodeCallbacks {
  /** Called when the node may serve everything, under this incarnation. */
  onServe(inc: Incarnation): void
  /** Called when JOINs and reads of live documents have to be answered with 503. Rooms and sockets stay. [LIFE-27] */
  onRefuse(): void
  /** Called when the node may take no new work. All rooms are to be released, and all sockets closed with 1012. [OPS-2] */
  onCutOff(): void
  /**
   * Called when other nodes may own the documents of this incarnation. All rooms are to be dropped, and all sockets closed with 1012.
   * [LIFE-27]
   */
  onSuspend(): void
  /** Called after each answered heartbeat, with the other nodes whose lease is not over. */
  onPeers(peers: readonly Peer[]): void
  /** Called when other nodes have taken documents from this node since the previous heartbeat. */
  onRobbed(): void
  /** Called when another process has the node_id of this process, or uses the store alone. This process must end. */
  onLost(error: Error): void
}

export interface NodeLifeOptions {
  readonly registry: NodeRegistry
  readonly node: NodeDescription
  /** The links to other nodes. */
  readonly links: {
    /** Incarnations that are linked now. */
    peers(): readonly Incarnation[]
    /** Whether this node reaches its own link_url, which other nodes have to reach too; null while this is not known. */
    reachesItself(): boolean | null
  }
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly callbacks: NodeCallbacks
}

/** One registration of this process, with its heartbeats. */
interface Incarnate {
  readonly inc: Incarnation
  /** Null until the first heartbeat is answered. */
  newest: Heartbeat | null
  /** The newest answered heartbeat. Before the first answer, the registration takes its place. */
  answered: Answered
}

/**
 * The life of this process as one of several nodes. Registers the node, keeps its heartbeat going while the main thread runs, and decides
 * from the heartbeats and links what the node may do. The node gives up its documents before another node may take them. [LIFE-26,
 * LIFE-27, OPS-2]
 */
export class NodeLife implements AsyncDisposable {
  readonly #options: NodeLifeOptions
  #phase: NodePhase = 'suspended'
  #self: Incarnate | null = null
  /** The incarnation that was suspended. Its row may still be in the table of nodes. */
  #former: Incarnation | undefined
  #lackingLinksSinceMs: number | null = null
  #state: NodeState = 'up'
  #isPulsing = false
  #registering: Promise<void> | null = null
  #lastSentMs: number
  #cancel: () => void = () => undefined

  constructor(options: NodeLifeOptions) {
    this.#options = options
    this.#lastSentMs = options.clock.monotonicMs()
  }

  /**
   * Registers the node and begins its heartbeat.
   *
   * @throws Error with a sentence for the operator when another process lives under this node_id or uses the store alone
   */
  async start(): Promise<void> {
    const refusal = await this.#register()
    if (refusal !== null) throw new Error(refusal)
    this.#again(0)
  }

  get phase(): NodePhase {
    return this.#phase
  }

  /** The incarnation under which this process may own documents; null while it may not. */
  get inc(): Incarnation | null {
    return this.#self?.inc ?? null
  }

  get state(): NodeState {
    return this.#state
  }

  /** The other nodes whose lease was not over at the newest heartbeat. */
  get peers(): readonly Peer[] {
    return this.#self?.newest?.peers ?? []
  }

  /** Whether another node is ending, as of the newest heartbeat. */
  isDraining(inc: Incarnation): boolean {
    return this.peers.some((peer) => peer.inc === inc && peer.state === 'draining')
  }

  /** Whether this node knows of a heartbeat that node `inc` sent at `monotonicMs`, by this node's clock, or later. */
  hasBeatSince(inc: Incarnation, monotonicMs: number): boolean {
    const newest = this.#self?.newest
    const peer = newest?.peers.find((one) => one.inc === inc)
    // The statement that read the peers was sent at `atMs` or later, so the heartbeat was sent at this time or later.
    return newest != null && peer !== undefined && newest.atMs - peer.silentMs >= monotonicMs
  }

  /** Time in ms since the newest answered heartbeat of any incarnation was sent; before the first answer, since the start. */
  get heartbeatAgeMs(): number {
    return this.#options.clock.monotonicMs() - this.#lastSentMs
  }

  /** Whether this node reaches its own link_url, which other nodes have to reach too; null while this is not known. */
  get reachesItself(): boolean | null {
    return this.#options.links.reachesItself()
  }

  /** Whether this node may take documents whose owner is dead. */
  get mayTakeOver(): boolean {
    const self = this.#self
    if (this.#phase !== 'serving' || self === null || self.newest === null) return false
    return mayTakeOver(self.newest, self.answered, this.#options.clock.monotonicMs())
  }

  /** Tells the other nodes that this node is ending, so that they send it no more work. Never rejects. */
  async drain(): Promise<void> {
    this.#state = 'draining'
    await this.#tellDraining()
  }

  /** Ends the heartbeat and removes the row of this node. Called when this node owns no document any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
    await this.#registering
    const inc = this.#self?.inc ?? this.#former
    this.#self = null
    if (inc === undefined) return
    await this.#options.registry
      .leave(inc)
      .catch((error: unknown) =>
        this.#options.log.warn(
          'node.not_left',
          'The row of this node could not be removed; its documents are free when its lease is over.',
          { error: String(error) },
        ),
      )
  }

  /** Tells the other nodes that this node is draining. Ignores a failure, because they notice the end of this node when its links end. */
  async #tellDraining(): Promise<void> {
    if (this.#self !== null) await this.#options.registry.drain(this.#self.inc).catch(() => undefined)
  }

  /** Registers this process. Returns null, or the reason why this process cannot be a node. */
  async #register(): Promise<string | null> {
    const { registry, node, clock, log } = this.#options
    const registered = await registry.register(node, this.#former)
    if (registered.kind === 'taken') return registered.reason
    const { inc } = registered
    const nowMs = clock.monotonicMs()
    this.#self = { inc, newest: null, answered: { sentMs: nowMs, answeredMs: nowMs } }
    this.#former = undefined
    this.#lackingLinksSinceMs = null
    if (this.#phase !== 'ended') this.#phase = 'joining'
    if (this.#state === 'draining') await this.#tellDraining()
    log.info('node.registered', 'This node is registered with the others.', { node: node.nodeId, inc })
    return null
  }

  #end(): void {
    this.#phase = 'ended'
    this.#cancel()
  }

  #again(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#options.timers.after(delayMs, () => this.#look())
  }

  #look(): void {
    if (this.#phase === 'ended') return
    this.#again(this.#phase === 'joining' ? FIRST_PULSES_MS : PULSE_MS)
    // `#judge` comes before the pulse: after a pause of the process the newest answer is old, and the node may have lost its documents.
    this.#judge()
    void this.#pulse()
  }

  async #pulse(): Promise<void> {
    const self = this.#self
    if (self === null || this.#isPulsing) return
    this.#isPulsing = true
    try {
      this.#answered(self, await this.#options.registry.pulse(self.inc, this.#options.clock.monotonicMs()))
    } catch {
      // A failed pulse needs no handling here, because `#judge` measures the time since the last answer.
    } finally {
      this.#isPulsing = false
    }
  }

  #answered(self: Incarnate, beating: Beating): void {
    if (this.#self !== self || this.#phase === 'ended') return
    if (beating.kind === 'gone') return this.#suspend('its row is gone: another node took its place, or the database lost it')
    const { newest } = beating
    if (newest === null || newest.atMs === self.newest?.atMs) return
    const { callbacks, clock } = this.#options
    const isRobbed = newest.robbed > (self.newest?.robbed ?? 0)
    self.newest = newest
    self.answered = { sentMs: newest.atMs, answeredMs: clock.monotonicMs() }
    this.#lastSentMs = newest.atMs
    this.#judge()
    if (this.#self !== self) return
    callbacks.onPeers(newest.peers)
    if (isRobbed) callbacks.onRobbed()
  }

  /** Decides what this node may do now, and calls the callback of a change. */
  #judge(): void {
    const self = this.#self
    if (self === null) return
    const nowMs = this.#options.clock.monotonicMs()
    switch (permissionOf(self.answered, nowMs)) {
      case 'suspend':
        return this.#suspend(`the database has not answered for ${SUSPEND_MS / 1000} s`)
      case 'refuse':
        return this.#enter('refusing', self.inc)
      case 'serve':
        if (self.newest === null) return
        return this.#enter(this.#isCutOff(self.inc, self.newest, nowMs) ? 'cut-off' : 'serving', self.inc)
    }
  }

  #isCutOff(inc: Incarnation, { peers }: Heartbeat, nowMs: number): boolean {
    const lacks = lacksLinks({ inc, live: livePeers(peers), linked: this.#options.links.peers() })
    this.#lackingLinksSinceMs = lackingSince(this.#lackingLinksSinceMs, lacks, nowMs)
    return isCutOff(this.#lackingLinksSinceMs, nowMs)
  }

  #enter(phase: 'serving' | 'refusing' | 'cut-off', inc: Incarnation): void {
    if (this.#phase === phase) return
    const { callbacks, log } = this.#options
    const before = this.#phase
    this.#phase = phase
    switch (phase) {
      case 'serving':
        if (before !== 'joining') log.info('node.serving', 'This node serves again.', { inc })
        return callbacks.onServe(inc)
      case 'refusing':
        log.warn('node.refusing', 'The database does not answer; live documents are refused until it does.', { inc })
        return callbacks.onRefuse()
      case 'cut-off':
        log.warn('node.cut_off', 'Too few of the other nodes are linked; this node gives up its documents.', { inc })
        return callbacks.onCutOff()
    }
  }

  #suspend(why: string): void {
    const { callbacks, log } = this.#options
    this.#former = this.#self?.inc
    this.#self = null
    this.#phase = 'suspended'
    this.#cancel()
    log.error('node.suspended', 'This node has given up its documents and starts again.', { why, inc: this.#former })
    callbacks.onSuspend()
    this.#registerAgain()
  }

  #registerAgain(): void {
    const { callbacks, timers } = this.#options
    this.#registering = this.#register().then(
      (refusal) => {
        if (this.#phase === 'ended') return
        if (refusal === null) return this.#again(0)
        this.#end()
        callbacks.onLost(new Error(refusal))
      },
      () => {
        // The database does not answer yet.
        if (this.#phase !== 'ended') this.#cancel = timers.after(REGISTER_AGAIN_MS, () => this.#registerAgain())
      },
    )
  }
}
