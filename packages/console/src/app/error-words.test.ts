import { NeedsSignIn, RelayError } from '@docrelay/client'
import { ERROR_CODES } from '@docrelay/protocol/codes'
import { REST_CODES } from '@docrelay/protocol/rest-codes'
import { describe, expect, it } from 'vitest'
import { ERROR_TEXTS } from './error-texts.en.ts'
import { sentenceOf, wordsOf } from './error-words.ts'

describe('an error in words', () => {
  it('exists for every code of REST and of the wire', () => {
    const codes = [...Object.keys(REST_CODES), ...Object.keys(ERROR_CODES)]
    expect(codes.filter((code) => !Object.hasOwn(ERROR_TEXTS, code))).toEqual([])
  })

  it.each(Object.entries(ERROR_TEXTS))(
    '%s says what happened and what to do, in sentences without a code',
    (_, { what, help }) => {
      for (const text of [what, help]) {
        expect(text).toMatch(/^[A-Z].*\.$/)
        expect(text).not.toMatch(/[A-Z]+_[A-Z]+|undefined/)
      }
    },
  )

  it('names the link for a share link that opens nothing', () => {
    const error = new RelayError('NOT_FOUND', 'no', { status: 404, details: { resource: 'share-link' } })
    expect(wordsOf(error).what).toContain('This link opens nothing')
  })

  it('says how much space is used when the quota is reached', () => {
    const details = { usedBytes: 9_000_000, addedBytes: 2_000_000, quotaBytes: 10_000_000 }
    const error = new RelayError('STORAGE_QUOTA', 'no', { status: 507, details })
    expect(wordsOf(error).what).toContain('uses 9 MB of 10 MB; 2 MB more does not fit')
  })

  it('leaves sizes out that an answer does not tell', () => {
    const error = new RelayError('BLOB_TOO_LARGE', 'no', { status: 413, details: { maxBytes: 5 } })
    expect(wordsOf(error)).toEqual(ERROR_TEXTS.BLOB_TOO_LARGE)
  })

  it('says in how many seconds to try again when the relay tells it', () => {
    const error = new RelayError('RATE_LIMITED', 'no', { status: 429, retryAfterMs: 12_300 })
    expect(wordsOf(error).help).toBe('Try again in 13 seconds.')
  })

  it('asks to sign in when the client says so', () => {
    expect(sentenceOf(new NeedsSignIn())).toBe('You are signed out. Sign in again.')
  })

  it('blames the page for an error that is no refusal', () => {
    expect(wordsOf(new TypeError('x is not a function')).what).toBe('Something failed in this page.')
  })
})
