import { describe, expect, it } from 'vitest'
import { fromStat } from './processor-seconds.ts'

describe('what a test file costs', () => {
  it('the processor time of ended children counts as that of their parent, whatever its name', () => {
    const stat = '4711 (node (a) b) S 1 4711 4711 0 -1 4194304 5000 60 7 8 1200 300 45 5 20 0 11 0 9000 1 2'
    expect(fromStat(stat)).toBe(15.5)
  })
})
