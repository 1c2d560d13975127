import { describe, expect, it } from 'vitest'
import { notes, withMoreWarnings } from './notes.ts'

describe('fixes and warnings', () => {
  const fix = (reason: string, path?: string) => ({ action: 'unwrapped', reason, ...(path !== undefined && { path }) }) as const

  it('[TOOL-17] [TOOL-19] empty fixes and warnings are left out of an answer', () => {
    expect(notes({ fixes: [], warnings: [] })).toEqual({})
    expect(notes({ fixes: [fix('a')], warnings: [{ reason: 'w' }] })).toEqual({ fixes: [fix('a')], warnings: [{ reason: 'w' }] })
  })

  it('[TOOL-18] equal fixes and warnings are merged with their count, and cut at 50 with their total', () => {
    const given = [fix('a', '0/p'), fix('b'), fix('a', '1/p')]
    expect(notes({ fixes: given, warnings: [] })).toEqual({ fixes: [fix('a (2 times)', '0/p'), fix('b')] })
    const many = Array.from({ length: 51 }, (_, i) => fix(`r${i}`))
    const cut = notes({ fixes: many, warnings: [] })
    expect(cut['fixes']).toEqual(many.slice(0, 50))
    expect(cut['fixesTotal']).toBe(51)
  })

  it('[TOOL-18] equal warnings that are added to a full list count once in its total', () => {
    const full = notes({ fixes: [], warnings: Array.from({ length: 51 }, (_, i) => ({ reason: `r${i}` })) })
    const told = withMoreWarnings(full, [{ reason: 'dead link' }, { reason: 'dead link' }])
    expect(told['warnings']).toHaveLength(50)
    expect(told['warningsTotal']).toBe(52)
  })
})
