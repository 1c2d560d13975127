import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import {
  DialerHandshake,
  type DialerIdentity,
  type HandshakeStep,
  ListenerHandshake,
  type NodeIdentity,
  type Verdict,
} from './link-handshake.ts'
import { linkKeys, proofOf, type Session, sessionOf } from './link-secrets.ts'

const SECRET = 'the secret of this cluster, 32 characters or more'
const OTHER = 'another secret that has 32 characters or more, too'
const listenerIs: NodeIdentity = { inc: 7, nodeId: 'node-of-the-listener', program: '1.2.3' }
const dialerIs: DialerIdentity = { inc: 3, nodeId: 'node-of-the-dialer', program: '1.2.4', attempt: 5 }

interface Given {
  readonly listenerSecrets?: readonly string[]
  readonly dialerSecrets?: readonly string[]
  readonly dialer?: DialerIdentity
  readonly expected?: number
  readonly admit?: (peer: DialerIdentity) => Verdict
}

function sides(given: Given = {}) {
  const { listenerSecrets = [SECRET], dialerSecrets = [SECRET], dialer = dialerIs, expected = 7 } = given
  const { admit = () => 'taken' } = given
  return {
    listener: new ListenerHandshake({ own: listenerIs, keys: linkKeys(listenerSecrets), random: systemRandom, admit }),
    dialer: new DialerHandshake({ own: dialer, keys: linkKeys(dialerSecrets), random: systemRandom, expected }),
  }
}

interface Outcome {
  readonly listener: HandshakeStep<DialerIdentity> | null
  readonly dialer: HandshakeStep<NodeIdentity> | null
  /** All messages of both sides, in order; the listener sends the first. */
  readonly messages: readonly Uint8Array[]
}

/** Runs a handshake between two sides; `between` may change a message on its way, by the number of the message. */
function talk(
  { listener, dialer }: ReturnType<typeof sides>,
  between: (message: Uint8Array, number: number) => Uint8Array = (message) => message,
): Outcome {
  const messages: Uint8Array[] = []
  let [atListener, atDialer]: [Outcome['listener'], Outcome['dialer']] = [null, null]
  let next: Uint8Array | null = listener.first
  for (let number = 0; next !== null; number++) {
    messages.push(next)
    const step: HandshakeStep<NodeIdentity> | HandshakeStep<DialerIdentity> =
      number % 2 === 0
        ? (atDialer = dialer.receive(between(next, number)))
        : (atListener = listener.receive(between(next, number)))
    next = step.bytes
  }
  return { listener: atListener, dialer: atDialer, messages }
}

const kindsOf = ({ listener, dialer }: Outcome) => [listener?.kind ?? null, dialer?.kind ?? null]
const whyOf = (step: HandshakeStep<unknown> | null) => (step?.kind === 'closed' ? step.why : null)

function sessionsOf(outcome: Outcome): { listener: Session; dialer: Session } {
  if (outcome.listener?.kind !== 'open' || outcome.dialer?.kind !== 'open') throw new Error('no link was opened')
  return { listener: outcome.listener.session, dialer: outcome.dialer.session }
}

