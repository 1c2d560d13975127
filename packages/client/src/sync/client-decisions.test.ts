import { describe, expect, it } from 'vitest'
import { planReconnect } from './reconnect.ts'
import { SaveTracker } from './save-tracker.ts'
import { SendPace } from './send-pace.ts'

describe('SaveTracker', () => {
  it('[WS-40] after a join the content is saved only once the first step2 is acknowledged', () => {
    const tracker = new SaveTracker()
    tracker.joined()
    expect(tracker.everythingSaved).toBe(false)
    expect(tracker.sent('step2')).toBe(1)
    expect(tracker.everythingSaved).toBe(false)
    tracker.acked(1)
    expect(tracker.everythingSaved).toBe(true)
  })

  it('[WS-40] an update is saved once its ordinal is acknowledged', () => {
    const tracker = new SaveTracker()
    tracker.joined()
    tracker.sent('step2')
    tracker.acked(1)
    tracker.sent('update')
    tracker.sent('update')
    tracker.acked(2)
    expect(tracker.everythingSaved).toBe(false)
    tracker.acked(3)
    expect(tracker.everythingSaved).toBe(true)
  })

  it('[WS-40] refused content is unsaved until a later step2 is acknowledged, even when acks go on', () => {
    const tracker = new SaveTracker()
    tracker.joined()
    tracker.sent('step2')
    tracker.acked(1)
    tracker.sent('update')
    tracker.refused(2)
    tracker.acked(2)
    expect(tracker.everythingSaved).toBe(false)
    tracker.sent('update')
    tracker.acked(3)
    expect(tracker.everythingSaved).toBe(false)
    expect(tracker.sent('step2')).toBe(4)
    tracker.acked(4)
    expect(tracker.everythingSaved).toBe(true)
  })

  it('[WS-40] after a refused step2 only the next accepted step2 makes the content saved', () => {
    const tracker = new SaveTracker()
    tracker.joined()
    tracker.sent('step2')
    tracker.refused(1)
    tracker.acked(1)
    expect(tracker.everythingSaved).toBe(false)
    tracker.sent('step2')
    tracker.acked(2)
    expect(tracker.everythingSaved).toBe(true)
  })
})

describe('SendPace', () => {
  it('[WS-29] the first edit is sent at once, later ones wait for the gap, and a rate refusal widens the gap', () => {
    const pace = new SendPace(40, 2_000)
    expect(pace.delayMs(1_000)).toBe(0)
    pace.sent(1_000)
    expect(pace.delayMs(1_010)).toBe(30)
    expect(pace.delayMs(1_040)).toBe(0)
    pace.limited()
    expect(pace.delayMs(1_010)).toBe(70)
    for (let i = 0; i < 20; i++) pace.limited()
    expect(pace.gapMs).toBe(2_000)
    for (let i = 0; i < 200; i++) pace.acked()
    expect(pace.gapMs).toBe(40)
  })
})

describe('planReconnect', () => {
  it('[WS-57] [WS-58] codes 44xx stop, 1xxx retry, and a retry-after is the shortest delay', () => {
    expect(planReconnect({ code: 4403, reason: 'forbidden' }, 1, true, 0)).toEqual({ kind: 'stop' })
    expect(planReconnect({ code: 1012, reason: 'restarting;retry-after=3000' }, 1, true, 0)).toEqual({
      kind: 'retry',
      delayMs: 3_250,
    })
    expect(planReconnect({ code: 1006, reason: '' }, 1, true, 1)).toEqual({ kind: 'retry', delayMs: 500 })
    expect(planReconnect({ code: 1006, reason: '' }, 30, true, 1)).toEqual({ kind: 'retry', delayMs: 30_000 })
  })

  it('[WS-67] after 4409 a client tries again every 60 s, since a place may have become free', () => {
    for (const failures of [1, 2, 30])
      expect(planReconnect({ code: 4409, reason: 'connection-limit' }, failures, true, 0.5)).toEqual({
        kind: 'retry',
        delayMs: 60_000,
      })
  })

  it('[WS-58] 4401 asks for a fresh token once, then stops', () => {
    expect(planReconnect({ code: 4401, reason: 'token-expired' }, 1, true, 0).kind).toBe('renew')
    expect(planReconnect({ code: 4401, reason: 'token-expired' }, 2, false, 0).kind).toBe('stop')
  })
})
