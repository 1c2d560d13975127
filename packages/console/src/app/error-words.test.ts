import { NeedsSignIn, RelayError } from '@docrelay/client'
import { ERROR_CODES } from '@docrelay/protocol/codes'
import { REST_CODES } from '@docrelay/protocol/rest-codes'
import { describe, expect, it } from 'vitest'
import { ERROR_TEXTS } from './error-texts.en.ts'
import { sentenceOf, wordsOf } from './error-words.ts'

describe('the words for an error', () => {
  it('exist for every code of REST and of the wire', () => {
    const codes = [...Object.keys(REST_CODES), ...Object.keys(ERROR_CODES)]
    expect(codes.filter((code) => !Object.hasOwn(ERROR_TEXTS, code))).toEqual([])
  })

  it.each(Object.entries(ERROR_TEXTS))(
    'of %s say what happened and what to do, in sentences without a code',
    (_, { what, help }) => {
      for (const text of [what, help]) {
        expect(text).toMatch(/^[A-Z].*\.$/)
        expect(text).not.toMatch(/[A-Z]+_[A-Z]+|undefined/)
      }
    },
  )

  it('name the link when a share link opens nothing', () => {
    const error = new RelayError('NOT_FOUND', 'no', { status: 404, details: { resource: 'share-link' } })
    expect(wordsOf(error).what).toContain('This link opens nothing')
  })

  it('name the used space when the quota is reached', () => {
    const details = { usedBytes: 9_000_000, addedBytes: 2_000_000, quotaBytes: 10_000_000 }
    const error = new RelayError('STORAGE_QUOTA', 'no', { status: 507, details })
    expect(wordsOf(error).what).toContain('uses 9 MB of 10 MB; 2 MB more does not fit')
  })

  it('leave out sizes that an answer does not contain', () => {
    const error = new RelayError('BLOB_TOO_LARGE', 'no', { status: 413, details: { maxBytes: 5 } })
    expect(wordsOf(error)).toEqual(ERROR_TEXTS.BLOB_TOO_LARGE)
  })

  it('say in how many seconds to try again when the relay says so', () => {
    const error = new RelayError('RATE_LIMITED', 'no', { status: 429, retryAfterMs: 12_300 })
    expect(wordsOf(error).help).toBe('Try again in 13 seconds.')
  })

  it('ask to sign in for NEEDS_SIGN_IN', () => {
    expect(sentenceOf(new NeedsSignIn())).toBe('You are signed out. Sign in again.')
  })

  it('blame the page for an error that is not a RelayError', () => {
    expect(wordsOf(new TypeError('x is not a function')).what).toBe('Something failed in this page.')
  })
})
