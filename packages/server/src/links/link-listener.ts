import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Timers } from '../kernel/timers.ts'
import { type DialerIdentity, ListenerHandshake, type NodeIdentity, type Verdict } from './link-handshake.ts'
import { type NotOpened, openOver, type OpenedLink } from './link-opening.ts'
import type { LinkKey } from './link-secrets.ts'
import { createUpgrades, type LinkSocket } from './link-socket.ts'
import type { LinkTimes } from './link-times.ts'
import { Seldom } from './seldom.ts'

/** At most this many connections at a time may be open without having proved that they know the secret. */
const MOST_UNPROVEN = 128
const MAX_HEADER_BYTES = 4 * 1024

export interface LinkListenerOptions {
  readonly own: NodeIdentity
  readonly keys: readonly LinkKey[]
  /** The address of this machine to listen at; other addresses of the machine are not opened. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly random: Random
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly times: LinkTimes
  readonly log: Logger
  /** Decides whether this node accepts a link of the dialer. */
  admit(dialer: DialerIdentity): Verdict
  opened(link: OpenedLink<DialerIdentity>): void
}

export interface LinkListener extends AsyncDisposable {
  readonly port: number
}

/** Listens for links of other nodes. Rejects when the address or port cannot be opened. */
export async function openLinkListener(options: LinkListenerOptions): Promise<LinkListener> {
  const { times } = options
  const unproven = new Unproven(options)
  const refused = new Seldom(options.clock)
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: times.handshakeMs,
      requestTimeout: times.handshakeMs,
      keepAlive: false,
    },
    (_request, response) => {
      // This port serves links only.
      response.writeHead(404, { connection: 'close' }).end()
    },
  )
  server.on('connection', (raw) => unproven.add(raw))
  server.on('clientError', (_error, raw) => raw.destroy())
  server.on(
    'upgrade',
    createUpgrades((socket, raw) => shake(socket, raw as Socket)),
  )

  function shake(socket: LinkSocket, raw: Socket): void {
    const { own, keys, random, admit, opened } = options
    const handshake = new ListenerHandshake({ own, keys, random, admit })
    openOver(socket, handshake, {
      opened(link) {
        unproven.delete(raw)
        opened(link)
      },
      closed: (why, peer) => sayRefused(why, peer, raw),
    })
    socket.send(handshake.first)
  }

  function sayRefused(why: NotOpened, peer: DialerIdentity | null, raw: Socket): void {
    // Two cases are not logged: a connection that sent nothing, and a node that left because it had reached itself or a node that it did
    // not expect.
    if (why === 'no-answer') return
    refused.note((times) =>
      options.log.warn(
        'link.refused',
        why === 'secret'
          ? 'A connection to the link port did not show the secret of this cluster.'
          : 'A node was refused a link.',
        { why, times, peer: peer?.inc, nodeId: peer?.nodeId, address: raw.remoteAddress },
      ),
    )
  }

  await listen(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      unproven.destroyAll()
      await closed
    },
  }
}

function listen(server: Server, { host, port }: LinkListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      // Errors of accepting, such as too many open files, affect only one connection.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

/**
 * Connections that have not yet proved that they know the secret. Their number and their time are bounded. Above the bound, the
 * address with most such connections loses its oldest one, so that a flood from one address does not keep out nodes at others.
 */
class Unproven {
  readonly #options: Pick<LinkListenerOptions, 'timers' | 'times'>
  /** The connections of each address, oldest first, each with a function that cancels its deadline. */
  readonly #byAddress = new Map<string, Map<Socket, () => void>>()
  #count = 0

  constructor(options: Pick<LinkListenerOptions, 'timers' | 'times'>) {
    this.#options = options
  }

  add(raw: Socket): void {
    const address = raw.remoteAddress ?? ''
    const ofAddress = this.#byAddress.get(address) ?? new Map<Socket, () => void>()
    this.#byAddress.set(address, ofAddress)
    const { timers, times } = this.#options
    ofAddress.set(
      raw,
      timers.after(times.handshakeMs, () => raw.destroy()),
    )
    this.#count++
    raw.once('close', () => this.#remove(raw, address))
    if (this.#count > MOST_UNPROVEN) this.#letOneGo()
  }

  /** Must be called when a connection has proved that it knows the secret. */
  delete(raw: Socket): void {
    this.#remove(raw, raw.remoteAddress ?? '')
  }

  destroyAll(): void {
    for (const ofAddress of this.#byAddress.values()) for (const raw of [...ofAddress.keys()]) raw.destroy()
  }

  #remove(raw: Socket, address: string): void {
    const ofAddress = this.#byAddress.get(address)
    const cancel = ofAddress?.get(raw)
    if (ofAddress === undefined || cancel === undefined) return
    cancel()
    ofAddress.delete(raw)
    this.#count--
    if (ofAddress.size === 0) this.#byAddress.delete(address)
  }

  #letOneGo(): void {
    let most: readonly [string, Map<Socket, () => void>] | null = null
    for (const entry of this.#byAddress) if (most === null || entry[1].size > most[1].size) most = entry
    const oldest = most?.[1].keys().next().value
    if (most === null || oldest === undefined) return
    this.#remove(oldest, most[0])
    oldest.resetAndDestroy()
  }
}
