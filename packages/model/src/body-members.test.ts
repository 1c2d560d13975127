import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memberSpans, withMemberBytes } from './body-members.ts'
import { threadTime } from './testing/thread-time.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
/** Names and texts with quotes, brackets, backslashes and other characters that could mislead a scan. */
const trap = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'u', 'é', '\n', '😀') }),
  fc.string(),
)
const object = fc.dictionary(trap, fc.oneof(fc.jsonValue(), trap, fc.array(fc.dictionary(trap, trap))))

describe('members of a compact JSON object', () => {
  it('[LIFE-20] members are found where JSON.parse finds them, by name and byte for byte', () => {
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value)
        const bytes = encode(text)
        const spans = memberSpans(bytes)
        const parsed = JSON.parse(text) as Record<string, unknown>
        expect(spans.map(({ name }) => name)).toEqual(Object.keys(parsed))
        for (const { name, valueStart, end } of spans)
          expect(JSON.parse(decode(bytes.subarray(valueStart, end)))).toEqual(parsed[name])
        expect(`{${spans.map(({ start, end }) => decode(bytes.subarray(start, end))).join(',')}}`).toBe(text)
      }),
      { seed: 20, numRuns: 500 },
    )
  })

  it('[REST-26] a member is replaced in place, or added at the end', () => {
    fc.assert(
      fc.property(object, trap, fc.jsonValue(), (value, name, replacement) => {
        const replaced = JSON.parse(
          decode(withMemberBytes(encode(JSON.stringify(value)), name, encode(JSON.stringify(replacement)))),
        )
        const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
        const wanted = Object.fromEntries([
          ...Object.entries(plain).filter(([key]) => key !== name),
          [name, JSON.parse(JSON.stringify(replacement))],
        ])
        expect(replaced).toEqual(wanted)
        if (Object.hasOwn(plain, name)) expect(Object.keys(replaced)).toEqual(Object.keys(plain))
      }),
      { seed: 21, numRuns: 300 },
    )
  })

  it.each(['', '[]', '{"a":"}', '{"a":[}', '{"a"}', '{a}', '{"a":{"b":1}'])('[OPS-8] %s is refused and does not loop', (text) => {
    expect(() => memberSpans(encode(text))).toThrow()
  })

  it('[LIFE-20] a long body is read in one pass', () => {
    const bytes = encode(
      JSON.stringify({ id: 'd', pages: Array.from({ length: 100_000 }, (_, i) => ({ id: `s${i}`, text: '{"\\' })) }),
    )
    const took = threadTime()
    expect(memberSpans(bytes).map(({ name }) => name)).toEqual(['id', 'pages'])
    expect(took()).toBeLessThan(500)
  })
})
