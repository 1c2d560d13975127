import { describe, expect, it } from 'vitest'
import { ERRORS } from '../kernel/errors.ts'
import type { TokenRefusal } from './principal.ts'
import { refusalError, unauthenticated, wrongSecret, wwwAuthenticate } from './refusals.ts'

describe('answers to refused tokens', () => {
  const rows: readonly (readonly [TokenRefusal, string, number])[] = [
    ['token malformed', 'TOKEN_MALFORMED', 400],
    ['unsupported algorithm', 'TOKEN_INVALID', 401],
    ['unknown key', 'TOKEN_INVALID', 401],
    ['bad signature', 'TOKEN_INVALID', 401],
    ['issuer mismatch', 'TOKEN_INVALID', 401],
    ['audience mismatch', 'TOKEN_INVALID', 401],
    ['token expired', 'TOKEN_INVALID', 401],
    ['token issued in the future', 'TOKEN_INVALID', 401],
    ['missing claim jti', 'TOKEN_INVALID', 401],
    ['token revoked', 'TOKEN_REVOKED', 401],
    ['jwks unavailable', 'JWKS_UNAVAILABLE', 401],
  ]

  it.each(rows)('[REST-14] [WS-60] a token refused for "%s" answers %s', (reason, code, status) => {
    const error = refusalError(reason)
    expect([error.code, ERRORS[error.code].status]).toEqual([code, status])
    expect(error.details).toEqual(
      code === 'TOKEN_INVALID' ? { reason } : code === 'JWKS_UNAVAILABLE' ? { retryAfterMs: 5_000 } : {},
    )
    expect(error.message).toMatch(/^[A-Z].*\.$/)
  })

  it('[AUTH-10] [REST-14] the message of JWKS_UNAVAILABLE contains the words that clients match', () => {
    expect(refusalError('jwks unavailable').message).toContain('jwks unavailable')
  })

  it('[AUTH-10] [REST-14] JWKS_UNAVAILABLE names a Retry-After, because it ends by itself', () => {
    const { code } = refusalError('jwks unavailable')
    expect(ERRORS[code].details).toContain('retryAfterMs')
    expect(refusalError('jwks unavailable').details.retryAfterMs).toBe(5_000)
  })

  it('[AUTH-1] a missing credential answers UNAUTHENTICATED with a challenge without error, a bad token one with error', () => {
    expect(unauthenticated().code).toBe('UNAUTHENTICATED')
    expect(wrongSecret(undefined)).toEqual(unauthenticated())
    expect(wrongSecret('Basic x')).toEqual(unauthenticated())
    expect(wrongSecret('Bearer wrong')).toMatchObject({ code: 'UNAUTHENTICATED', details: { tokenGiven: true } })
    expect([wwwAuthenticate(false), wwwAuthenticate(true)]).toEqual(['Bearer', 'Bearer error="invalid_token"'])
  })
})
