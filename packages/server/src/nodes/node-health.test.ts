import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isCutOff,
  lackingSince,
  lacksLinks,
  livePeers,
  mayTakeOver,
  permissionOf,
  REFUSE_MS,
  SUSPEND_MS,
  UNLINKED_MS,
} from './node-health.ts'
import { type Heartbeat, LEASE_MS, type Peer, SILENT_MS } from './registry.port.ts'

const times = fc.record({ sentMs: fc.nat(60_000), tookMs: fc.nat(20_000), sinceMs: fc.nat(30_000) })

describe('permissions of a node while the database is silent', () => {
  it.each([
    ['serves at the moment of an answer', { sentMs: 1_000, answeredMs: 1_010 }, 1_010, 'serve'],
    ['serves after 3.9 s without an answer', { sentMs: 1_000, answeredMs: 1_010 }, 5_009, 'serve'],
    ['refuses after 4 s without an answer', { sentMs: 1_000, answeredMs: 1_010 }, 5_010, 'refuse'],
    ['suspends 10 s after it sent the last answered heartbeat', { sentMs: 1_000, answeredMs: 1_010 }, 11_000, 'suspend'],
    ['serves when an answer that took 9 s arrives', { sentMs: 1_000, answeredMs: 10_000 }, 10_000, 'serve'],
    ['suspends one second after an answer that took 9 s', { sentMs: 1_000, answeredMs: 10_000 }, 11_000, 'suspend'],
  ] as const)('[LIFE-27] a node %s', (_, answered, nowMs, permission) => {
    expect(permissionOf(answered, nowMs)).toBe(permission)
  })

  it('[LIFE-27] as time passes a node only loses permissions, and it gives up its documents 5 s before its lease ends', () => {
    const ranks = { serve: 0, refuse: 1, suspend: 2 }
    fc.assert(
      fc.property(times, fc.nat(30_000), ({ sentMs, tookMs, sinceMs }, moreMs) => {
        const answered = { sentMs, answeredMs: sentMs + tookMs }
        const nowMs = answered.answeredMs + sinceMs
        const [now, later] = [permissionOf(answered, nowMs), permissionOf(answered, nowMs + moreMs)]
        expect(ranks[later]).toBeGreaterThanOrEqual(ranks[now])
        if (nowMs >= sentMs + LEASE_MS - 5_000) expect(now).toBe('suspend')
        if (now === 'serve') expect(sinceMs).toBeLessThan(REFUSE_MS)
      }),
    )
  })

  it('[LIFE-27] the permission of a node depends only on differences between times', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: -1_000_000, max: 1_000_000 }), ({ sentMs, tookMs, sinceMs }, shiftMs) => {
        const nowMs = sentMs + tookMs + sinceMs
        expect(permissionOf({ sentMs: sentMs + shiftMs, answeredMs: sentMs + tookMs + shiftMs }, nowMs + shiftMs)).toBe(
          permissionOf({ sentMs, answeredMs: sentMs + tookMs }, nowMs),
        )
      }),
    )
  })

  it('[LIFE-27] a node refuses before it suspends, and suspends before its lease ends', () => {
    expect(REFUSE_MS).toBeLessThan(SUSPEND_MS)
    expect(SUSPEND_MS).toBeLessThan(LEASE_MS)
  })

  it('[LIFE-26] a node takes over nothing before three of its heartbeats in a row were answered', () => {
    const after = (inRow: number): Heartbeat => ({ atMs: 0, inRow, robbed: 0, peers: [] })
    const answered = { sentMs: 900, answeredMs: 1_000 }
    expect([1, 2, 3, 4].map((inRow) => mayTakeOver(after(inRow), answered, 2_000))).toEqual([false, false, true, true])
    expect(mayTakeOver(after(9), answered, 3_000)).toBe(false)
  })
})

