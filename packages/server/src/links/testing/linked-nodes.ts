import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'
import { systemTimers } from '../../kernel/timers.ts'
import type { NodeMessage } from '../../sync/node-links.port.ts'
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts'
import { dial } from '../link-dialer.ts'
import type { NodeIdentity } from '../link-handshake.ts'
import type { NotOpened, OpenedLink } from '../link-opening.ts'
import { linkKeys } from '../link-secrets.ts'
import { LINK_TIMES, type LinkTimes } from '../link-times.ts'
import { type NodeLinkService, openNodeLinks } from '../node-links.ts'

export const TEST_SECRET = 'a secret of the cluster in tests, of 32 characters or more'

export interface TestLine {
  readonly level: string
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface TestNode extends AsyncDisposable {
  readonly inc: number
  readonly links: NodeLinkService
  readonly linkUrl: string
  readonly lines: readonly TestLine[]
  /** The events of the node in order: `['up', peer]`, `['down', peer]`, and `[peer, message]` for each message. */
  readonly heard: readonly unknown[]
}

export interface TestNodeOptions {
  readonly secrets?: readonly string[]
  readonly times?: Partial<LinkTimes>
  /**
   * The port of the listener and of the node's own `link_url`. When absent, the listener gets any free port and the `link_url` leads
   * nowhere.
   */
  readonly port?: number
}

/** Starts a node with a listener on loopback. */
export async function startNode(inc: number, options: TestNodeOptions = {}): Promise<TestNode> {
  const { port = 0, secrets = [TEST_SECRET] } = options
  const lines: TestLine[] = []
  const line =
    (level: string): Logger['info'] =>
    (event, _msg, fields = {}) =>
      void lines.push({ level, event, fields })
  const links = await openNodeLinks({
    own: { inc, nodeId: `node-${inc}`, program: '1.2.3' },
    linkUrl: `ws://127.0.0.1:${port === 0 ? 1 : port}`,
    port,
    secrets,
    random: systemRandom,
    clock: systemClock,
    timers: systemTimers,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    times: { ...LINK_TIMES, ...options.times },
  })
  const heard: unknown[] = []
  links.onUp((peer) => heard.push(['up', peer]))
  links.onDown((peer) => heard.push(['down', peer]))
  links.onMessage((peer, message) => heard.push([peer, message]))
  return {
    inc,
    links,
    linkUrl: `ws://127.0.0.1:${links.port}`,
    lines,
    heard,
    [Symbol.asyncDispose]: () => links[Symbol.asyncDispose](),
  }
}

export interface TestPair extends AsyncDisposable {
  /** The node with the lower incarnation, which dials `high`. */
  readonly low: TestNode
  readonly high: TestNode
  /** The proxy between the two nodes. */
  readonly proxy: TcpProxy
  /** Tells both nodes that the other is live; resolves when they are linked. */
  link(): Promise<void>
}

export async function startPair(
  options: { readonly low?: TestNodeOptions; readonly high?: TestNodeOptions } = {},
): Promise<TestPair> {
  const high = await startNode(2, options.high)
  const low = await startNode(1, options.low)
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: high.links.port })
  return {
    low,
    high,
    proxy,
    async link() {
      high.links.setPeers([{ inc: low.inc, linkUrl: low.linkUrl }])
      low.links.setPeers([{ inc: high.inc, linkUrl: `ws://127.0.0.1:${proxy.port}` }])
      await until(() => areLinked(low, high))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([low[Symbol.asyncDispose](), high[Symbol.asyncDispose]()])
      await proxy[Symbol.asyncDispose]()
    },
  }
}

/** Tells a node that these incarnations are live, so that a test can dial it as one of them. Their addresses lead nowhere. */
export function tellOfPeers(node: TestNode, ...incs: readonly number[]): void {
  node.links.setPeers(incs.map((inc) => ({ inc, linkUrl: 'ws://127.0.0.1:1' })))
}

export type DialledLink = OpenedLink<NodeIdentity> & {
  /** The contents of the received frames, and whether the socket is closed. */
  readonly got: Uint8Array[]
  readonly isClosed: () => boolean
}

/** Opens a link as a node does; the test decides what is sent over it. Resolves to the reason when no link opens. */
export function dialAs(
  { inc, attempt = 1, secret = TEST_SECRET }: { readonly inc: number; readonly attempt?: number; readonly secret?: string },
  to: TestNode,
): Promise<DialledLink | NotOpened> {
  const own = { inc, nodeId: `node-${inc}`, program: '1.2.3' }
  const shared = { random: systemRandom, timers: systemTimers, times: LINK_TIMES, nextAttempt: () => attempt }
  return new Promise((resolve) => {
    dial(
      to.linkUrl,
      to.inc,
      { own, keys: linkKeys([secret]), ...shared },
      {
        opened(link) {
          const got: Uint8Array[] = []
          let isClosed = false
          link.socket.hear({
            message: (frame) => got.push(link.session.opener.open(frame)),
            closed: () => {
              isClosed = true
            },
          })
          resolve({ ...link, got, isClosed: () => isClosed })
        },
        closed: resolve,
      },
    )
  })
}

/** Like `dialAs`, but throws when no link opens. */
export async function linkedAs(as: Parameters<typeof dialAs>[0], to: TestNode): Promise<DialledLink> {
  const link = await dialAs(as, to)
  if (typeof link === 'string') throw new Error(`no link was opened: ${link}`)
  return link
}

/** Resolves when `holds` returns true. Rejects after `withinMs`, counted as time on a machine that is not busy. */
export async function until(holds: () => boolean, withinMs = 5_000): Promise<void> {
  const givenUp = patienceClock(withinMs)
  while (!holds()) {
    if (givenUp()) throw new Error(`did not hold within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

export const areLinked = (a: TestNode, b: TestNode): boolean => a.links.peers().includes(b.inc) && b.links.peers().includes(a.inc)

/** The `up` and `down` notifications of a node, in order. */
export const statesOf = ({ heard }: TestNode): readonly unknown[] =>
  heard.flatMap((each) => {
    const [what] = each as readonly unknown[]
    return typeof what === 'string' ? [what] : []
  })

/** The numbers of the notes that arrived at a node, in order. */
export const numbersOf = ({ heard }: TestNode): readonly unknown[] =>
  heard.flatMap((each) => {
    const [, message] = each as readonly [unknown, { readonly n?: unknown }]
    return typeof message === 'object' ? [message.n] : []
  })

export const note = (n: number, members: object = {}): NodeMessage => ({ kind: 'note', n, ...members }) as NodeMessage
