import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import { healDefinitions } from './definitions.ts'

const heal = (...list: unknown[]) => healDefinitions(list)
const refusal = (list: unknown): unknown => {
  try {
    healDefinitions(list)
  } catch (error) {
    return error instanceof RelayError ? { code: error.code, ...error.details } : error
  }
  return 'accepted'
}

describe('collection definitions', () => {
  it('[REST-25] missing color and order are filled in, names trimmed and unknown members kept', () => {
    expect(heal({ id: 'a', name: ' Plans\n' }, { id: 'b', name: 'B', color: 'teal', order: -1, icon: { deep: [null] } })).toEqual(
      [
        { id: 'b', name: 'B', color: 'teal', order: -1, icon: { deep: [null] } },
        { id: 'a', name: 'Plans', color: '#808080', order: 0 },
      ],
    )
  })

  it('[REST-25] definitions are sorted by order; equal ones keep their sequence, and a missing order is the position in the list', () => {
    const order = (...orders: (number | undefined)[]) =>
      heal(...orders.map((value, i) => ({ id: `c${i}`, name: 'n', ...(value !== undefined && { order: value }) }))).map(
        ({ id }) => id,
      )
    expect(order(5, 1, 5, 1)).toEqual(['c1', 'c3', 'c0', 'c2'])
    expect(order(undefined, undefined, 1, 0)).toEqual(['c0', 'c3', 'c1', 'c2'])
  })

  it('[REST-25] of several definitions with one id the first is kept, and limits apply to the cleaned list', () => {
    expect(heal({ id: 'a', name: 'first' }, { id: 'a', name: 'second' }).map(({ name }) => name)).toEqual(['first'])
    const many = Array.from({ length: 200 }, (_, i) => ({ id: `c${i}`, name: 'n' }))
    expect(healDefinitions([...many, ...many])).toHaveLength(200)
    expect(refusal([...many, { id: 'one more', name: 'n' }])).toEqual({
      code: 'BAD_COLLECTIONS',
      field: 'collections',
      limit: 200,
    })
  })

  it('[REST-25] ids and colors are limited in bytes, names in characters', () => {
    const [fire, e] = ['\u{1F525}', 'é']
    expect(heal({ id: e.repeat(32), name: fire.repeat(120), color: e.repeat(16) })).toHaveLength(1)
    expect(heal({ id: 'a', name: ` ${'x'.repeat(120)} ` })).toHaveLength(1)
    expect(refusal([{ id: `${e.repeat(32)}x`, name: 'n' }])).toMatchObject({ index: 0, field: 'id', limit: 64 })
    expect(refusal([{ id: 'a', name: fire.repeat(121) }])).toMatchObject({ field: 'name', limit: 120 })
    expect(refusal([{ id: 'a', name: 'n', color: `${e.repeat(16)}x` }])).toMatchObject({ field: 'color', limit: 32 })
  })

  it.each([
    [undefined, 'collections'],
    [{}, 'collections'],
    [[null], 'entry'],
    [[['a']], 'entry'],
    [[{ name: 'n' }], 'id'],
    [[{ id: '', name: 'n' }], 'id'],
    [[{ id: 7, name: 'n' }], 'id'],
    [[{ id: 'a' }], 'name'],
    [[{ id: 'a', name: ' \t\n' }], 'name'],
    [[{ id: 'a', name: 7 }], 'name'],
    [[{ id: 'a', name: 'n', color: '' }], 'color'],
    [[{ id: 'a', name: 'n', color: null }], 'color'],
    [[{ id: 'a', name: 'n', order: 1.5 }], 'order'],
    [[{ id: 'a', name: 'n', order: '1' }], 'order'],
    [[{ id: 'a', name: 'n', order: 2 ** 53 }], 'order'],
  ])('[REST-14] %j answers BAD_COLLECTIONS about %s', (list, field) => {
    expect(refusal(list)).toMatchObject({ code: 'BAD_COLLECTIONS', field })
  })

  it('[REST-14] the refused entry is named by its position, also after a duplicate', () => {
    expect(
      refusal([
        { id: 'a', name: 'n' },
        { id: 'a', name: 'n' },
        { id: 'b', name: '' },
      ]),
    ).toMatchObject({ index: 2, field: 'name' })
  })

  it('[BODY-7] members named like those of Object are plain members', () => {
    const [healed] = healDefinitions(JSON.parse('[{"id":"a","name":"n","__proto__":{"color":"red"},"constructor":1}]'))
    expect(JSON.parse(JSON.stringify(healed))).toEqual(
      JSON.parse('{"id":"a","name":"n","__proto__":{"color":"red"},"constructor":1,"color":"#808080","order":0}'),
    )
    expect(({} as Record<string, unknown>).color).toBe(undefined)
  })
})

describe('cleaning a list', () => {
  const definition = fc.record(
    {
      id: fc.string({ minLength: 1, maxLength: 3 }),
      name: fc.string({ minLength: 1, maxLength: 10 }).filter((name) => name.trim() !== ''),
      color: fc.constantFrom('red', '#fff'),
      order: fc.integer({ min: -3, max: 3 }),
      extra: fc.jsonValue(),
    },
    { requiredKeys: ['id', 'name'] },
  )

  it('[REST-25] cleaning twice equals cleaning once, loses no id, and sorts', () => {
    fc.assert(
      fc.property(fc.array(definition, { maxLength: 30 }), (list) => {
        const healed = healDefinitions(list)
        expect(healDefinitions(healed)).toEqual(healed)
        expect(new Set(healed.map(({ id }) => id))).toEqual(new Set(list.map(({ id }) => id)))
        expect(healed.every(({ order }, i) => i === 0 || (healed[i - 1]?.order ?? 0) <= order)).toBe(true)
        for (const { id, extra } of healed) expect(extra).toEqual(list.find((given) => given.id === id)?.extra)
      }),
      { seed: 25, numRuns: 300 },
    )
  })

  it('[REST-14] any value is accepted as a list or refused with BAD_COLLECTIONS', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.array(fc.object())), (value) => {
        const outcome = refusal(value)
        if (outcome !== 'accepted') expect(outcome).toMatchObject({ code: 'BAD_COLLECTIONS' })
      }),
      { seed: 14, numRuns: 300 },
    )
  })
})
