import { describe, expect, it } from 'vitest'
import { takeNamedPerson } from './named-person.ts'

describe('the person that an address names', () => {
  it.each([
    ['#as=ann', 'ann', '#'],
    ['#doc/minutes?as=ben', 'ben', '#doc/minutes'],
    ['#doc/minutes/p?panel=history&as=ben', 'ben', '#doc/minutes/p?panel=history'],
    ['#doc/minutes', null, '#doc/minutes'],
    ['', null, ''],
  ])('of %j is %j, and the place is %j', (hash, person, place) => {
    expect(takeNamedPerson(hash)).toEqual({ person, hash: place })
  })
})
