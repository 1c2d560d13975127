import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countOrdinal, dropKept, keepFrame, newAckTracker, settleThrough, takeAck } from './ack-tracker.ts'

describe('tracking of acknowledgements', () => {
  it('[WS-40] an ack covers a refused message once every earlier message is settled', () => {
    const acks = newAckTracker()
    const hand = (): void => keepFrame(acks, { ordinal: countOrdinal(acks), payload: new Uint8Array(3), order: acks.received })
    hand()
    countOrdinal(acks)
    hand()
    expect(takeAck(acks)).toBe(0)
    settleThrough(acks, 1)
    expect(takeAck(acks)).toBe(2)
    expect(acks.keptBytes).toBe(3)
    settleThrough(acks, 3)
    expect(takeAck(acks)).toBe(3)
    expect(takeAck(acks)).toBe(0)
    expect(acks.keptBytes).toBe(0)
  })

  it('[C6] dropping the message that was running lets later messages be acknowledged', () => {
    const acks = newAckTracker()
    for (let at = 0; at < 2; at++) keepFrame(acks, { ordinal: countOrdinal(acks), payload: new Uint8Array(1), order: at })
    dropKept(acks, 1)
    dropKept(acks, 7)
    expect(acks.kept.map((frame) => frame.ordinal)).toEqual([2])
    expect(takeAck(acks)).toBe(1)
  })

  it('[WS-39] [WS-40] [WS-41] for any order of events acks rise and never cover an outstanding message', () => {
    const event = fc.oneof(fc.constantFrom('ask' as const, 'hand' as const, 'refuse' as const), fc.nat(40))
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        const acks = newAckTracker()
        const outstanding = new Set<number>()
        let last = 0
        // A connection handles no further message while an earlier message waits for its token, so the model does the same.
        const counted = (): number => {
          const ordinal = acks.asking === 0 ? countOrdinal(acks) : acks.asking
          acks.asking = 0
          return ordinal
        }
        for (const what of events) {
          if (what === 'ask') acks.asking = counted()
          else if (what === 'hand') {
            const ordinal = counted()
            keepFrame(acks, { ordinal, payload: new Uint8Array(1), order: ordinal })
            outstanding.add(ordinal)
          } else if (what === 'refuse') counted()
          else {
            settleThrough(acks, what)
            for (const ordinal of outstanding) if (ordinal <= what) outstanding.delete(ordinal)
          }
          const ack = takeAck(acks)
          expect(ack === 0 || ack > last).toBe(true)
          last = Math.max(last, ack)
          const open = [...outstanding, ...(acks.asking > 0 ? [acks.asking] : [])]
          expect(last).toBe(open.length === 0 ? acks.received : Math.min(...open) - 1)
          expect(acks.keptBytes).toBe(outstanding.size)
        }
      }),
    )
  })
})
