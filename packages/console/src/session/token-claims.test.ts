import { describe, expect, it } from 'vitest'
import { lettersOn } from '../controls/letters.ts'
import { colorOf, personOf, readClaims } from './token-claims.ts'

const tokenOf = (payload: object) => `x.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.y`

describe('the claims that the page reads from a token', () => {
  it('[CON-20] are the person, the name, and each workspace once', () => {
    const wsp = [{ id: 'w1', role: 'owner' }, { id: 'w2' }, { id: 'w1' }, { role: 'member' }, null]
    const claims = readClaims(tokenOf({ sub: 'ann', name: 'Änn', wsp }))
    expect(claims).toEqual({ sub: 'ann', name: 'Änn', workspaces: ['w1', 'w2'] })
  })

  it.each(['', 'opaque', 'a.b.c', tokenOf([]), tokenOf({ sub: 7 })])('are null for %j, which names nobody', (token) => {
    expect(readClaims(token)).toBeNull()
  })

  it('take the name from the ID token when the access token has none, else the id', () => {
    const claims = { sub: 'ann', name: null, workspaces: [] }
    expect(personOf(claims, 'Ann', 'w').name).toBe('Ann')
    expect(personOf(claims, null, 'w').name).toBe('ann')
  })

  it('[CON-26] give every person a colour on which white letters are readable', () => {
    const colors = new Set(Array.from({ length: 200 }, (_, at) => colorOf(`person ${at}`)))
    expect(colors.size).toBeGreaterThan(5)
    expect([...colors].filter((color) => lettersOn(color) !== '#ffffff')).toEqual([])
    expect(lettersOn('#ffe08a')).toBe('#000000')
  })
})