describe('links that a node needs', () => {
  const peer = (inc: number, silentMs: number): Peer => ({ inc, silentMs, nodeId: '', linkUrl: '', program: '', state: 'up' })

  it('[OPS-2] a peer without a heartbeat for more than 3 s is not counted', () => {
    expect(livePeers([peer(1, 0), peer(2, SILENT_MS), peer(3, SILENT_MS + 1)])).toEqual([1, 2])
  })

  it.each([
    ['a node without peers has enough links', 1, [], [], false],
    ['the older of two nodes has enough without their link', 1, [2], [], false],
    ['the younger of two nodes lacks their link', 2, [1], [], true],
    ['the younger of two nodes has enough with their link', 2, [1], [1], false],
    ['the youngest of three nodes has enough with one link', 3, [1, 2], [2], false],
    ['the oldest of three nodes without a link lacks links', 1, [2, 3], [], true],
    ['of four nodes in two halves, the half with the oldest node has enough', 4, [1, 2, 3], [1], false],
    ['of four nodes in two halves, the half without the oldest node lacks links', 2, [1, 3, 4], [3], true],
    ['one of five nodes has enough with two links', 5, [1, 2, 3, 4], [1, 4], false],
    ['one of five nodes lacks links with one link', 1, [2, 3, 4, 5], [5], true],
    ['a link to a peer that is not live does not count', 3, [1, 2], [9], true],
  ] as const)('[OPS-2] %s', (_, inc, live, linked, lacks) => {
    expect(lacksLinks({ inc, live, linked })).toBe(lacks)
  })

  const mesh = fc.record({
    inc: fc.nat(9),
    live: fc.uniqueArray(fc.nat(9), { maxLength: 9 }),
    linked: fc.uniqueArray(fc.nat(9), { maxLength: 9 }),
  })

  it('[OPS-2] an additional link never makes a node lack links', () => {
    fc.assert(
      fc.property(mesh, fc.nat(9), ({ inc, live: all, linked }, more) => {
        const live = all.filter((peer) => peer !== inc)
        if (!lacksLinks({ inc, live, linked })) expect(lacksLinks({ inc, live, linked: [...linked, more] })).toBe(false)
        expect(lacksLinks({ inc, live, linked: live })).toBe(false)
      }),
    )
  })

  /** Returns all ways to divide nodes into parts. */
  function divisions(nodes: readonly number[]): readonly (readonly number[])[][] {
    const [first, ...others] = nodes
    if (first === undefined) return [[]]
    return divisions(others).flatMap((parts) => [
      [[first], ...parts],
      ...parts.map((part, i) => [...parts.slice(0, i), [first, ...part], ...parts.slice(i + 1)]),
    ])
  }
  /**
   * Returns the parts that have enough links when nodes are linked only within their part and every node sees all others alive.
   */
  function staying(parts: readonly (readonly number[])[]): readonly (readonly number[])[] {
    const all = parts.flat()
    const lacks = (inc: number, part: readonly number[]): boolean =>
      lacksLinks({ inc, live: all.filter((one) => one !== inc), linked: part.filter((one) => one !== inc) })
    for (const part of parts) expect(new Set(part.map((inc) => lacks(inc, part))).size).toBe(1)
    return parts.filter((part) => part.every((inc) => !lacks(inc, part)))
  }

  it.each([1, 2, 3, 4, 5, 6])(
    '[OPS-2] of %i nodes in two parts exactly one part goes on, and of more parts at most one',
    (count) => {
      const counts = new Map<number, Set<number>>()
      for (const parts of divisions(Array.from({ length: count }, (_, n) => n + 1))) {
        const stay = staying(parts).length
        counts.set(parts.length, (counts.get(parts.length) ?? new Set()).add(stay))
        const half = parts.some((part) => part.length * 2 > count || (part.length * 2 === count && part.includes(1)))
        expect(stay).toBe(half ? 1 : 0)
      }
      expect(counts.get(1)).toEqual(new Set([1]))
      if (count > 1) expect(counts.get(2)).toEqual(new Set([1]))
    },
  )

  it('[OPS-2] the smaller of two parts lacks links, whichever nodes it has', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 9 }), fc.nat(9), (nodes, cut) => {
        const parts = [nodes.slice(0, cut), nodes.slice(cut)].filter((part) => part.length > 0)
        const [stays, ...more] = staying(parts)
        expect(more).toEqual([])
        for (const part of parts) expect(stays?.length).toBeGreaterThanOrEqual(part.length)
      }),
    )
  })

  it('[OPS-2] a node is cut off when it has lacked links for 5 s without a break', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ afterMs: fc.nat(3_000), lacks: fc.boolean() }), { maxLength: 40 }), (looks) => {
        let nowMs = 0
        let since: number | null = null
        let wellMs = 0
        for (const { afterMs, lacks } of looks) {
          nowMs += afterMs
          if (!lacks) wellMs = nowMs
          since = lackingSince(since, lacks, nowMs)
          if (isCutOff(since, nowMs)) expect(nowMs - wellMs).toBeGreaterThanOrEqual(UNLINKED_MS)
          if (!lacks) expect(isCutOff(since, nowMs)).toBe(false)
        }
        expect(isCutOff(lackingSince(since, true, nowMs), nowMs + UNLINKED_MS)).toBe(true)
      }),
    )
  })
})
