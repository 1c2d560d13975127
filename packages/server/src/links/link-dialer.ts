import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Timers } from '../kernel/timers.ts'
import { DialerHandshake, type NodeIdentity } from './link-handshake.ts'
import { type NotOpened, openOver, type OpenedLink } from './link-opening.ts'
import type { LinkKey } from './link-secrets.ts'
import { dialSocket } from './link-socket.ts'
import { type LinkTimes, redialPauseMs } from './link-times.ts'
import { Seldom } from './seldom.ts'

/** This many failed dials in a row are not logged: a node that is just starting does not listen yet. */
const QUIET_FAILURES = 3

const REASONS: Readonly<Record<NotOpened, string>> = {
  'no-answer': 'Nobody answers at the link_url of a node.',
  secret: 'A node closed the link before it was open: it may have another [cluster].secret, or is no relay.',
  itself: 'The link_url of a node leads to this node.',
  'another-node': 'The link_url of a node leads to another node.',
  'unknown-node': 'A node does not know this node as a live one.',
  'wrong-way': 'A node was dialled that dials itself.',
  late: 'A node had taken a newer link of this node.',
}

export interface DialOptions {
  readonly own: NodeIdentity
  readonly keys: readonly LinkKey[]
  readonly random: Random
  readonly timers: Timers
  readonly times: LinkTimes
  /** Returns a number that is greater than all numbers it has returned before. */
  nextAttempt(): number
}

/**
 * Dials once and calls one function of `done` within `handshakeMs`. `expected`: the incarnation that should answer. Returns a
 * function that gives the dial up; afterwards no function of `done` is called.
 */
export function dial(
  linkUrl: string,
  expected: number,
  options: DialOptions,
  done: { opened(link: OpenedLink<NodeIdentity>): void; closed(why: NotOpened): void },
): () => void {
  const { own, keys, random, timers, times } = options
  const socket = dialSocket(linkUrl, times.handshakeMs)
  let isDone = false
  const finish = (): boolean => {
    cancel()
    const isFirst = !isDone
    isDone = true
    return isFirst
  }
  const cancel = timers.after(times.handshakeMs, () => socket.destroy())
  const handshake = new DialerHandshake({ own: { ...own, attempt: options.nextAttempt() }, expected, keys, random })
  openOver(socket, handshake, {
    opened: (link) => (finish() ? done.opened(link) : socket.destroy()),
    closed: (why) => void (finish() && done.closed(why)),
  })
  return () => {
    finish()
    socket.destroy()
  }
}

/** Keeps a link to one node: dials whenever there is no link, with pauses that grow while dials fail. */
export class LinkDialer {
  readonly #options: DialerOptions
  readonly #failed: Seldom
  #failures = 0
  #openedMs = 0
  /** Cancels the dial in progress, or the pause before the next dial. */
  #giveUp: () => void = () => undefined
  #isStopped = false

  /** Dials at once. */
  constructor(options: DialerOptions) {
    this.#options = options
    this.#failed = new Seldom(options.clock)
    this.#dial()
  }

  /** Must be called when the link that was opened has ended. Dials again after a pause. */
  linkEnded(): void {
    const { clock, times } = this.#options
    // A link that ends soon after it opened counts as a failure.
    const hasLasted = clock.monotonicMs() - this.#openedMs > times.redialMostMs
    this.#failures = hasLasted ? 0 : this.#failures + 1
    this.#dialLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#giveUp()
  }

  #dial(): void {
    const { linkUrl, expected, clock, opened } = this.#options
    this.#giveUp = dial(linkUrl, expected, this.#options, {
      opened: (link) => {
        this.#giveUp = () => undefined
        this.#openedMs = clock.monotonicMs()
        opened(link)
      },
      closed: (why) => {
        this.#failures++
        if (this.#failures > QUIET_FAILURES) this.#say(why)
        this.#dialLater()
      },
    })
  }

  #dialLater(): void {
    if (this.#isStopped) return
    const { timers, times, random } = this.#options
    this.#giveUp = timers.after(redialPauseMs(this.#failures, times, random), () => this.#dial())
  }

  #say(why: NotOpened): void {
    const { log, expected } = this.#options
    this.#failed.note((times) => log.warn('link.not_opened', REASONS[why], { why, times, peer: expected }))
  }
}

interface DialerOptions extends DialOptions {
  readonly linkUrl: string
  readonly expected: number
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
  opened(link: OpenedLink<NodeIdentity>): void
}
