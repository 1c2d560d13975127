import { describe, expect, it } from 'vitest'
import { callResult, failure, success } from './results.ts'

describe('tool results', () => {
  it('[TOOL-7] [TOOL-8] a tool result has the same content as text and as data, and pictures after the text', () => {
    expect(callResult(success({ a: [1] }))).toEqual({
      content: [{ type: 'text', text: '{"a":[1]}' }],
      structuredContent: { a: [1] },
      isError: false,
    })
    expect(callResult(success({ a: 1 }, [new Uint8Array([1, 2, 3])]))['content']).toEqual([
      { type: 'text', text: '{"a":1}' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ])
    expect(callResult(failure('ERR_LAST_PAGE', 'it is the last.', { pageId: 'p' }))).toEqual({
      content: [{ type: 'text', text: 'ERR_LAST_PAGE: it is the last.' }],
      structuredContent: { code: 'ERR_LAST_PAGE', message: 'it is the last.', pageId: 'p' },
      isError: true,
    })
  })
})
