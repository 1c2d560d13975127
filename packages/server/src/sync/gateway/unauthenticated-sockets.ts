/** Whether one more socket may wait for AUTH. With `evict`, it may wait once the named socket is closed. */
export type Place<Socket> =
  | { readonly kind: 'free' }
  | { readonly kind: 'none' }
  | { readonly kind: 'evict'; readonly socket: Socket }

/** The share of an address: a sixteenth of all places, but at least 16. */
const LEAST_SHARE = 16
const SHARE = 1 / 16

interface Holder<Socket> {
  /** Sockets that may still authenticate, oldest first. */
  readonly open: Set<Socket>
  /** Sockets that were refused and whose close waits. [WS-16] */
  readonly refused: Set<Socket>
}

/**
 * The places of unauthenticated sockets, by address. When more than half of all places are taken, no address gets more than its share.
 * When all are taken, the address with the most sockets, if it has more than its share, makes room. Pure: the caller closes. [WS-6]
 */
export class UnauthenticatedSockets<Socket> {
  readonly #holders = new Map<string, Holder<Socket>>()
  readonly #max: number
  readonly #share: number
  #total = 0

  constructor(max: number) {
    this.#max = max
    this.#share = Math.max(LEAST_SHARE, Math.floor(max * SHARE))
  }

  get total(): number {
    return this.#total
  }

  /** Returns whether a further socket of this address gets a place. */
  place(address: string): Place<Socket> {
    if (this.#total > this.#max / 2 && this.#held(address) >= this.#share) return { kind: 'none' }
    if (this.#total < this.#max) return { kind: 'free' }
    const oldest = this.#largest()
    return oldest === null ? { kind: 'none' } : { kind: 'evict', socket: oldest }
  }

  add(address: string, socket: Socket): void {
    const holder = this.#holders.get(address) ?? { open: new Set<Socket>(), refused: new Set<Socket>() }
    this.#holders.set(address, holder)
    holder.open.add(socket)
    this.#total++
  }

  /**
   * Lets the close of a refused socket wait. Returns false when too many sockets of its address wait already. A waiting socket keeps
   * its place and does not count in the share of its address.
   */
  hold(address: string, socket: Socket, mostOfOneAddress: number): boolean {
    const holder = this.#holders.get(address)
    if (holder === undefined || holder.refused.size >= mostOfOneAddress || !holder.open.delete(socket)) return false
    holder.refused.add(socket)
    return true
  }

  /** Removes a socket that authenticated or ended. */
  remove(address: string, socket: Socket): void {
    const holder = this.#holders.get(address)
    if (holder === undefined || !(holder.open.delete(socket) || holder.refused.delete(socket))) return
    this.#total--
    if (holder.open.size + holder.refused.size === 0) this.#holders.delete(address)
  }

  #held(address: string): number {
    return this.#holders.get(address)?.open.size ?? 0
  }

  /** Returns the oldest socket of the address with the most sockets, or `null` when this address has no more than its share. */
  #largest(): Socket | null {
    let largest: Holder<Socket> | null = null
    for (const holder of this.#holders.values())
      if (holder.open.size > this.#share && holder.open.size > (largest?.open.size ?? 0)) largest = holder
    return largest?.open.values().next().value ?? null
  }
}
