import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { usableKeys } from './jwk.ts'
import { newSigningKey, type SigningKey } from './testing/test-issuer.ts'

let good: SigningKey
let other: SigningKey
let weak: SigningKey
let exponentThree: SigningKey

beforeAll(async () => {
  good = await newSigningKey('k1')
  other = await newSigningKey('k2')
  weak = await newSigningKey('weak', 2047)
  exponentThree = await newSigningKey('three', 2048, 3)
})

const kidsOf = (keys: readonly unknown[]): string[] => [...(usableKeys({ keys })?.keys.keys() ?? [])]

describe('the keys of a key set', () => {
  it('[AUTH-3] a valid key is used, with and without its optional members', () => {
    const { use: _use, alg: _alg, ...bare } = good.jwk
    expect([kidsOf([good.jwk]), kidsOf([bare]), kidsOf([{ ...bare, key_ops: ['verify'] }])]).toEqual([['k1'], ['k1'], ['k1']])
  })

  it('[AUTH-3] private members of a key are ignored', () => {
    const key = usableKeys({ keys: [{ ...good.privateKey.export({ format: 'jwk' }), kid: 'k1' }] })?.keys.get('k1')
    expect(key?.type).toBe('public')
    expect(key?.equals(good.publicKey)).toBe(true)
  })

  const spoiled: readonly (readonly [string, () => unknown])[] = [
    ['use: enc', () => ({ ...good.jwk, use: 'enc' })],
    ['use null', () => ({ ...good.jwk, use: null })],
    ['alg RS512', () => ({ ...good.jwk, alg: 'RS512' })],
    ['alg PS256', () => ({ ...good.jwk, alg: 'PS256' })],
    ['key_ops without verify', () => ({ ...good.jwk, key_ops: ['encrypt'] })],
    ['kty EC', () => ({ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'k1' })],
    ['kty OKP', () => ({ ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'k1' })],
    ['kty oct', () => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'k1' })],
    ['2,047 bits', () => weak.jwk],
    [
      'leading zeros that make it longer',
      () => ({
        ...weak.jwk,
        n: Buffer.concat([Buffer.alloc(8), Buffer.from(String(weak.jwk['n']), 'base64url')]).toString('base64url'),
      }),
    ],
    ['e = 1', () => ({ ...good.jwk, e: 'AQ' })],
    ['e = 3', () => exponentThree.jwk],
    ['e even', () => ({ ...good.jwk, e: 'AQAC' })],
    ['e = 0', () => ({ ...good.jwk, e: 'AA' })],
    ['no e', () => ({ ...good.jwk, e: undefined })],
    ['n not base64url', () => ({ ...good.jwk, n: 'a+b/' })],
    ['n a number', () => ({ ...good.jwk, n: 5 })],
    ['n of a megabyte', () => ({ ...good.jwk, n: 'A'.repeat(1_000_000) })],
    ['no kid', () => ({ ...good.jwk, kid: undefined })],
    ['empty kid', () => ({ ...good.jwk, kid: '' })],
    ['kid a number', () => ({ ...good.jwk, kid: 1 })],
    ['kid of 257 bytes', () => ({ ...good.jwk, kid: 'k'.repeat(257) })],
    ['null', () => null],
    ['a string', () => 'k1'],
    ['an array', () => [good.jwk]],
  ]
  it.each(spoiled)('[AUTH-3] [F-5] a key with %s is skipped, and the other keys are used', (_, jwk) => {
    const usable = usableKeys({ keys: [jwk(), other.jwk] })
    expect([...(usable?.keys.keys() ?? [])]).toEqual(['k2'])
    expect(usable?.skipped).toHaveLength(1)
  })

  it('[AUTH-3] of two usable keys with one key id neither is used; an unusable one does not affect the other', () => {
    const second = { ...other.jwk, kid: 'k1' }
    expect(kidsOf([good.jwk, second])).toEqual([])
    expect(kidsOf([good.jwk, second, good.jwk, other.jwk])).toEqual(['k2'])
    expect(kidsOf([good.jwk, { ...second, use: 'enc' }])).toEqual(['k1'])
  })

  it.each([null, 5, 'x', [], {}, { keys: null }, { keys: {} }, { keys: 'x' }])(
    '[AUTH-9] [F-5] %j is refused as a key set',
    (document) => {
      expect(usableKeys(document)).toBeNull()
    },
  )

  it('[F-5] arbitrary key sets never throw and never yield a key that must not verify', () => {
    const member = fc.oneof(fc.constantFrom('RSA', 'sig', 'RS256', 'AQAB', 'k1'), fc.jsonValue())
    const jwk = fc.dictionary(fc.constantFrom('kty', 'n', 'e', 'kid', 'use', 'alg', 'key_ops', '__proto__'), member)
    fc.assert(
      fc.property(fc.array(fc.oneof(jwk, fc.jsonValue()), { maxLength: 5 }), jwk, (keys, spoil) => {
        for (const key of usableKeys({ keys: [...keys, { ...good.jwk, ...spoil }] })?.keys.values() ?? []) {
          expect(key.asymmetricKeyType).toBe('rsa')
          expect(key.asymmetricKeyDetails?.modulusLength).toBeGreaterThanOrEqual(2048)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
