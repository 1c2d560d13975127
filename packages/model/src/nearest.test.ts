import { describe, expect, it } from 'vitest'
import { nearestNames } from './nearest.ts'
import { quote } from './quote.ts'

describe('words of errors', () => {
  it('[PROSE-53] the nearest names come first, case aside, equal ones in the order given', () => {
    expect(nearestNames('clinet', ['Project', 'Client', 'Clients', 'Date'])).toEqual(['Client', 'Clients', 'Project'])
    expect(nearestNames('x', ['b', 'a'])).toEqual(['b', 'a'])
    expect(nearestNames('x', [])).toEqual([])
  })

  it('[TOOL-14] long names and many candidates take bounded time', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `name ${i} `.repeat(50))
    const start = process.threadCpuUsage().user
    expect(nearestNames('n'.repeat(1_000_000), many)).toHaveLength(3)
    expect(process.threadCpuUsage().user - start).toBeLessThan(100_000)
  })

  it('[TOOL-14] quotes are cut after 120 characters, never inside one', () => {
    expect(quote('x'.repeat(120))).toBe('x'.repeat(120))
    expect(quote('x'.repeat(121))).toBe(`${'x'.repeat(120)}…`)
    expect(quote('😀'.repeat(120))).toBe('😀'.repeat(120))
    expect(quote('😀'.repeat(121))).toBe(`${'😀'.repeat(120)}…`)
  })
})
