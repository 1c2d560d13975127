import { describe, expect, it } from 'vitest'
import { PieceSize } from './room-cut.ts'

/** Returns sizes and times of all pieces of an update with `structs` structs, when a piece of n structs takes `ms(n)`. */
function pieces(structs: number, ms: (n: number) => number): { readonly sizes: number[]; readonly times: number[] } {
  const sizes: number[] = []
  const times: number[] = []
  const size = new PieceSize(16_384)
  for (let left = structs; left > 0; ) {
    const { next } = size
    sizes.push(next)
    times.push(ms(next))
    size.took(ms(next))
    left -= next
  }
  return { sizes, times }
}

describe('the size of the pieces of a costly update', () => {
  it('[G9] pieces grow while they are quick, and stay near 4 ms', () => {
    const { sizes, times } = pieces(20_000, (n) => n * 0.01)
    expect(sizes.slice(0, 3)).toEqual([64, 256, 400])
    expect(Math.max(...times.slice(3))).toBeLessThan(8)
    expect(Math.min(...sizes.slice(3))).toBeGreaterThan(200)
  })

  it('[G9] a piece that is far too slow makes the next piece small at once', () => {
    const { sizes } = pieces(2_000, (n) => (n < 200 ? 0.1 : n))
    expect(sizes.slice(0, 3)).toEqual([64, 256, 4])
  })

  it('[G9] pieces do not become small when every transaction takes long regardless of its size', () => {
    const { sizes, times } = pieces(29_120, (n) => 6 + n * 0.001)
    expect(sizes.length).toBeLessThan(60)
    expect(Math.max(...times)).toBeLessThan(25)
  })

  it('[G9] no piece is empty, even when a piece of one struct takes too long', () => {
    const { sizes } = pieces(100, (n) => n * 500)
    expect(new Set(sizes.slice(1))).toEqual(new Set([1]))
  })

  it('[C1] no piece is larger than its home allows', () => {
    const size = new PieceSize(64)
    size.took(0.01)
    expect(size.next).toBe(64)
  })
})
