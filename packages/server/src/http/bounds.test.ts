import { describe, expect, it } from 'vitest'
import { createBodyBudget, createPurse } from './body-budget.ts'
import { documentBodyLimit } from './request-body.ts'
import { createSourceLimit } from './source-limit.ts'

const MIB = 1024 * 1024
const refused = expect.objectContaining({ code: 'UNAVAILABLE' })

const writersOf = (workspaceId: string) => ({ kind: 'writers', workspaceId }) as const

describe('limits on request bodies', () => {
  it('[REST-7] [H3] document routes accept 128 MiB, or a quarter more than a higher configured limit', () => {
    expect([null, 1000, 128 * MIB, 200 * MIB].map(documentBodyLimit)).toEqual([128 * MIB, 128 * MIB, 160 * MIB, 250 * MIB])
  })

  it('[H3] a workspace may have four bodies above 16 MiB in flight, and smaller ones are not delayed', () => {
    const budget = createBodyBudget(128 * MIB)
    const large = Array.from({ length: 4 }, () => budget.open(writersOf('w')))
    for (const account of large) account.hold(17 * MIB)
    expect(() => budget.open(writersOf('w')).hold(17 * MIB)).toThrow(refused)
    budget.open(writersOf('w')).hold(16 * MIB)
    budget.open(writersOf('other')).hold(17 * MIB)
    large[0]?.release()
    large[0]?.release()
    budget.open(writersOf('w')).hold(17 * MIB)
    expect(() => budget.open(writersOf('w')).hold(17 * MIB)).toThrow(refused)
  })

  it('[H3] all workspaces share a limit, which grows with the largest body limit', () => {
    const fill = (limit: number) => {
      const budget = createBodyBudget(limit)
      let held = 0
      for (let workspace = 0; ; workspace++) {
        try {
          budget.open(writersOf(`w${workspace}`)).hold(64 * MIB)
          held += 64
        } catch {
          return held
        }
      }
    }
    expect([fill(128 * MIB), fill(512 * MIB)]).toEqual([512, 1024])
  })

  it('[H3] an arriving body of the workspace that holds most is dropped in favour of one that holds less', () => {
    const purse = createPurse({ totalBytes: 100, shareBytes: 60 })
    const [old, arrived] = [purse.open('noisy'), purse.open('noisy')]
    old.hold(25)
    arrived.hold(30)
    arrived.arrived()
    const other = purse.open('other')
    other.hold(40)
    other.arrived()
    const quiet = purse.open('quiet')
    quiet.hold(10)
    expect([old.givenUp.aborted, arrived.givenUp.aborted]).toEqual([true, false])
    expect(old.givenUp.reason).toEqual(refused)
    expect(() => old.hold(26)).toThrow(refused)
    old.release()
    // The purse is full again: 30, 40 and 30 bytes make 100.
    quiet.hold(30)
    expect(() => purse.open('noisy').hold(1)).toThrow(refused)
  })

  it('[H3] the workspace that holds the most is refused itself, and none gets more than its share', () => {
    const purse = createPurse({ totalBytes: 100, shareBytes: 60 })
    purse.open('quiet').hold(45)
    purse.open('noisy').hold(50)
    expect(() => purse.open('noisy').hold(6)).toThrow(refused)
    const alone = createPurse({ totalBytes: 100, shareBytes: 60 })
    alone.open('noisy').hold(60)
    expect(() => alone.open('noisy').hold(1)).toThrow(/exceed 60 bytes/)
    alone.open('quiet').hold(40)
  })

  it('[H3] a workspace may send 1,024 bodies at a time, not counting those that have arrived', () => {
    const purse = createPurse({ totalBytes: 100, shareBytes: 100 })
    const all = Array.from({ length: 1_024 }, () => purse.open('noisy'))
    expect(() => purse.open('noisy')).toThrow(refused)
    purse.open('quiet')
    all[0]?.arrived()
    const next = purse.open('noisy')
    all[0]?.release()
    expect(() => purse.open('noisy')).toThrow(refused)
    next.release()
    next.release()
    purse.open('noisy')
    expect(() => purse.open('noisy')).toThrow(refused)
  })

  it('[H3] viewers and internal routes have their own limits and take nothing from writers', () => {
    const budget = createBodyBudget(128 * MIB)
    const viewers = { kind: 'viewers', workspaceId: 'w' } as const
    budget.open(viewers).hold(32 * MIB)
    expect(() => budget.open(viewers).hold(1)).toThrow(refused)
    budget.open({ kind: 'viewers', workspaceId: 'other' }).hold(MIB)
    budget.open({ kind: 'internal' }).hold(16 * MIB)
    expect(() => budget.open({ kind: 'internal' }).hold(1)).toThrow(refused)
    for (let i = 0; i < 4; i++) budget.open(writersOf('w')).hold(64 * MIB)
    expect(() => budget.open(writersOf('w')).hold(1)).toThrow(refused)
  })

  it('[H1] an address may have 512 unauthenticated requests, each counted until it is authenticated', () => {
    const sources = createSourceLimit()
    const leave = Array.from({ length: 512 }, () => sources.enter('10.0.0.1'))
    expect(() => sources.enter('10.0.0.1')).toThrow(refused)
    sources.enter('10.0.0.2')
    leave[0]?.()
    sources.enter('10.0.0.1')
    expect(() => sources.enter('10.0.0.1')).toThrow(refused)
  })
})
