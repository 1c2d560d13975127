import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { turnFrames, withoutOwn } from './fanout.ts'
import { holdAwareness, holdUpdate, newHeldUpdates, releaseHeld } from './held-updates.ts'
import { wireBytes } from './websocket-frame.ts'

const turn = fc.array(
  fc.record({ sender: fc.integer({ min: 1, max: 4 }), update: fc.uint8Array({ minLength: 1, maxLength: 300 }) }),
  { minLength: 1, maxLength: 12 },
)

describe('sending updates to the connections of a room', () => {
  it('[WS-31] the updates of one turn are sent in order, and a sender gets all but its own', () => {
    fc.assert(
      fc.property(turn, (writes) => {
        const updates = writes.map(({ update }) => update)
        const senders = writes.map(({ sender }) => sender)
        const frames = turnFrames(updates)
        const framed = (kept: readonly Uint8Array[]): Buffer =>
          Buffer.concat(kept.map((update) => wireBytes(syncFrame(2, update))))
        expect(frames.bytes.equals(framed(updates))).toBe(true)
        for (const own of [1, 2, 3, 4, 5]) {
          const others = framed(updates.filter((_, at) => senders[at] !== own))
          expect((withoutOwn(frames, senders, own) ?? Buffer.alloc(0)).equals(others)).toBe(true)
        }
      }),
    )
  })

  it.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])(
    '[WS-8] a message of %i bytes is sent as one unmasked binary frame',
    (length) => {
      const bytes = wireBytes(new Uint8Array(length).fill(7))
      expect(bytes[0]).toBe(0x82)
      const short = bytes[1] ?? 0
      const [declared, header] =
        short < 126 ? [short, 2] : short === 126 ? [bytes.readUInt16BE(2), 4] : [Number(bytes.readBigUInt64BE(2)), 10]
      expect([declared, bytes.length]).toEqual([length, length + header])
    },
  )
})

describe('updates held for a slow socket', () => {
  it('[WS-55] updates held for a slow socket are merged into one update with the same result', () => {
    const source = new Y.Doc()
    const held = newHeldUpdates()
    const text = source.getText('t')
    source.on('update', (update: Uint8Array) => holdUpdate(held, update))
    for (let at = 0; at < 1_000; at++) {
      if (at % 7 === 6) text.delete(0, 2)
      else text.insert(Math.floor(text.length / 2), `${at} `)
    }
    const { updates, awareness } = releaseHeld(held)
    expect(updates).toHaveLength(1)
    expect(awareness).toBeNull()
    const copy = new Y.Doc()
    for (const update of updates) Y.applyUpdate(copy, update)
    expect(copy.getText('t').toString()).toBe(text.toString())
    expect(held.bytes).toBe(0)
    expect(releaseHeld(held).updates).toEqual([])
  })

  it('[WS-55] awareness held for a slow socket is reduced to the newest state of each client id', () => {
    const held = newHeldUpdates()
    const frame = (client: number, clock: number, state: string): Uint8Array => {
      const json = Buffer.from(state)
      return Uint8Array.of(TAG.awareness, 4 + json.length, 1, client, clock, json.length, ...json)
    }
    holdAwareness(held, frame(1, 5, '{"a":1}'))
    holdAwareness(held, frame(2, 1, '{"b":1}'))
    holdAwareness(held, frame(1, 6, 'null'))
    holdAwareness(held, frame(1, 4, '{"old":1}'))
    const { awareness } = releaseHeld(held)
    const expected = [2, 1, 6, 4, ...Buffer.from('null'), 2, 1, 7, ...Buffer.from('{"b":1}')]
    expect([...(awareness ?? [])]).toEqual([TAG.awareness, expected.length, ...expected])
  })
})