describe('the handshake of a link', () => {
  it('[LIFE-25] after a handshake with one secret two nodes know each other, and each opens the frames of the other', () => {
    const outcome = talk(sides())
    expect([outcome.listener, outcome.dialer]).toMatchObject([{ peer: dialerIs }, { peer: listenerIs }])
    const { listener, dialer } = sessionsOf(outcome)
    for (const text of ['one', '', 'three']) {
      expect(Buffer.from(dialer.opener.open(listener.sealer.seal(Buffer.from(text)))).toString()).toBe(text)
      expect(Buffer.from(listener.opener.open(dialer.sealer.seal(Buffer.from(text), Buffer.from('!')))).toString()).toBe(
        `${text}!`,
      )
    }
  })

  it('[LIFE-25] while the secret is being changed, two nodes are linked when they have one secret in common', () => {
    const cases: readonly (readonly [string[], string[], boolean])[] = [
      [[SECRET], [OTHER, SECRET], true],
      [[OTHER, SECRET], [SECRET], true],
      [[OTHER, SECRET], [SECRET, OTHER], true],
      [[SECRET, OTHER], [SECRET], true],
      [[SECRET], [OTHER], false],
      [[SECRET], [OTHER, `${OTHER}!`], false],
    ]
    for (const [listenerSecrets, dialerSecrets, isLinked] of cases) {
      const outcome = talk(sides({ listenerSecrets, dialerSecrets }))
      expect(outcome.dialer?.kind === 'open').toBe(isLinked)
      if (!isLinked) continue
      const { listener, dialer } = sessionsOf(outcome)
      expect(listener.opener.open(dialer.sealer.seal(Uint8Array.of(1)))).toEqual(Buffer.of(1))
    }
  })

  it('[LIFE-25] a dialer with another secret gets a random number and nothing else', () => {
    const outcome = talk(sides({ dialerSecrets: [OTHER] }))
    expect([whyOf(outcome.listener), outcome.listener?.bytes]).toEqual(['secret', null])
    expect(outcome.messages.map(({ length }) => length)).toEqual([32, 64])
    // The number is new for each handshake, so two listeners cannot be compared by it.
    expect(talk(sides({ dialerSecrets: [OTHER] })).messages[0]).not.toEqual(outcome.messages[0])
  })

  it('[LIFE-25] node_id and incarnation are never sent in the clear', () => {
    const all = Buffer.concat(talk(sides()).messages).toString('latin1')
    for (const told of ['node-of', '1.2.', 'inc', 'taken']) expect(all).not.toContain(told)
  })

  it('[LIFE-25] a listener with another secret learns nothing about the dialer', () => {
    const { dialer } = sides()
    const false1 = new ListenerHandshake({ own: listenerIs, keys: linkKeys([OTHER]), random: systemRandom, admit: () => 'taken' })
    const proof = dialer.receive(false1.first)
    expect([proof.kind, proof.bytes?.length]).toEqual(['send', 64])
    expect(whyOf(dialer.receive(new Uint8Array(100)))).toBe('secret')
  })

  it('[LIFE-25] a proof that is sent back to its maker is refused', () => {
    const { listener, dialer } = sides()
    const proof = dialer.receive(listener.first).bytes as Uint8Array
    // An answer begins with the proof of the listener. This answer begins with the proof of the dialer instead.
    expect(whyOf(dialer.receive(Buffer.concat([proof.subarray(32), new Uint8Array(60)])))).toBe('secret')
  })

  it('[LIFE-25] a handshake that was recorded opens no second link', () => {
    const recorded = talk(sides()).messages
    const { listener } = sides()
    expect(whyOf(listener.receive(recorded[1] as Uint8Array))).toBe('secret')
    const { dialer } = sides()
    expect(dialer.receive(recorded[0] as Uint8Array).kind).toBe('send')
    expect(whyOf(dialer.receive(recorded[2] as Uint8Array))).toBe('secret')
  })

  it('[LIFE-25] a handshake in which any message is changed, cut or longer opens no link', () => {
    const change = fc.record({
      number: fc.integer({ min: 0, max: 4 }),
      at: fc.nat(),
      by: fc.integer({ min: 1, max: 255 }),
      length: fc.constantFrom('same', 'shorter', 'longer', 'empty'),
    })
    fc.assert(
      fc.property(change, ({ number, at, by, length }) => {
        let isChanged = false
        const outcome = talk(sides(), (message, current) => {
          if (current !== number) return message
          isChanged = true
          if (length === 'empty') return new Uint8Array(0)
          if (length === 'shorter') return message.subarray(0, at % message.length)
          if (length === 'longer') return Buffer.concat([message, Uint8Array.of(by)])
          const changed = message.slice()
          changed[at % changed.length] = ((changed[at % changed.length] as number) + by) % 256
          return changed
        })
        expect(isChanged).toBe(true)
        // The last message says that the listener accepts the link: the listener has a link then, until the dialer closes it.
        expect(kindsOf(outcome)).toContain('closed')
        expect(outcome.dialer?.kind).not.toBe('open')
        expect(outcome.listener?.kind === 'open').toBe(number === 4)
      }),
      { numRuns: 300 },
    )
  })

  it('[LIFE-25] a node that dials itself notices it', () => {
    const outcome = talk(sides({ dialer: { ...dialerIs, inc: 7 } }))
    expect([whyOf(outcome.dialer), kindsOf(outcome)]).toEqual(['itself', ['send', 'closed']])
    expect(whyOf(talk(sides({ dialer: { ...dialerIs, inc: 7 }, expected: 8 })).dialer)).toBe('itself')
  })

  it('[LIFE-25] a dialer that reaches another node than it expects opens no link', () => {
    const outcome = talk(sides({ expected: 8 }))
    expect([whyOf(outcome.dialer), kindsOf(outcome)]).toEqual(['another-node', ['send', 'closed']])
  })

  it('[LIFE-25] both sides know why a listener does not accept a link', () => {
    for (const verdict of ['unknown-node', 'wrong-way', 'late'] as const) {
      const asked: DialerIdentity[] = []
      const outcome = talk(sides({ admit: (peer) => (asked.push(peer), verdict) }))
      expect([whyOf(outcome.listener), whyOf(outcome.dialer), asked]).toEqual([verdict, verdict, [dialerIs]])
    }
  })

  it('[LIFE-25] a side that has ended a handshake accepts no further message', () => {
    const { listener } = sides()
    expect(whyOf(listener.receive(new Uint8Array(64)))).toBe('secret')
    const honest = sides()
    const { bytes } = honest.dialer.receive(listener.first)
    expect(whyOf(listener.receive(bytes as Uint8Array))).toBe('secret')
  })
})

