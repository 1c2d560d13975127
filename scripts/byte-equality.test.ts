import { describe, expect, it } from 'vitest'
import { threadTime } from '../packages/model/src/testing/thread-time.ts'
import { sameBytes } from './byte-equality.ts'

const bytes = (...values: readonly number[]) => Uint8Array.from(values)

describe('bytes in expectations', () => {
  it('equal bytes of one class are equal without a look at each, also inside other values', () => {
    expect(sameBytes(bytes(1, 2), bytes(1, 2))).toBe(true)
    expect({ list: [bytes(1, 2)] }).toStrictEqual({ list: [bytes(1, 2)] })
    const long = new Uint8Array(20_000_000)
    const same = long.slice()
    const took = threadTime()
    expect(long).toEqual(same)
    expect(took()).toBeLessThan(500)
  })

  it('other bytes, other lengths and other classes are left to the runner, which tells them apart', () => {
    for (const other of [bytes(1, 3), bytes(1), bytes(1, 2, 0), Buffer.from([1, 2]), new Uint16Array([1, 2]), [1, 2], null]) {
      expect(sameBytes(bytes(1, 2), other)).toBeUndefined()
      expect([bytes(1, 2)]).not.toStrictEqual([other])
    }
    expect(bytes(1, 2)).not.toEqual(bytes(1, 3))
    expect(bytes(1, 2)).not.toEqual(bytes(1, 2, 0))
  })
})
