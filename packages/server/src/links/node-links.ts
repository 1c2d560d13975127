import { setImmediate } from 'node:timers'
import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Timers } from '../kernel/timers.ts'
import type { NodeLinks, NodeMessage } from '../sync/node-links.port.ts'
import type { Incarnation } from '../sync/ownership.port.ts'
import { Link, type LinkEnd } from './link.ts'
import { MessageTooLongError } from './link-codec.ts'
import { dial, type DialOptions, LinkDialer } from './link-dialer.ts'
import type { DialerIdentity, NodeIdentity, Verdict } from './link-handshake.ts'
import { type LinkListener, openLinkListener } from './link-listener.ts'
import type { NotOpened, OpenedLink } from './link-opening.ts'
import { linkKeys, MOST_SECRETS } from './link-secrets.ts'
import { LINK_TIMES, type LinkTimes } from './link-times.ts'

/** A live node, as the registry knows it. */
export interface LinkPeer {
  readonly inc: Incarnation
  /** `ws://<host>:<port>`. */
  readonly linkUrl: string
}

/**
 * Totals of all links since the start, for the metrics: gauge `relay_links`, counter `relay_link_bytes_total` with the
 * direction `sent` or `received`, gauges `relay_link_buffered_bytes` and `relay_link_rtt_seconds`. [OPS-4]
 */
export interface LinkTotals {
  readonly links: number
  /** Sealed bytes, without the overhead of WebSocket and TCP. Never falls. */
  readonly sentBytes: number
  readonly receivedBytes: number
  readonly bufferedBytes: number
  /** The longest of the newest round trips of all links; null while no link has measured one. */
  readonly rttSeconds: number | null
}

/** The links of this node over the network. */
export interface NodeLinkService extends NodeLinks, AsyncDisposable {
  /** The port of the listener. */
  readonly port: number
  /**
   * Sets which nodes are live; this node may be among them. Called each time the registry has read the nodes. Links to nodes that are not
   * listed end, and their dials are refused. Before the first call there are no links.
   */
  setPeers(peers: readonly LinkPeer[]): void
  /**
   * Dials the `link_url` of this node. Resolves within `handshakeMs`: with `itself` when this node answers, otherwise with the reason why
   * it cannot be reached there.
   */
  dialOwnUrl(): Promise<NotOpened>
  stats(): LinkTotals
}

export interface NodeLinksOptions {
  readonly own: NodeIdentity
  /** The URL that other nodes dial. This node listens at its host. */
  readonly linkUrl: string
  /** 0: any free port. */
  readonly port: number
  /** One secret, or two while it is being changed; a link opens with any secret that both sides have. */
  readonly secrets: readonly string[]
  readonly random: Random
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly times?: LinkTimes
  readonly soon?: (run: () => void) => void
}

/** Opens the listener. Rejects when the host of `linkUrl` is not an address of this machine, or `port` is taken. */
export async function openNodeLinks(options: NodeLinksOptions): Promise<NodeLinkService> {
  if (options.secrets.length === 0 || options.secrets.length > MOST_SECRETS)
    throw new TypeError(`a node has one or ${MOST_SECRETS} secrets`)
  const links = new Links(options)
  await links.listen()
  return links
}

interface Peer {
  readonly linkUrl: string
  link: Link | null
  /** The dialer, when this node has to dial the peer. */
  dialer: LinkDialer | null
  /** The number of the newest accepted dial of this peer. */
  attempt: number
}

class Links implements NodeLinkService {
  readonly #options: NodeLinksOptions
  readonly #dialOptions: DialOptions
  readonly #peers = new Map<Incarnation, Peer>()
  #listener: LinkListener | null = null
  #isStopping = false
  /** The bytes that ended links have sent. */
  #sentBytes = 0
  #receivedBytes = 0
  readonly #messageListeners: ((peer: Incarnation, message: NodeMessage) => void)[] = []
  readonly #upListeners: ((peer: Incarnation) => void)[] = []
  readonly #downListeners: ((peer: Incarnation) => void)[] = []
  readonly #drainedListeners: ((peer: Incarnation) => void)[] = []

  constructor(options: NodeLinksOptions) {
    this.#options = options
    const { own, secrets, random, timers, times = LINK_TIMES } = options
    let attempts = 0
    this.#dialOptions = { own, keys: linkKeys(secrets), random, timers, times, nextAttempt: () => ++attempts }
  }

