import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyCharacter } from './any-character.ts'

it('a generated string is sometimes the name of a member that every object has, and never has a lone surrogate', () => {
  const made: string[] = []
  const text = fc.string({ unit: anyCharacter, maxLength: 40 })
  fc.check(
    fc.property(text, (each) => void made.push(each)),
    { numRuns: 3_000, seed: 7 },
  )
  expect(made.filter((each) => each in {}).length).toBeGreaterThan(0)
  expect(made.every((each) => each.isWellFormed())).toBe(true)
})
