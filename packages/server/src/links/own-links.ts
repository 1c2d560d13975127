import type { NodeLinks, NodeMessage } from '../sync/node-links.port.ts'
import type { Incarnation } from '../sync/ownership.port.ts'
import type { LinkPeer, LinkTotals, NodeLinkService } from './node-links.ts'

/** The links of this process over all its incarnations. A process without an incarnation has no links. [LIFE-27] */
export interface OwnLinks extends NodeLinks, AsyncDisposable {
  /**
   * Opens the links of an incarnation, after the links of the previous incarnation have ended. Rejects when the listener cannot
   * be opened.
   */
  become(inc: Incarnation): Promise<void>
  /** Ends all links. */
  end(): Promise<void>
  /** See `NodeLinkService.setPeers`. Does nothing while there are no links. */
  setPeers(peers: readonly LinkPeer[]): void
  /** Whether this node reached its own `link_url` at the last attempt; `null` before the first attempt. [OPS-2] */
  readonly reachesItself: boolean | null
  /** Dials the `link_url` of this node and updates `reachesItself`. */
  look(): Promise<void>
  stats(): LinkTotals
}

const NO_LINKS: LinkTotals = { links: 0, sentBytes: 0, receivedBytes: 0, bufferedBytes: 0, rttSeconds: null }

/** `open` opens the links of one incarnation. */
export function createOwnLinks(open: (inc: Incarnation) => Promise<NodeLinkService>): OwnLinks {
  return new Links(open)
}

class Links implements OwnLinks {
  readonly #open: (inc: Incarnation) => Promise<NodeLinkService>
  #now: NodeLinkService | null = null
  /** Resolves when the changes of the links requested so far are done. They run one after the other. Never rejects. */
  #turn: Promise<void> = Promise.resolve()
  /** Bytes of the links of earlier incarnations. */
  #past = NO_LINKS
  #reachesItself: boolean | null = null
  readonly #onMessage: ((peer: Incarnation, message: NodeMessage) => void)[] = []
  readonly #onUp: ((peer: Incarnation) => void)[] = []
  readonly #onDown: ((peer: Incarnation) => void)[] = []
  readonly #onDrained: ((peer: Incarnation) => void)[] = []

  constructor(open: (inc: Incarnation) => Promise<NodeLinkService>) {
    this.#open = open
  }

  become(inc: Incarnation): Promise<void> {
    return this.#inTurn(async () => {
      await this.#close()
      const links = await this.#open(inc)
      links.onMessage((peer, message) => {
        for (const listener of this.#onMessage) listener(peer, message)
      })
      links.onUp((peer) => tell(this.#onUp, peer))
      links.onDown((peer) => tell(this.#onDown, peer))
      links.onDrained((peer) => tell(this.#onDrained, peer))
      this.#now = links
    })
  }

  end(): Promise<void> {
    return this.#inTurn(() => this.#close())
  }

  get reachesItself(): boolean | null {
    return this.#reachesItself
  }

  async look(): Promise<void> {
    const links = this.#now
    if (links === null) return
    const found = (await links.dialOwnUrl()) === 'itself'
    if (this.#now === links) this.#reachesItself = found
  }

  setPeers(peers: readonly LinkPeer[]): void {
    this.#now?.setPeers(peers)
  }

  stats(): LinkTotals {
    const now = this.#now?.stats() ?? NO_LINKS
    return {
      ...now,
      sentBytes: this.#past.sentBytes + now.sentBytes,
      receivedBytes: this.#past.receivedBytes + now.receivedBytes,
    }
  }

  peers(): readonly Incarnation[] {
    return this.#now?.peers() ?? []
  }

  post(peer: Incarnation, message: NodeMessage): void {
    this.#now?.post(peer, message)
  }

  isFull(peer: Incarnation): boolean {
    return this.#now?.isFull(peer) ?? false
  }

  onMessage(listener: (peer: Incarnation, message: NodeMessage) => void): void {
    this.#onMessage.push(listener)
  }

  onUp(listener: (peer: Incarnation) => void): void {
    this.#onUp.push(listener)
  }

  onDown(listener: (peer: Incarnation) => void): void {
    this.#onDown.push(listener)
  }

  onDrained(listener: (peer: Incarnation) => void): void {
    this.#onDrained.push(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }

  async #close(): Promise<void> {
    const links = this.#now
    if (links === null) return
    // While the links end, listeners are still told that they go down.
    await links[Symbol.asyncDispose]()
    this.#now = null
    this.#reachesItself = null
    const { sentBytes, receivedBytes } = links.stats()
    this.#past = {
      ...NO_LINKS,
      sentBytes: this.#past.sentBytes + sentBytes,
      receivedBytes: this.#past.receivedBytes + receivedBytes,
    }
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(run)
    this.#turn = done.catch(() => undefined)
    return done
  }
}

function tell(listeners: readonly ((peer: Incarnation) => void)[], peer: Incarnation): void {
  for (const listener of listeners) listener(peer)
}