  async listen(): Promise<void> {
    const { linkUrl, port, clock, log } = this.#options
    this.#listener = await openLinkListener({
      ...this.#dialOptions,
      host: new URL(linkUrl).hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      clock,
      log,
      admit: (dialer) => this.#admit(dialer),
      opened: (link) => this.#taken(link),
    })
  }

  get port(): number {
    return this.#listener?.port ?? 0
  }

  peers(): readonly Incarnation[] {
    return [...this.#peers].filter(([, { link }]) => link !== null).map(([inc]) => inc)
  }

  post(peer: Incarnation, message: NodeMessage): void {
    try {
      this.#peers.get(peer)?.link?.post(message)
    } catch (error) {
      if (!(error instanceof MessageTooLongError)) throw error
      this.#options.log.error('link.message_too_long', 'A message is too long for another node and was not sent.', {
        peer,
        kind: message.kind,
      })
    }
  }

  isFull(peer: Incarnation): boolean {
    return this.#peers.get(peer)?.link?.isFull ?? false
  }

  onMessage(listener: (peer: Incarnation, message: NodeMessage) => void): void {
    this.#messageListeners.push(listener)
  }

  onUp(listener: (peer: Incarnation) => void): void {
    this.#upListeners.push(listener)
  }

  onDown(listener: (peer: Incarnation) => void): void {
    this.#downListeners.push(listener)
  }

  onDrained(listener: (peer: Incarnation) => void): void {
    this.#drainedListeners.push(listener)
  }

  setPeers(peers: readonly LinkPeer[]): void {
    if (this.#isStopping) return
    const live = new Map(peers.map(({ inc, linkUrl }) => [inc, linkUrl]))
    for (const [inc, peer] of this.#peers) if (live.get(inc) !== peer.linkUrl) this.#drop(inc, peer)
    for (const [inc, linkUrl] of live) if (inc !== this.#options.own.inc && !this.#peers.has(inc)) this.#add(inc, linkUrl)
  }

  dialOwnUrl(): Promise<NotOpened> {
    const { own, linkUrl } = this.#options
    return new Promise((resolve) => {
      dial(linkUrl, own.inc, this.#dialOptions, { opened: ({ socket }) => socket.destroy(), closed: resolve })
    })
  }

  stats(): LinkTotals {
    const all = [...this.#peers.values()].flatMap(({ link }) => (link === null ? [] : [link.stats()]))
    const sum = (of: (stats: ReturnType<Link['stats']>) => number) => all.reduce((total, stats) => total + of(stats), 0)
    const rtts = all.flatMap(({ rttMs }) => (rttMs === null ? [] : [rttMs]))
    return {
      links: all.length,
      sentBytes: this.#sentBytes + sum(({ sentBytes }) => sentBytes),
      receivedBytes: this.#receivedBytes + sum(({ receivedBytes }) => receivedBytes),
      bufferedBytes: sum(({ bufferedBytes }) => bufferedBytes),
      rttSeconds: rtts.length === 0 ? null : Math.max(...rtts) / 1_000,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    const ended: Promise<void>[] = []
    for (const peer of this.#peers.values()) {
      peer.dialer?.stop()
      const { link } = peer
      if (link === null) continue
      ended.push(link.ended)
      link.close()
    }
    await Promise.all([...ended, this.#listener?.[Symbol.asyncDispose]()])
  }

  #add(inc: Incarnation, linkUrl: string): void {
    const peer: Peer = { linkUrl, link: null, dialer: null, attempt: 0 }
    this.#peers.set(inc, peer)
    if (inc < this.#options.own.inc) return
    const { clock, log } = this.#options
    const opened = (link: OpenedLink<NodeIdentity>): void => this.#up(inc, peer, link)
    peer.dialer = new LinkDialer({ ...this.#dialOptions, linkUrl, expected: inc, clock, log, opened })
  }

  #drop(inc: Incarnation, peer: Peer): void {
    this.#peers.delete(inc)
    peer.dialer?.stop()
    peer.link?.end('left')
  }

  #admit(dialer: DialerIdentity): Verdict {
    const peer = this.#peers.get(dialer.inc)
    if (peer === undefined || this.#isStopping) return 'unknown-node'
    if (dialer.inc > this.#options.own.inc) return 'wrong-way'
    if (dialer.attempt <= peer.attempt) return 'late'
    peer.attempt = dialer.attempt
    return 'taken'
  }

  #taken(opened: OpenedLink<DialerIdentity>): void {
    const peer = this.#peers.get(opened.peer.inc)
    if (peer !== undefined) this.#up(opened.peer.inc, peer, opened)
  }

  #up(inc: Incarnation, peer: Peer, { socket, session, peer: identity }: OpenedLink<NodeIdentity>): void {
    peer.link?.end('replaced')
    const { clock, timers, log, times = LINK_TIMES, soon = setImmediate } = this.#options
    const link: Link = new Link({
      session,
      socket,
      clock,
      timers,
      times,
      soon,
      events: {
        message: (message) => this.#heard(inc, message),
        drained: () => this.#tell(this.#drainedListeners, inc),
        ended: (why) => this.#down(inc, peer, link, why),
      },
    })
    peer.link = link
    log.info('link.up', 'A node is linked.', { peer: inc, nodeId: identity.nodeId, program: identity.program })
    this.#tell(this.#upListeners, inc)
  }

  #down(inc: Incarnation, peer: Peer, link: Link, why: LinkEnd): void {
    const { sentBytes, receivedBytes } = link.stats()
    this.#sentBytes += sentBytes
    this.#receivedBytes += receivedBytes
    peer.link = null
    const level = why === 'bad-frame' || why === 'overrun' ? 'warn' : 'info'
    this.#options.log[level]('link.down', 'The link to a node is down.', { peer: inc, why })
    this.#tell(this.#downListeners, inc)
    // A listener of `onDown` may have removed the peer.
    if (this.#peers.get(inc) === peer && !this.#isStopping) peer.dialer?.linkEnded()
  }

  #heard(inc: Incarnation, message: NodeMessage): void {
    for (const listener of this.#messageListeners) this.#safely(() => listener(inc, message))
  }

  #tell(listeners: readonly ((peer: Incarnation) => void)[], inc: Incarnation): void {
    for (const listener of listeners) this.#safely(() => listener(inc))
  }

  /** A listener that throws is a bug of this program. The error is logged, so that a message of a peer cannot end the process. */
  #safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#options.log.error('link.listener_failed', 'A message of a node could not be handled.', { error: String(error) })
    }
  }
}
