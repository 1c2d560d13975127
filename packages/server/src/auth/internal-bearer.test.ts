import { describe, expect, it } from 'vitest'
import { createInternalBearer } from './internal-bearer.ts'

const SECRET = 'a-shared-secret-of-the-control-plane'

describe('the bearer of the internal routes', () => {
  const check = createInternalBearer(SECRET)

  it.each([
    ['the right secret', `Bearer ${SECRET}`, 'accepted'],
    ['the scheme in any case', `bEARER ${SECRET}`, 'accepted'],
    ['another secret of the same length', `Bearer ${SECRET.replace('a', 'b')}`, 'refused'],
    ['empty', 'Bearer ', 'refused'],
    ['longer', `Bearer ${SECRET}x`, 'refused'],
    ['shorter', `Bearer ${SECRET.slice(0, -1)}`, 'refused'],
    ['none', undefined, 'refused'],
    ['another scheme', `Basic ${SECRET}`, 'refused'],
    ['two headers', [`Bearer ${SECRET}`, `Bearer ${SECRET}`], 'refused'],
  ] as const)('[AUTH-17] [A-7] the internal bearer is accepted or refused: %s', (_, authorization, outcome) => {
    expect(check(authorization)).toBe(outcome)
  })

  it('[AUTH-17] a secret needs at least 16 characters, not bytes', () => {
    expect(() => createInternalBearer('é'.repeat(15))).toThrow('at least 16 characters')
    expect(createInternalBearer('é'.repeat(16))(`Bearer ${'é'.repeat(16)}`)).toBe('accepted')
  })

  it('[REST-29] without a configured secret every bearer is refused', () => {
    expect(createInternalBearer(null)(`Bearer ${SECRET}`)).toBe('not-configured')
  })

  it('[A-15] [AUTH-17] comparing takes as long for a wrong first character as for a wrong last one', () => {
    const wrongFirst = `Bearer b${SECRET.slice(1)}`
    const wrongLast = `Bearer ${SECRET.slice(0, -1)}b`
    // A busy machine may disturb one round. A comparison that stops early would show in every round.
    const gaps = [0, 1, 2].map(() => medianGapNs(check, wrongFirst, wrongLast))
    expect(Math.min(...gaps)).toBeLessThan(100)
  })
})

function medianGapNs(check: (value: string) => unknown, left: string, right: string): number {
  const times: [number[], number[]] = [[], []]
  for (let i = 0; i < 40_000; i++) {
    const side = (i & 1) as 0 | 1
    const value = side === 0 ? left : right
    const started = process.hrtime.bigint()
    check(value)
    times[side].push(Number(process.hrtime.bigint() - started))
  }
  const [a, b] = times.map((list) => list.sort((x, y) => x - y)[list.length / 2] ?? 0) as [number, number]
  return Math.abs(a - b)
}
