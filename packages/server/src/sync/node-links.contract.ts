import { beforeEach, describe, expect, it } from 'vitest'
import type { NodeLinks, NodeMessage } from './node-links.port.ts'
import type { Incarnation } from './ownership.port.ts'

/** Two nodes, and the means to control the link between them. */
export interface LinkedPair extends AsyncDisposable {
  readonly a: { readonly inc: Incarnation; readonly links: NodeLinks }
  readonly b: { readonly inc: Incarnation; readonly links: NodeLinks }
  /** Links the two nodes, also after `cut`. Resolves when both have reported the link as up. */
  link(): Promise<void>
  /** Breaks the link. Resolves when both nodes have reported it as down. */
  cut(): Promise<void>
  /** Holds back everything that `a` sends to `b` until `release`. The link stays up. */
  hold(): void
  release(): void
  /** Resolves when `holds` returns true. Posted messages arrive meanwhile. */
  until(holds: () => boolean): Promise<void>
  /** A link is full when about this many bytes are on their way in one direction. */
  readonly fullBytes: number
}

type Value = { readonly [name: string]: unknown }

const message = (kind: string, members: Value): NodeMessage => ({ kind, ...members }) as NodeMessage

/** Registers the tests that every implementation of `NodeLinks` must pass. The rest of the relay relies on this behaviour. [LIFE-25] */
export function nodeLinksContract(name: string, open: () => Promise<LinkedPair>): void {
  describe(`NodeLinks: ${name}`, () => {
    let pair: LinkedPair
    /** The events and messages that each side has got, in order. */
    let atA: unknown[]
    let atB: unknown[]

    beforeEach(async () => {
      pair = await open()
      atA = heardBy(pair.a.links, pair.b.inc)
      atB = heardBy(pair.b.links, pair.a.inc)
      const opened = pair
      return () => opened[Symbol.asyncDispose]()
    })

    /** Posts messages from node `a` and returns those that arrive at node `b`, in order. */
    async function through(...messages: readonly NodeMessage[]): Promise<unknown[]> {
      const before = atB.length
      for (const each of messages) pair.a.links.post(pair.b.inc, each)
      await pair.until(() => atB.length >= before + messages.length)
      return atB.slice(before)
    }

    it('[LIFE-25] nodes that are not linked are not among the peers, and messages to them are dropped', async () => {
      expect([pair.a.links.peers(), pair.b.links.peers()]).toEqual([[], []])
      pair.a.links.post(pair.b.inc, message('note', { n: 1 }))
      pair.a.links.post(999, message('note', { n: 1 }))
      expect([pair.a.links.isFull(pair.b.inc), pair.a.links.isFull(999)]).toEqual([false, false])
      await pair.link()
      expect(await through(message('note', { n: 2 }))).toEqual([{ kind: 'note', n: 2 }])
    })

    it('[LIFE-25] both sides of a link get `up` before the first message of the link', async () => {
      pair.b.links.onUp((peer) => pair.b.links.post(peer, message('greeting', {})))
      await pair.link()
      await pair.until(() => atA.length > 1)
      expect([atA, atB]).toEqual([['up', { kind: 'greeting' }], ['up']])
      expect([pair.a.links.peers(), pair.b.links.peers()]).toEqual([[pair.b.inc], [pair.a.inc]])
    })

    it('[LIFE-25] messages of any size arrive in order and once each, in both directions', async () => {
      await pair.link()
      const sizes = [3, 400_000, 0, 1_500_000, 10, 2_000_000, 7, 70_000]
      const count = 400
      for (let n = 0; n < count; n++) {
        const bytes = new Uint8Array(n % 50 === 0 ? (sizes[n / 50] ?? 0) : n % 7).fill(n)
        pair.a.links.post(pair.b.inc, message('note', { n, bytes }))
        pair.b.links.post(pair.a.inc, message('note', { n }))
      }
      await pair.until(() => atA.length > count && atB.length > count)
      const numbers = (heard: unknown[]) => heard.slice(1).map((each) => (each as { n: number }).n)
      const expected = Array.from({ length: count }, (_, n) => n)
      expect([numbers(atA), numbers(atB)]).toEqual([expected, expected])
      const bytesOf = (n: number) => (atB[n + 1] as { bytes: Uint8Array }).bytes
      for (const [i, size] of sizes.entries()) expect(bytesOf(i * 50)).toEqual(new Uint8Array(size).fill(i * 50))
    })

    it('[LIFE-25] a message arrives as it was posted, without the members that are undefined', async () => {
      await pair.link()
      const bytes = Uint8Array.of(1, 2, 3, 4)
      const values: Value[] = [
        {},
        { none: null, yes: true, no: false, text: 'äöü \u2028 \u{1f600}', empty: '', zero: 0, minus: -1, part: 0.5 },
        { most: Number.MAX_SAFE_INTEGER, list: [], lists: [[], [1, [2]]], object: { in: { in: {} } } },
        { bytes, part: bytes.subarray(1, 3), none: new Uint8Array(0), list: [bytes, bytes.subarray(2)] },
        { outcome: { kind: 'encoded', version: 3, update: bytes }, mixed: [1, bytes, { bytes: [bytes] }] },
        { room: 1, updates: [bytes, new Uint8Array(0)], senders: [0, 7], durableSeq: 9 },
      ]
      const arrived = await through(...values.map((members) => message('value', members)))
      expect(arrived).toEqual(values.map((members) => ({ kind: 'value', ...members })))
      expect(await through(message('value', { here: 1, gone: undefined }))).toEqual([{ kind: 'value', here: 1 }])
      const [last] = await through(message('value', { bytes: Buffer.from(bytes) }))
      expect(Object.getPrototypeOf((last as { bytes: object }).bytes)).toBe(Uint8Array.prototype)
    })

    it('[LIFE-25] changes that the caller makes after `post` do not reach the message', async () => {
      await pair.link()
      const bytes = Uint8Array.of(1)
      const posted = { kind: 'note', list: [1], bytes }
      pair.a.links.post(pair.b.inc, posted)
      posted.list.push(2)
      bytes[0] = 9
      await pair.until(() => atB.length > 1)
      expect(atB[1]).toEqual({ kind: 'note', list: [1], bytes: Uint8Array.of(1) })
    })

    it('[LIFE-25] a value that is not plain makes `post` throw, and other messages still arrive', async () => {
      await pair.link()
      const post = (members: Value) => () => pair.a.links.post(pair.b.inc, message('note', members))
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, () => 1, new Map(), new Date(0), 1n, [undefined]])
        expect(post({ before: [1], value })).toThrow(TypeError)
      expect(await through(message('note', { n: 1 }))).toEqual([{ kind: 'note', n: 1 }])
    })

    it('[LIFE-29] a message of an unknown kind is delivered like any other', async () => {
      await pair.link()
      expect(await through(message('of-the-next-version', { n: [1] }))).toEqual([{ kind: 'of-the-next-version', n: [1] }])
    })

    it('[LIFE-25] a listener may post while it is called', async () => {
      await pair.link()
      pair.b.links.onMessage((peer, { kind }) => kind === 'ask' && pair.b.links.post(peer, message('answer', {})))
      pair.a.links.post(pair.b.inc, message('ask', {}))
      await pair.until(() => atA.length > 1)
      expect(atA).toEqual(['up', { kind: 'answer' }])
    })

    it('[LIFE-25] both sides of a link get `down` once, and no message of that link afterwards', async () => {
      await pair.link()
      for (let n = 0; n < 50; n++) pair.a.links.post(pair.b.inc, message('note', { n }))
      await pair.cut()
      expect([pair.a.links.peers(), pair.b.links.peers()]).toEqual([[], []])
      pair.a.links.post(pair.b.inc, message('lost', {}))
      const whenDown = [[...atA], [...atB]]
      await pair.link()
      expect(await through(message('note', { n: 'after' }))).toEqual([{ kind: 'note', n: 'after' }])
      expect(atA.filter((each) => typeof each === 'string')).toEqual(['up', 'down', 'up'])
      expect(atB.filter((each) => typeof each === 'string')).toEqual(['up', 'down', 'up'])
      expect([whenDown[0]?.at(-1), whenDown[1]?.at(-1)]).toEqual(['down', 'down'])
      // The messages that arrived over the first link are the first posted messages, without a gap.
      const first = atB.slice(1, atB.indexOf('down')).map((each) => (each as { n: number }).n)
      expect(first).toEqual(Array.from(first, (_, n) => n))
      expect(atB).not.toContainEqual({ kind: 'lost' })
    })

    it('[LIFE-25] when an `onDown` listener runs, `peers` lacks the peer, and messages to it are dropped', async () => {
      await pair.link()
      const seen: unknown[] = []
      pair.a.links.onDown((peer) => {
        seen.push(pair.a.links.peers(), pair.a.links.isFull(peer))
        pair.a.links.post(peer, message('lost', {}))
      })
      await pair.cut()
      expect(seen).toEqual([[], false])
    })

    it('[LIFE-25] a link is full when many bytes are on their way, and reports once that it has room again', async () => {
      await pair.link()
      const drained: Incarnation[] = []
      pair.a.links.onDrained((peer) => drained.push(peer))
      await through(message('note', { bytes: new Uint8Array(1000) }))
      expect([pair.a.links.isFull(pair.b.inc), drained]).toEqual([false, []])
      pair.hold()
      let posted = 0
      const piece = 100_000
      for (; !pair.a.links.isFull(pair.b.inc); posted++) {
        expect(posted * piece).toBeLessThan(2 * pair.fullBytes)
        pair.a.links.post(pair.b.inc, message('note', { n: posted, bytes: new Uint8Array(piece) }))
      }
      expect(posted * piece).toBeGreaterThan(pair.fullBytes / 2)
      expect(drained).toEqual([])
      // A message that is posted to a full link is not lost.
      pair.a.links.post(pair.b.inc, message('note', { n: posted }))
      pair.release()
      await pair.until(() => drained.length > 0 && atB.length > posted + 2)
      expect([pair.a.links.isFull(pair.b.inc), drained]).toEqual([false, [pair.b.inc]])
      expect((atB.at(-1) as { n: number }).n).toBe(posted)
    })

    it('[LIFE-25] a full link that goes down is not full when it comes up again', async () => {
      await pair.link()
      const drained: Incarnation[] = []
      pair.a.links.onDrained((peer) => drained.push(peer))
      pair.hold()
      while (!pair.a.links.isFull(pair.b.inc)) pair.a.links.post(pair.b.inc, message('note', { bytes: new Uint8Array(100_000) }))
      await pair.cut()
      pair.release()
      expect([pair.a.links.isFull(pair.b.inc), drained]).toEqual([false, []])
      await pair.link()
      expect(pair.a.links.isFull(pair.b.inc)).toBe(false)
      expect(await through(message('note', { n: 1 }))).toEqual([{ kind: 'note', n: 1 }])
      expect(drained).toEqual([])
    })
  })
}

/** Returns a list to which `up`, `down` and the messages from one peer are added as they arrive at one side. */
function heardBy(links: NodeLinks, from: Incarnation): unknown[] {
  const heard: unknown[] = []
  links.onUp((peer) => peer === from && heard.push('up'))
  links.onDown((peer) => peer === from && heard.push('down'))
  links.onMessage((peer, got) => peer === from && heard.push(got))
  return heard
}
