import { describe, expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import { readExpiry } from './expiry.ts'

const NOW = Date.UTC(2026, 10, 21)
const DAY = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString()

describe('expiry of a share link', () => {
  const refusal = (value: unknown): unknown => {
    try {
      return readExpiry(value, NOW)
    } catch (error) {
      return error instanceof RelayError ? [error.code, error.details] : error
    }
  }

  it('[SHARE-1] the expiry must be later than now and at most 365 days ahead', () => {
    expect(refusal(iso(NOW + 1))).toBe(NOW + 1)
    expect(refusal(iso(NOW + 365 * DAY))).toBe(NOW + 365 * DAY)
    expect(refusal(iso(NOW))).toEqual(['BAD_REQUEST', { field: 'expires_at' }])
    expect(refusal(iso(NOW + 365 * DAY + 1))).toEqual(['BAD_REQUEST', { field: 'expires_at', limit: 365 }])
    expect(refusal('soon')).toEqual(['BAD_REQUEST', { field: 'expires_at' }])
    expect(refusal(undefined)).toEqual(['BAD_REQUEST', { field: 'expires_at' }])
  })
})
