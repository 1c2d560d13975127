import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyCharacter } from './any-character.ts'

it('strings of any characters are sometimes the names that objects have by themselves, and have no lone surrogate', () => {
  const made: string[] = []
  const text = fc.string({ unit: anyCharacter, maxLength: 40 })
  fc.check(
    fc.property(text, (each) => void made.push(each)),
    { numRuns: 3_000, seed: 7 },
  )
  expect(made.filter((each) => each in {}).length).toBeGreaterThan(0)
  expect(made.every((each) => each.isWellFormed())).toBe(true)
})
