import { describe, expect, it } from 'vitest'
import { nodeLinksContract } from '../sync/node-links.contract.ts'
import { CREDIT_BYTES } from './link.ts'
import {
  areLinked,
  dialAs,
  linkedAs,
  note,
  numbersOf,
  startNode,
  startPair,
  statesOf,
  tellOfPeers,
  TEST_SECRET,
  type TestNode,
  until,
} from './testing/linked-nodes.ts'

/** Keeps a link from counting as dead while its messages are held back. */
const PATIENT = { silentPings: 1_000 }

for (const [name, delayMs] of [
  ['over loopback', 0],
  ['through a network that takes its time', 3],
] as const)
  nodeLinksContract(name, async () => {
    const pair = await startPair({ low: { times: PATIENT }, high: { times: PATIENT } })
    const { low, high, proxy } = pair
    proxy.delay(delayMs)
    return {
      a: { inc: low.inc, links: low.links },
      b: { inc: high.inc, links: high.links },
      async link() {
        await proxy.up()
        await pair.link()
      },
      async cut() {
        await proxy.down()
        await until(() => low.links.peers().length === 0 && high.links.peers().length === 0)
      },
      hold: () => proxy.hold(),
      release: () => proxy.release(),
      until,
      fullBytes: CREDIT_BYTES,
      [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
    }
  })

describe('links over the network', () => {
  it('[LIFE-25] a link cut after any number of bytes comes up again, and the messages that arrived are the first ones posted', async () => {
    await using pair = await startPair({ low: { times: { redialFirstMs: 5, redialMostMs: 20 } } })
    const { low, high, proxy } = pair
    await pair.link()
    for (const bytes of [1, 17, 40, 100, 250, 333, 400, 460, 500, 600, 1_000, 40_000]) {
      const [before, links] = [numbersOf(high).length, statesOf(high).length]
      proxy.cutAfter(bytes)
      for (let n = 0; n < 60; n++) low.links.post(high.inc, note(n, { bytes: new Uint8Array(1_000) }))
      await until(() => statesOf(high).at(-1) === 'down' || statesOf(high).length > links)
      // A cut may also have hit a handshake; in the end the two nodes have one link.
      await until(() => areLinked(low, high))
      const arrived = numbersOf(high).slice(before)
      expect(arrived).toEqual(Array.from(arrived, (_, n) => n))
      low.links.post(high.inc, note(1_000))
      await until(() => numbersOf(high).at(-1) === 1_000)
    }
    const states = statesOf(high)
    expect(states).toEqual(Array.from(states, (_, i) => (i % 2 === 0 ? 'up' : 'down')))
    expect(low.links.stats().links).toBe(1)
  })

  it('[LIFE-25] a link on which one direction is silent goes down at both sides, and comes up again', async () => {
    const times = { pingMs: 20, handshakeMs: 200, redialFirstMs: 5, redialMostMs: 40 }
    for (const way of ['out', 'back'] as const) {
      await using pair = await startPair({ low: { times }, high: { times } })
      const { low, high, proxy } = pair
      await pair.link()
      proxy.silent(way)
      await until(() => statesOf(low).includes('down') && statesOf(high).includes('down'))
      const whys = [...low.lines, ...high.lines].filter(({ event }) => event === 'link.down').map(({ fields }) => fields['why'])
      expect(whys).toContain('silent')
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect([low.links.peers(), high.links.peers()]).toEqual([[], []])
      await proxy.up()
      await until(() => areLinked(low, high))
    }
  })

  it('[LIFE-25] a link stays up while a body of many megabytes passes slowly, and pings pass in between', async () => {
    const times = { pingMs: 20, silentPings: 8 }
    await using pair = await startPair({ low: { times }, high: { times } })
    const { low, high, proxy } = pair
    await pair.link()
    proxy.delay(10)
    low.links.post(high.inc, note(1, { body: new Uint8Array(30_000_000).fill(5) }))
    low.links.post(high.inc, note(2))
    expect(low.links.isFull(high.inc)).toBe(true)
    await until(() => numbersOf(high).length === 2)
    expect([numbersOf(high), statesOf(low), statesOf(high)]).toEqual([[1, 2], ['up'], ['up']])
    const body = (high.heard[1] as [number, { body: Uint8Array }])[1].body
    expect([body.length, body.every((byte) => byte === 5)]).toEqual([30_000_000, true])
    await until(() => !low.links.isFull(high.inc) && (low.links.stats().rttSeconds ?? 0) > 0.01)
  })

  it('[LIFE-25] a newer link of a node replaces its older link; a delayed handshake does not', async () => {
    await using node = await startNode(2)
    expect(await dialAs({ inc: 1 }, node)).toBe('unknown-node')
    tellOfPeers(node, 1)
    const first = await linkedAs({ inc: 1, attempt: 5 }, node)
    const second = await linkedAs({ inc: 1, attempt: 7 }, node)
    await until(() => first.isClosed())
    expect([await dialAs({ inc: 1, attempt: 6 }, node), await dialAs({ inc: 1, attempt: 7 }, node)]).toEqual(['late', 'late'])
    expect([second.isClosed(), node.links.peers(), statesOf(node)]).toEqual([false, [1], ['up', 'down', 'up']])
  })

  it('[LIFE-25] of two nodes the one with the lower incarnation dials', async () => {
    await using node = await startNode(2)
    tellOfPeers(node, 3)
    expect(await dialAs({ inc: 3 }, node)).toBe('wrong-way')
  })

  it('[LIFE-25] nodes with different secrets are not linked, and each logs it once, not at every dial', async () => {
    const times = { redialFirstMs: 1, redialMostMs: 2 }
    const low = { secrets: ['a secret that the others do not know, 32 characters'], times }
    await using pair = await startPair({ low, high: { times } })
    void pair.link().catch(() => undefined)
    await until(() => pair.proxy.forwarded() > 20_000)
    expect(areLinked(pair.low, pair.high)).toBe(false)
    const said = (node: TestNode) => node.lines.map(({ event, fields }) => [event, fields['why']])
    expect(said(pair.low)).toEqual([['link.not_opened', 'secret']])
    expect(said(pair.high)).toEqual([['link.refused', 'secret']])
    expect([pair.low.heard, pair.high.heard]).toEqual([[], []])
  })

  it('[LIFE-25] the secret can be changed node by node while the links stay up', async () => {
    const [old, fresh] = [TEST_SECRET, 'the next secret, which has 32 characters or more']
    const steps: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[old], [old, fresh]],
      [
        [old, fresh],
        [fresh, old],
      ],
      [[fresh, old], [fresh]],
    ]
    for (const [lowSecrets, highSecrets] of steps) {
      await using pair = await startPair({ low: { secrets: lowSecrets }, high: { secrets: highSecrets } })
      await pair.link()
      pair.low.links.post(2, note(1))
      await until(() => numbersOf(pair.high).length === 1)
    }
  })

  it('[LIFE-25] a node that has left loses its link, and is refused until it is live again', async () => {
    const times = { redialFirstMs: 2, redialMostMs: 5 }
    await using pair = await startPair({ low: { times }, high: { times } })
    const { low, high } = pair
    await pair.link()
    high.links.setPeers([])
    await until(() => statesOf(low).includes('down'))
    expect([statesOf(high), high.links.peers()]).toEqual([['up', 'down'], []])
    await until(() => high.lines.some(({ event, fields }) => event === 'link.refused' && fields['why'] === 'unknown-node'))
    expect(areLinked(low, high)).toBe(false)
    high.links.setPeers([{ inc: low.inc, linkUrl: low.linkUrl }])
    await until(() => areLinked(low, high))
    low.links.setPeers([])
    await until(() => high.links.peers().length === 0)
    expect(low.links.peers()).toEqual([])
  })

  it('[LIFE-25] a node finds out whether its own link_url leads to itself, and does not log its own dials as refused', async () => {
    await using one = await startNode(1)
    expect(await one.links.dialOwnUrl()).toBe('no-answer')
    const { port } = one.links
    await one[Symbol.asyncDispose]()
    await using two = await startNode(2, { port })
    // The listener notices the end of a dial later than the dialer does, but before it has answered a few more dials.
    for (let i = 0; i < 5; i++) expect(await two.links.dialOwnUrl()).toBe('itself')
    expect(two.lines).toEqual([])
    await expect(startNode(3, { port })).rejects.toThrow('EADDRINUSE')
  })

  it('[LIFE-25] a message that is too long and a listener that throws are logged and harm nothing else', async () => {
    await using pair = await startPair()
    const { low, high } = pair
    await pair.link()
    high.links.onMessage((_peer, message) => {
      if ((message as { n?: number }).n === 1) throw new Error('a fault of this program')
    })
    low.links.post(high.inc, note(0, { body: new Uint8Array(101 * 1024 * 1024) }))
    for (const n of [1, 2]) low.links.post(high.inc, note(n))
    await until(() => numbersOf(high).length === 2)
    expect([numbersOf(high), areLinked(low, high)]).toEqual([[1, 2], true])
    const errors = (node: TestNode) => node.lines.filter(({ level }) => level === 'error').map(({ event }) => event)
    expect([errors(low), errors(high)]).toEqual([['link.message_too_long'], ['link.listener_failed']])
  })

  it('[LIFE-28] messages posted before a node ends its links still arrive', async () => {
    await using pair = await startPair()
    await pair.link()
    for (let n = 0; n < 500; n++) pair.low.links.post(2, note(n, { bytes: new Uint8Array(n % 50 === 0 ? 100_000 : 10) }))
    await pair.low[Symbol.asyncDispose]()
    await until(() => statesOf(pair.high).includes('down'))
    expect(numbersOf(pair.high)).toEqual(Array.from({ length: 500 }, (_, n) => n))
  })

  it('[OPS-4] the totals hold the links, the bytes in both directions, the bytes on their way, and the round trip', async () => {
    await using pair = await startPair({ low: { times: { pingMs: 20 } }, high: { times: { pingMs: 20 } } })
    const { low, high, proxy } = pair
    const none = { links: 0, sentBytes: 0, receivedBytes: 0, bufferedBytes: 0, rttSeconds: null }
    expect(low.links.stats()).toEqual(none)
    await pair.link()
    low.links.post(2, note(1, { bytes: new Uint8Array(100_000) }))
    expect(low.links.stats()).toMatchObject({ links: 1, bufferedBytes: expect.toSatisfy((bytes: number) => bytes > 100_000) })
    await until(() => low.links.stats().bufferedBytes === 0 && low.links.stats().rttSeconds !== null)
    expect(low.links.stats().sentBytes).toBeGreaterThan(100_000)
    expect(high.links.stats().receivedBytes).toBeGreaterThan(100_000)
    const before = low.links.stats().sentBytes
    await proxy.down()
    await until(() => low.links.stats().links === 0)
    expect(low.links.stats()).toMatchObject({ links: 0, bufferedBytes: 0, rttSeconds: null })
    expect(low.links.stats().sentBytes).toBeGreaterThanOrEqual(before)
  })
})
