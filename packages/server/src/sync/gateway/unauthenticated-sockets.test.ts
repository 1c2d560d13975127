import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RefusedSignIns } from './refused-sign-ins.ts'
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts'

/** Admits sockets, which are numbers in these tests, and records which sockets have a place. */
class Door {
  readonly sockets: UnauthenticatedSockets<number>
  readonly inside = new Map<number, string>()
  private next = 0

  constructor(max: number) {
    this.sockets = new UnauthenticatedSockets(max)
  }

  knock(address: string): number | null {
    const place = this.sockets.place(address)
    if (place.kind === 'none') return null
    if (place.kind === 'evict') this.leave(place.socket)
    const socket = ++this.next
    this.sockets.add(address, socket)
    this.inside.set(socket, address)
    return socket
  }

  leave(socket: number): void {
    this.sockets.remove(this.inside.get(socket) ?? '', socket)
    this.inside.delete(socket)
  }

  of(address: string): number {
    return [...this.inside.values()].filter((one) => one === address).length
  }
}

const many = (door: Door, address: string, count: number): number =>
  Array.from({ length: count }, () => door.knock(address)).filter((socket) => socket !== null).length

describe('places for sockets without AUTH', () => {
  it('[WS-6] one address takes half of the places; while it holds them, another address takes at most a sixteenth', () => {
    const door = new Door(256)
    expect(many(door, 'noisy', 1_000)).toBe(129)
    expect(many(door, 'quiet', 100)).toBe(16)
  })

  it('[WS-6] when all places are taken, a new address replaces the oldest socket of the address that holds most', () => {
    const door = new Door(256)
    many(door, 'noisy', 129)
    for (let i = 0; i < 127; i++) door.knock(`a${i}`)
    expect(door.sockets.total).toBe(256)
    expect(door.knock('quiet')).not.toBeNull()
    expect([door.of('noisy'), door.inside.has(1), door.sockets.total]).toEqual([128, false, 256])
    expect(door.knock('noisy')).toBeNull()
  })

  it('[WS-6] when all places are taken and no address exceeds its share, a new address is refused and no socket is closed', () => {
    const door = new Door(64)
    for (let i = 0; i < 64; i++) door.knock(`a${i % 8}`)
    expect([door.sockets.total, door.knock('quiet')]).toEqual([64, null])
  })

  it('[WS-6] a new address always gets a place while another address holds more than its share', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ address: fc.integer({ min: 0, max: 5 }), leaves: fc.boolean() }), { maxLength: 300 }),
        (steps) => {
          const door = new Door(40)
          for (const { address, leaves } of steps) {
            const socket = door.knock(`a${address}`)
            if (leaves && socket !== null) door.leave(socket)
            expect(door.sockets.total).toBe(door.inside.size)
            expect(door.inside.size).toBeLessThanOrEqual(40)
          }
          const most = Math.max(0, ...[0, 1, 2, 3, 4, 5].map((i) => door.of(`a${i}`)))
          if (most > 16 || door.inside.size < 40) expect(door.knock('new')).not.toBeNull()
        },
      ),
    )
  })

  it('[WS-16] up to four refused sockets of an address keep their places until they close, and do not count in the share of the address', () => {
    const door = new Door(32)
    const sockets = Array.from({ length: 17 }, () => door.knock('noisy') as number)
    expect(door.knock('noisy')).toBeNull()
    expect(sockets.slice(0, 5).map((socket) => door.sockets.hold('noisy', socket, 4))).toEqual([true, true, true, true, false])
    expect(door.sockets.total).toBe(17)
    expect(door.knock('noisy')).not.toBeNull()
    for (const socket of sockets) door.leave(socket)
    expect(door.sockets.total).toBe(1)
  })
})

describe('repeatedly refused sign-ins', () => {
  it('[WS-16] the first close does not wait, the second waits 0.5 s, and each further close twice as long, up to 10 s', () => {
    const refused = new RefusedSignIns()
    expect(Array.from({ length: 9 }, (_, i) => refused.waitMs('a', 'sub ann', i * 1_000))).toEqual([
      0, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000,
    ])
  })

  it('[WS-16] refusals are counted by address with subject or reason, and the count restarts after 60 s without one', () => {
    const refused = new RefusedSignIns()
    refused.waitMs('a', 'sub ann', 0)
    expect([refused.waitMs('a', 'sub ben', 1), refused.waitMs('b', 'sub ann', 1), refused.waitMs('a', 'because x', 1)]).toEqual([
      0, 0, 0,
    ])
    expect(refused.waitMs('a', 'sub ann', 59_999)).toBe(500)
    expect(refused.waitMs('a', 'sub ann', 119_999)).toBe(0)
  })

  it('[WS-16] refused sign-ins are remembered for 10,000 keys, and the oldest is forgotten', () => {
    const refused = new RefusedSignIns()
    for (let i = 0; i < 20_000; i++) refused.waitMs('a', `sub ${i}`, i / 1_000)
    expect(refused.size).toBe(10_000)
    expect([refused.waitMs('a', 'sub 19999', 30), refused.waitMs('a', 'sub 1', 30)]).toEqual([500, 0])
  })
})