describe('the seals of a link', () => {
  const frames = (session: Session) => [1, 2, 3, 4].map((n) => session.sealer.seal(Uint8Array.of(n)))

  it('[LIFE-25] a frame that is repeated, early, changed, cut or sent back to its maker does not open, and no later frame does', () => {
    const sent = (tamper: (frames: Uint8Array[], own: Session) => Uint8Array[]) => {
      const { listener, dialer } = sessionsOf(talk(sides()))
      const arriving = tamper(frames(dialer), dialer)
      let opened = 0
      for (const frame of arriving) {
        try {
          listener.opener.open(frame)
          opened++
        } catch (error) {
          expect((error as Error).name).toBe('LinkFrameError')
        }
      }
      return opened
    }
    const flipped = (frame: Uint8Array, at: number) => frame.map((byte, i) => (i === at ? byte ^ 1 : byte))
    type Four = [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
    expect(sent((all) => all)).toBe(4)
    expect(sent((all) => (([a, b, c, d]: Four) => [a, a, b, c, d])(all as Four))).toBe(1)
    expect(sent((all) => (([a, b, c, d]: Four) => [a, c, b, d])(all as Four))).toBe(1)
    expect(sent((all) => (([a, , c, d]: Four) => [a, c, d])(all as Four))).toBe(1)
    for (const at of [0, 1, 16]) expect(sent((all) => (([a, b, c]: Four) => [a, flipped(b, at), c])(all as Four))).toBe(1)
    expect(sent((all) => (([a, b, c]: Four) => [a, b.subarray(0, 16), c])(all as Four))).toBe(1)
    expect(sent((all) => (([a, b, c]: Four) => [a, b.subarray(0, 3), c])(all as Four))).toBe(1)
    const { dialer } = sessionsOf(talk(sides()))
    expect(() => dialer.opener.open(dialer.sealer.seal(Uint8Array.of(1)))).toThrow('the seal is broken')
  })

  it('[LIFE-25] the two sides of a link make different proofs and seals, so that none can be sent back to its maker', () => {
    const [key] = linkKeys([SECRET]) as [Uint8Array]
    const nonces = { listener: new Uint8Array(32), dialer: new Uint8Array(32) }
    expect(proofOf(key, 'dialer', nonces)).not.toEqual(proofOf(key, 'listener', nonces))
    const { sealer, opener } = sessionOf(key, 'dialer', nonces)
    expect(() => opener.open(sealer.seal(Uint8Array.of(1)))).toThrow('the seal is broken')
  })

  it('[LIFE-25] a frame of one link does not open on another link of the same nodes', () => {
    const [first, second] = [sessionsOf(talk(sides())), sessionsOf(talk(sides()))]
    expect(() => second.listener.opener.open(first.dialer.sealer.seal(Uint8Array.of(1)))).toThrow('the seal is broken')
  })
})
