import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRfc3339 } from './rfc3339.ts'

const NOW = Date.UTC(2026, 10, 21)
const iso = (ms: number) => new Date(ms).toISOString()

describe('RFC 3339 times', () => {
  it.each([
    ['2026-11-21T00:00:00Z', NOW],
    ['2026-11-21t00:00:00z', NOW],
    ['2026-11-21T05:30:00+05:30', NOW],
    ['2026-11-20T19:00:00-05:00', NOW],
    ['2026-11-21T00:00:00-00:00', NOW],
    ['2026-11-21T00:00:00.5Z', NOW + 500],
    ['2026-11-21T00:00:00.0129999999Z', NOW + 12],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2016-12-31T18:59:60-05:00', Date.UTC(2017, 0, 1)],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
  ])('[SHARE-1] [REST-29] %s is read as its time', (text, ms) => expect(readRfc3339(text)).toBe(ms))

  it.each([
    '2026-11-21',
    '2026-11-21T00:00:00',
    '2026-11-21T00:00Z',
    '2026-11-21 00:00:00Z',
    '2026-11-21T00:00:00,5Z',
    '2026-11-21T00:00:00.Z',
    '2026-11-21T00:00:00+0530',
    '2026-11-21T00:00:00+24:00',
    '2026-11-21T00:00:00+00:60',
    '2026-11-21T24:00:00Z',
    '2026-11-21T23:60:00Z',
    '2026-11-21T12:00:60Z',
    '2026-11-21T23:59:61Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '+02026-01-01T00:00:00Z',
    ' 2026-11-21T00:00:00Z',
    '2026-11-21T00:00:00Z\n',
    'Sat, 21 Nov 2026 00:00:00 GMT',
    `2026-11-21T00:00:00.${'0'.repeat(100)}Z`,
    '',
    NOW,
    null,
    undefined,
  ])('[SHARE-1] [REST-29] %j is refused', (value) => expect(readRfc3339(value)).toBe(null))

  it('[SHARE-1] [REST-29] a time written by the clock is read back, in every zone', () => {
    const time = fc.integer({ min: Date.UTC(1000, 0), max: Date.UTC(9000, 0) })
    const zone = fc.tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    fc.assert(
      fc.property(time, zone, (ms, [sign, hours, minutes]) => {
        const offsetMs = (hours * 60 + minutes) * 60_000 * (sign === '-' ? -1 : 1)
        const two = (value: number) => String(value).padStart(2, '0')
        expect(readRfc3339(iso(ms + offsetMs).replace('Z', `${sign}${two(hours)}:${two(minutes)}`))).toBe(ms)
      }),
      { seed: 1, numRuns: 300 },
    )
  })
})
