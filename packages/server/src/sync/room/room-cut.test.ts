import { describe, expect, it } from 'vitest'
import { nextSize } from './room-cut.ts'

/** Sizes and times of pieces until `structs` are applied, when a piece of n structs takes `ms(n)`. */
function pieces(structs: number, ms: (n: number) => number): { readonly sizes: number[]; readonly times: number[] } {
  const sizes: number[] = []
  const times: number[] = []
  let before: { structs: number; tookMs: number } | null = null
  let size = 64
  for (let left = structs; left > 0; left -= size) {
    const applied = { structs: size, tookMs: ms(size) }
    sizes.push(size)
    times.push(applied.tookMs)
    size = nextSize(applied, before)
    before = applied
  }
  return { sizes, times }
}

describe('the size of the pieces of a costly update', () => {
  it('[G9] pieces grow while they are quick, and stay near 4 ms', () => {
    const { sizes, times } = pieces(20_000, (n) => n * 0.01)
    expect(sizes.slice(0, 3)).toEqual([64, 256, 625])
    expect(Math.max(...times.slice(3))).toBeLessThan(8)
    expect(Math.min(...sizes.slice(3))).toBeGreaterThan(200)
  })

  it('[G9] a piece that is far too slow makes the next one small at once', () => {
    expect(nextSize({ structs: 1_000, tookMs: 400 }, { structs: 250, tookMs: 1 })).toBe(10)
  })

  it('[G9] where each transaction takes long whatever it brings, pieces do not become small in vain', () => {
    const { sizes, times } = pieces(29_120, (n) => 6 + n * 0.001)
    expect(sizes.length).toBeLessThan(60)
    expect(Math.max(...times)).toBeLessThan(25)
  })

  it('[G9] no piece is empty, however slow', () => {
    expect(nextSize({ structs: 1, tookMs: 500 }, { structs: 4, tookMs: 2_000 })).toBe(1)
  })
})
