import { describe, expect, it } from 'vitest'
import { callResult, failure, success } from './results.ts'

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
