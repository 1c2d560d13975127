import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalJson, type Json } from './json.ts'
import { jsonLimits, parseJsonBytes } from './json-scan.ts'
import { json } from './testing/arbitrary.ts'
import { threadTime } from './testing/thread-time.ts'

const LIMITS = jsonLimits(1024 * 1024)
const encoder = new TextEncoder()

function parse(text: string | Uint8Array, limits = LIMITS) {
  return parseJsonBytes(typeof text === 'string' ? encoder.encode(text) : text, limits)
}

function bytes(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => (typeof part === 'string' ? [...encoder.encode(part)] : [...part])))
}

describe('parseJsonBytes', () => {
  it('[BODY-8] any written JSON value is read as the same value', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const parsed = parse(JSON.stringify(value, null, indent))
        expect(parsed.ok && equalJson(parsed.value, value)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('[BODY-8] 128 levels are read and 129 refused, also in short texts', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(parse(nested(128)).ok).toBe(true)
    expect(parse(nested(129))).toMatchObject({ ok: false, code: 'BAD_JSON', offset: 128 })
    expect(parse(`${'{"a":'.repeat(129)}1${'}'.repeat(129)}`)).toMatchObject({ ok: false, code: 'BAD_JSON' })
    expect(parse(`[${'"[[[["'}]`)).toMatchObject({ ok: true, value: ['[[[['] })
  })

  it.each([
    ['a byte order mark', bytes([0xef, 0xbb, 0xbf], '{}'), 0],
    ['a stray continuation byte', bytes('{"a":"', [0x80], '"}'), 6],
    ['a truncated character', bytes('["ä', [0xc3], '"]'), 4],
    ['an encoded surrogate', bytes('["', [0xed, 0xa0, 0x80], '"]'), 2],
    ['an overlong form', bytes('["', [0xc0, 0xaf], '"]'), 2],
    ['trailing data', '{} {}', 3],
    ['a trailing comma', '[1,]', 3],
    ['nothing', '', 0],
    ['an unclosed string', '"abc', 4],
    ['a lone high surrogate', '["\\ud83d"]', 2],
    ['a lone low surrogate', '["x\\ude00"]', 3],
    ['two high surrogates', '["\\ud83d\\ud83d\\ude00"]', 2],
    ['a lone surrogate in a name', '{"\\ud83d":1}', 2],
    ['a number beyond a double', '{"n":1e400}', 5],
    ['a negative number beyond a double', '[-1E+999]', 1],
    ['a number of 400 digits', `[1${'0'.repeat(400)}]`, 1],
    ['NaN', '[NaN]', 5],
    ['a control character in a string', bytes('["', [0x01], '"]'), 2],
  ])('[BODY-8] %s is BAD_JSON', (_, text, offset) => {
    const parsed = parse(text)
    expect(parsed).toMatchObject({ ok: false, code: 'BAD_JSON' })
    expect(!parsed.ok && Math.abs(parsed.offset - offset)).toBeLessThanOrEqual(1)
  })

  it.each([
    ['surrogate pairs', '["\\ud83d\\ude00"]', ['😀']],
    ['escaped backslashes before u', '["\\\\ud83d"]', ['\\ud83d']],
    ['NUL', '["\\u0000"]', ['\0']],
    ['a byte order mark inside', '["\ufeff"]', ['\ufeff']],
    ['the largest double', '[1.7976931348623157e308]', [Number.MAX_VALUE]],
    ['a number too small', '[1e-999]', [0]],
    ['scalars', ' true ', true],
  ])('[BODY-8] %s are accepted unchanged', (_, text, value) => {
    expect(parse(text)).toEqual({ ok: true, value })
  })

  it('[BODY-8] the last duplicate name wins, and __proto__ is a member that changes no prototype', () => {
    const parsed = parse('{"a":1,"__proto__":{"polluted":1},"a":2,"constructor":3,"__proto__":{"polluted":2}}')
    const value = (parsed.ok ? parsed.value : null) as { readonly [name: string]: Json }
    expect(Object.entries(value)).toEqual([
      ['a', 2],
      ['__proto__', { polluted: 2 }],
      ['constructor', 3],
    ])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('[BODY-8] containers and tokens are counted before the text is parsed', () => {
    const limits = { maxBytes: 1000, maxDepth: 8, maxContainers: 3, maxTokens: 6 }
    expect(parse('[[],[]]', limits).ok).toBe(true)
    expect(parse('[[],[],{}]', limits)).toMatchObject({ ok: false, code: 'BODY_TOO_LARGE', offset: 7 })
    expect(parse('[1,2,3,4,5]', limits).ok).toBe(true)
    expect(parse('[1,"2",null,true,false,0]', limits)).toMatchObject({ ok: false, code: 'BODY_TOO_LARGE' })
    expect(parse(' '.repeat(1001), limits)).toMatchObject({ ok: false, code: 'BODY_TOO_LARGE' })
    expect(jsonLimits(128 * 1024 * 1024)).toMatchObject({ maxContainers: 2_000_000, maxTokens: 32_000_000 })
  })

  it('[BODY-8] any bytes are refused or read like JSON.parse reads them', () => {
    const splice = fc.tuple(json, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.nat(2))
    fc.assert(
      fc.property(splice, ([value, at, junk, removed]) => {
        const good = encoder.encode(JSON.stringify(value))
        const place = at % (good.length + 1)
        const text = new Uint8Array([...good.subarray(0, place), ...junk, ...good.subarray(place + removed)])
        const parsed = parse(text)
        if (parsed.ok) expect(parsed.value).toEqual(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text)))
        else expect(parsed.offset).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 1000 },
    )
  })

  it('[BODY-8] scanning bytes takes at most a few times as long as JSON.parse', () => {
    const text = encoder.encode(
      JSON.stringify(Array.from({ length: 40_000 }, (_, i) => ({ id: `shape-${i}`, x: i, label: 'some text', fill: '#fff' }))),
    )
    const elapsed = (run: () => void): number => {
      const took = threadTime()
      run()
      return took()
    }
    const best = (run: () => void): number => Math.min(...Array.from({ length: 5 }, () => elapsed(run)))
    const plain = best(() => JSON.parse(new TextDecoder().decode(text)))
    expect(best(() => parse(text, jsonLimits(8 * 1024 * 1024)))).toBeLessThan(plain * 4)
  })
})
