import { anyCharacter } from '@docrelay/model/testing/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfigFile } from './file-source.ts'
import { editDistance } from '@docrelay/model/nearest'
import { loadConfig } from './load.ts'
import { problemLine } from './problem.ts'
import { CONFIG_KEYS } from './schema.ts'
import { readValue } from './values.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const read = (text: string | Uint8Array) =>
  readConfigFile('relay.toml', typeof text === 'string' ? new TextEncoder().encode(text) : text)
const lines = (text: string | Uint8Array) => read(text).problems.map(problemLine)

describe('hostile configuration files', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['a byte order mark', '\ufeff[server]\nport = 1', /byte order mark/],
    ['a NUL', '[server]\nhost = "a\0b"', /NUL/],
    ['bytes that are not UTF-8', new Uint8Array([0x5b, 0xff, 0x5d]), /not UTF-8/],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x5b, 0]), /not UTF-8/],
    ['a table twice', '[server]\nport = 1\n[server]\nhost = "h"', /not valid TOML: .* line 3/s],
    ['a key twice', '[server]\nport = 1\nport = 2', /line 3/],
    ['text without quotes', '[server]\nhost = localhost', /line 2/],
    ['an open string', '[server]\nhost = "localhost', /not valid TOML/],
    ['an open table', '[server', /not valid TOML/],
    ['JSON', '{"server": {}}', /not valid TOML/],
    ['a control character', '[server]\nhost = "a\u0001"', /not valid TOML/],
    ['a surrogate escape', '[server]\nhost = "\\uD800"', /not valid TOML/],
    ['nested inline tables', `x = ${'{a='.repeat(5000)}1${'}'.repeat(5000)}`, /not valid TOML/],
    ['nested arrays', `x = ${'['.repeat(100_000)}`, /not valid TOML/],
    ['a section that is a value', 'server = 5', /\[server\]: not a table/],
    ['a section that is a list of tables', '[[server]]\nport = 1', /\[server\]: not a table/],
    ['a limits table that is a value', '[tenancy]\nlimits = 3', /\[tenancy\]\.limits: unknown key/],
    ['a table below a known one', '[server.tls]\ncert = "x"', /\[server\]\.tls: unknown key/],
    ['__proto__ as section', '[__proto__]\nport = 1', /\[__proto__\]: unknown section/],
    ['constructor as key', '[server]\nconstructor = 1', /\[server\]\.constructor: unknown key/],
    ['an empty key', '[server]\n"" = 1', /\[server\]\.: unknown key/],
  ])('[CFG-5] a file with %s is reported as one problem', (_, text, pattern) => {
    const found = lines(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(pattern)
    expect(found[0]).not.toMatch(/\n/)
  })

  it('[CFG-5] a file of 10 MB is refused unread, and one with a thousand unknown keys within a second', () => {
    const took = threadTime()
    expect(lines('#'.repeat(10_000_000))).toEqual([
      'relay.toml: file too large (got 10000000 bytes, allowed at most 1048576 bytes)',
    ])
    const many = lines(`[server]\n${Array.from({ length: 40_000 }, (_, i) => `unknown_${i} = 1`).join('\n')}`)
    expect(many).toHaveLength(201)
    expect(many.at(-1)).toContain('39800 more')
    expect(lines(`[server]\n${'k'.repeat(1_000_000)} = 1`)).toHaveLength(1)
    expect(took()).toBeLessThan(3000)
  })

  it('[CFG-5] any bytes are read or refused without an exception, one line per problem', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '[server]',
        '[tenancy.limits]',
        '[auth',
        '[[log]]',
        'port = 1',
        'port = 1e400',
        'host = "x"',
        'cors_origins = ["*", 3]',
        '=',
        '\u0000',
        '"a" = {b = 1}',
        'a.b.c = 1',
      ),
      fc.string({ unit: anyCharacter, maxLength: 40 }),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (parts) => {
        for (const text of lines(parts.join('\n'))) expect(text).not.toMatch(/[\n\r]/)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        for (const text of lines(bytes)) expect(text).not.toMatch(/[\n\r]/)
      }),
      { numRuns: 300 },
    )
  })

  it('[CFG-8] any value of any key is read or refused without repeating it', () => {
    const value = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.array(fc.string()),
      fc.constant({}),
      fc.date(),
    )
    fc.assert(
      fc.property(fc.constantFrom(...CONFIG_KEYS), value, fc.boolean(), ({ key }, raw, asText) => {
        const reading = readValue(key, raw, asText)
        if (reading.kind === 'bad') return
        if (key.kind === 'integer') expect(Number.isSafeInteger(reading.value) && Number(reading.value) >= 0).toBe(true)
        if (key.kind === 'text' && reading.value !== null) expect(reading.value).not.toMatch(/\p{Cc}/u)
      }),
      { numRuns: 2000 },
    )
  })

  it('[CFG-4] [CFG-5] any environment and options are accepted or refused in printable lines without secrets', () => {
    const value = fc.oneof(
      fc.constantFrom(
        '1e400',
        '-0',
        '0x10',
        'tcp://10.0.0.1:9876',
        '\ufeff1',
        'a\0b',
        '𝟙',
        'null',
        '__proto__',
        'https://[',
        'x'.repeat(100_000),
      ),
      fc.string({ unit: anyCharacter, maxLength: 60 }),
    )
    const name = fc.constantFrom(...CONFIG_KEYS.flatMap(({ key }) => [key.env, `${key.env}_FILE`]))
    const option = fc.constantFrom(...CONFIG_KEYS.flatMap(({ key }) => key.flag ?? []))
    fc.assert(
      fc.property(
        fc.dictionary(name, value, { maxKeys: 8 }),
        fc.dictionary(option, value, { maxKeys: 2 }),
        value,
        (env, options, secret) => {
          const planted = `planted-${secret}`
          const result = loadConfig({
            options,
            env: { ...env, RELAY_REVOCATION_BEARER: planted },
            configPath: undefined,
            cwd: '/nowhere',
          })
          const lines = [...result.warnings, ...(result.kind === 'refused' ? result.problems.map(problemLine) : [])]
          for (const line of lines) {
            expect(line).not.toMatch(/\p{Cc}/u)
            expect(line).not.toContain('planted-')
          }
        },
      ),
      { numRuns: 400 },
    )
  })

  it('[CFG-5] the distance between two names is the number of single changes between them', () => {
    expect([
      editDistance('port', 'port'),
      editDistance('prot', 'port'),
      editDistance('ports', 'port'),
      editDistance('', 'abc'),
      editDistance('host', 'port'),
    ]).toEqual([0, 1, 1, 3, 2])
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a))
      }),
    )
  })
})
