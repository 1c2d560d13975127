import { describe, expect, it } from 'vitest'
import { bodyFacts, boundedFacts } from './body-facts.ts'
import { settleTitle } from './body-title.ts'
import type { Json } from './json.ts'
import { bodyOf } from './testing/arbitrary.ts'

const factsOf = (members: { readonly [member: string]: Json }, clientVersion?: Json) =>
  bodyFacts(bodyOf({ id: 'doc', ...members }), clientVersion)

describe('the facts of a body in a head', () => {
  it('[BODY-16] a head shows the first 1,024 characters of a title, and never ends in half a character', () => {
    expect(factsOf({ name: 'x'.repeat(1_024) }).title).toBe('x'.repeat(1_024))
    expect(factsOf({ name: 'x'.repeat(5_000) }).title).toBe('x'.repeat(1_024))
    expect(factsOf({ title: `${'x'.repeat(1_023)}😀y` }).title).toBe('x'.repeat(1_023))
    expect(factsOf({ title: `${'x'.repeat(1_022)}😀y` }).title).toBe(`${'x'.repeat(1_022)}😀`)
  })

  it('[BODY-16] a head has tags, locks and last writer up to 8,192 characters of JSON, without a longer member', () => {
    const short = { tags: ['a', { deep: null }], lockedBy: 'ann', lockedByName: 'Ann', lockedAt: 5 }
    expect(factsOf(short).carried).toEqual(short)
    const { tags, ...locks } = short
    expect(factsOf({ ...short, tags: ['t'.repeat(9_000)] }).carried).toEqual(locks)
    expect(factsOf({ ...short, tags: Array.from({ length: 9_000 }, () => 1) }).carried).toEqual(locks)
    expect(factsOf({ ...short, tags: { ['k'.repeat(9_000)]: 1 } }).carried).toEqual(locks)
    expect(factsOf({ ...short, lockedByName: 'n'.repeat(9_000) }).carried).toEqual({ tags, lockedBy: 'ann', lockedAt: 5 })
    const halves = { lockedBy: 'a'.repeat(5_000), lastModifiedBy: 'b'.repeat(5_000), tags }
    expect(Object.keys(factsOf(halves).carried)).toEqual(['lockedBy', 'tags'])
  })

  it('[BODY-16] [CFG-2] the version of a client is in a head when it has at most 256 characters of JSON', () => {
    for (const short of [3, 1.5, '2.0', true, null, { major: 2 }]) expect(factsOf({}, short).clientVersion).toBe(short)
    for (const long of [{ major: 'v'.repeat(256) }, Array.from({ length: 200 }, () => 1), 'v'.repeat(257)])
      expect(factsOf({}, long)).not.toHaveProperty('clientVersion')
  })

  it('[BODY-16] facts that an earlier release stored are bounded, and bounded facts stay the same', () => {
    const bounded = factsOf({ name: 'Plan', tags: ['a'] }, 2)
    expect(boundedFacts(bounded)).toBe(bounded)
    const older = {
      ...bounded,
      title: 'x'.repeat(5_000),
      carried: { lockedBy: 'ann', tags: ['t'.repeat(9_000)] },
      clientVersion: 'v'.repeat(300),
    }
    const shown = { ...factsOf({ name: 'Plan' }), title: 'x'.repeat(1_024), carried: { lockedBy: 'ann' } }
    expect(boundedFacts(older)).toEqual(shown)
  })

  it('[BODY-16] a title cut for a head is never written back as the title of the body', () => {
    const long = 'x'.repeat(5_000)
    expect(settleTitle(long, long, factsOf({ name: long }).title)).toBe(long)
  })
})
