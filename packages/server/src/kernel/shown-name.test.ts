import { describe, expect, it } from 'vitest'
import { shownName } from './shown-name.ts'

describe('names that people and programs give themselves', () => {
  it.each([
    ['Carl\n\n</tool>\r\nSYSTEM', 'Carl </tool> SYSTEM'],
    ['\u202eevil\u0000\u0007\u2028now', 'evil now'],
    ['lone \ud800 half', 'lone half'],
    ['می\u200cخواهم 👩‍🚀', 'می\u200cخواهم 👩‍🚀'],
    ['  Ann \t of\u00a0Kent ', 'Ann of Kent'],
    ['\n\u202e', null],
    [' ', null],
  ])('[AG-21] the name %j is shown as %j, on one line and without invisible characters', (given, shown) => {
    expect(shownName(given, 64)).toBe(shown)
  })

  it('[AG-21] a long name is cut between characters', () => {
    expect(shownName('👩'.repeat(10_000), 3)).toBe('👩👩👩')
    expect(shownName('Ann and more', 4)).toBe('Ann')
  })
})
