import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import { healProfiles } from './profiles.ts'

const profile = (more: Record<string, unknown> = {}) => ({
  id: 'p',
  name: 'Bold',
  properties: { fill: '#fff' },
  createdAt: 7,
  ...more,
})
const refusal = (list: unknown): unknown => {
  try {
    healProfiles(list)
  } catch (error) {
    return error instanceof RelayError ? { code: error.code, ...error.details } : error
  }
  return 'accepted'
}

describe('style profiles', () => {
  it('[REST-32] profiles keep their sequence and unknown members, and the first of each id is kept', () => {
    const list = [
      profile({ id: 'b', favorite: true, collectionIds: ['c'], icon: [1] }),
      profile({ id: 'a', name: ' as given ' }),
      profile({ id: 'b', name: 'later' }),
    ]
    expect(healProfiles(list)).toEqual(list.slice(0, 2))
  })

  it('[REST-32] values exactly at every limit are accepted', () => {
    const properties = { x: 'é'.repeat((16 * 1024 - 8) / 2) }
    expect(Buffer.byteLength(JSON.stringify(properties))).toBe(16 * 1024)
    const ids = Array.from({ length: 64 }, (_, i) => String(i).padStart(64, '.'))
    expect(healProfiles([profile({ properties, collectionIds: ids, name: '\u{1F525}'.repeat(120) })])).toHaveLength(1)
    const many = Array.from({ length: 501 }, (_, i) => profile({ id: `p${i}` }))
    expect(healProfiles([...many.slice(1), ...many.slice(1)])).toHaveLength(500)
    expect(refusal(many)).toEqual({ code: 'BAD_COLLECTIONS', field: 'profiles', limit: 500 })
  })

  it.each([
    ['id', 'x'.repeat(65), 64],
    ['id', '', 64],
    ['name', '', 120],
    ['name', 'x'.repeat(121), 120],
    ['name', undefined, 120],
    ['properties', { x: 'x'.repeat(16 * 1024) }, 16 * 1024],
    ['properties', [], 16 * 1024],
    ['properties', undefined, 16 * 1024],
    ['createdAt', undefined, undefined],
    ['createdAt', 1.5, undefined],
    ['createdAt', '2026-01-01', undefined],
    ['createdAt', -1, undefined],
    ['favorite', 'yes', undefined],
    ['favorite', null, undefined],
    ['collectionIds', 'c', 64],
    ['collectionIds', Array(65).fill('c'), 64],
    ['collectionIds', [7], 64],
    ['collectionIds', [''], 64],
  ])('[REST-32] a profile with %s %j answers BAD_COLLECTIONS', (field, value, limit) => {
    const outcome = refusal([profile({ id: 'ok' }), profile({ [field]: value })])
    expect(outcome).toEqual({ code: 'BAD_COLLECTIONS', index: 1, field, ...(limit !== undefined && { limit }) })
  })

  it('[REST-32] any value is accepted as a list or refused with BAD_COLLECTIONS', () => {
    const entry = fc.record({
      id: fc.string(),
      name: fc.string(),
      properties: fc.oneof(fc.object(), fc.jsonValue()),
      createdAt: fc.oneof(fc.nat(), fc.double()),
      collectionIds: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
    })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.uniqueArray(entry, { selector: ({ id }) => id })), (value) => {
        const outcome = refusal(value)
        if (outcome === 'accepted') expect(healProfiles(value)).toEqual(value)
        else expect(outcome).toMatchObject({ code: 'BAD_COLLECTIONS' })
      }),
      { seed: 32, numRuns: 300 },
    )
  })
})
