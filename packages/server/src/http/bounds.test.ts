import { describe, expect, it } from 'vitest'
import { createBodyBudget } from './body-budget.ts'
import { documentBodyLimit } from './request-body.ts'
import { createSourceLimit } from './source-limit.ts'

const MIB = 1024 * 1024
const refused = expect.objectContaining({ code: 'UNAVAILABLE' })

describe('bounds', () => {
  it('[REST-7] [H3] document routes take 128 MiB, or a quarter more than a higher configured ceiling', () => {
    expect([null, 1000, 128 * MIB, 200 * MIB].map(documentBodyLimit)).toEqual([128 * MIB, 128 * MIB, 160 * MIB, 250 * MIB])
  })

  it('[H3] a workspace has at most four bodies above 16 MiB in flight, others are not held up', () => {
    const budget = createBodyBudget(128 * MIB)
    const large = Array.from({ length: 4 }, () => budget.open('w'))
    for (const account of large) account.hold(17 * MIB)
    expect(() => budget.open('w').hold(17 * MIB)).toThrow(refused)
    budget.open('w').hold(16 * MIB)
    budget.open('other').hold(17 * MIB)
    large[0]?.release()
    large[0]?.release()
    budget.open('w').hold(17 * MIB)
    expect(() => budget.open('w').hold(17 * MIB)).toThrow(refused)
  })

  it('[H3] the process has a bound over all workspaces, which grows with the largest limit', () => {
    const fill = (limit: number) => {
      const budget = createBodyBudget(limit)
      let held = 0
      for (let workspace = 0; ; workspace++) {
        try {
          budget.open(`w${workspace}`).hold(64 * MIB)
          held += 64
        } catch {
          return held
        }
      }
    }
    expect([fill(128 * MIB), fill(512 * MIB)]).toEqual([512, 1024])
  })

  it('[H1] an address has at most 512 requests that are not yet authenticated, each counted out once it is', () => {
    const sources = createSourceLimit()
    const leave = Array.from({ length: 512 }, () => sources.enter('10.0.0.1'))
    expect(() => sources.enter('10.0.0.1')).toThrow(refused)
    sources.enter('10.0.0.2')
    leave[0]?.()
    sources.enter('10.0.0.1')
    expect(() => sources.enter('10.0.0.1')).toThrow(refused)
  })
})
