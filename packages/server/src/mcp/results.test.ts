import { describe, expect, it } from 'vitest'
import { callResult, failure, notes, success } from './results.ts'

describe('a result', () => {
  it('[TOOL-7] [TOOL-8] says the same as text and as data', () => {
    expect(callResult(success({ a: [1] }))).toEqual({
      content: [{ type: 'text', text: '{"a":[1]}' }],
      structuredContent: { a: [1] },
      isError: false,
    })
    expect(callResult(failure('ERR_LAST_PAGE', 'it is the last.', { pageId: 'p' }))).toEqual({
      content: [{ type: 'text', text: 'ERR_LAST_PAGE: it is the last.' }],
      structuredContent: { code: 'ERR_LAST_PAGE', message: 'it is the last.', pageId: 'p' },
      isError: true,
    })
  })
})

describe('fixes and warnings', () => {
  const fix = (reason: string, path?: string) => ({ action: 'unwrapped', reason, ...(path !== undefined && { path }) }) as const

  it('[TOOL-17] [TOOL-19] are absent when there are none', () => {
    expect(notes({ fixes: [], warnings: [] })).toEqual({})
    expect(notes({ fixes: [fix('a')], warnings: [{ reason: 'w' }] })).toEqual({ fixes: [fix('a')], warnings: [{ reason: 'w' }] })
  })

  it('[TOOL-18] are merged when equal, with their count, and cut at 50 with their total', () => {
    const given = [fix('a', '0/p'), fix('b'), fix('a', '1/p')]
    expect(notes({ fixes: given, warnings: [] })).toEqual({ fixes: [fix('a (2 times)', '0/p'), fix('b')] })
    const many = Array.from({ length: 51 }, (_, i) => fix(`r${i}`))
    const cut = notes({ fixes: many, warnings: [] })
    expect(cut['fixes']).toEqual(many.slice(0, 50))
    expect(cut['fixesTotal']).toBe(51)
  })
})
