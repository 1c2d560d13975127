import { anyCharacter } from '@docrelay/model/testing/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Clock } from './clock.ts'
import { createLogger, type LogFields, type LogLevel } from './log.ts'

const clock: Clock = { nowMs: () => Date.UTC(2026, 10, 21, 12, 0, 0, 7), monotonicMs: () => 0 }

function written(
  write: (log: ReturnType<typeof createLogger>) => void,
  options: { level?: LogLevel; format?: 'json' | 'pretty' } = {},
): readonly string[] {
  const lines: string[] = []
  write(
    createLogger({ level: options.level ?? 'debug', format: options.format ?? 'json', clock, write: (line) => lines.push(line) }),
  )
  return lines
}

function fieldsOf(fields: LogFields, msg = 'A sentence.'): Record<string, unknown> {
  const [line = ''] = written((log) => log.info('test.event', msg, fields))
  return JSON.parse(line) as Record<string, unknown>
}

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c2VyLTEifQ.c2lnbmF0dXJlLWJ5dGVz'
const SHARE_TOKEN = 'kq3Jx0cQm1vZ8sTb5nLr2yWd7uEa4hGf6pIo9tRkXYZ'

describe('log lines', () => {
  it('[OPS-5] a line is one JSON object with ts, level, event, msg and the known fields', () => {
    const lines = written((log) => {
      log.info('request.done', 'A request was answered.', {
        requestId: 'r1',
        workspace: 'w',
        docId: 'd',
        sub: 'u',
        durationMs: 1.5,
        code: 'NOT_FOUND',
      })
      log.error('relay.broken', 'Something is\nwrong.')
    })
    expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        ts: '2026-11-21T12:00:00.007Z',
        level: 'info',
        event: 'request.done',
        msg: 'A request was answered.',
        requestId: 'r1',
        workspace: 'w',
        docId: 'd',
        sub: 'u',
        durationMs: 1.5,
        code: 'NOT_FOUND',
      },
      { ts: '2026-11-21T12:00:00.007Z', level: 'error', event: 'relay.broken', msg: 'Something is\\u000awrong.' },
    ])
  })

  it('[OPS-5] levels below the configured one are not written', () => {
    const all = (level: LogLevel) =>
      written(
        (log) => {
          for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]('e', 'm')
        },
        { level },
      ).length
    expect([all('debug'), all('info'), all('warn'), all('error')]).toEqual([4, 3, 2, 1])
  })

  it('[OPS-5] pretty lines are one line each without colours', () => {
    expect(written((log) => log.warn('a.b', 'Text\u001b[31m.', { docId: 'x\ny' }), { format: 'pretty' })).toEqual([
      '12:00:00.007 warn  a.b Text\\u001b[31m. docId="x\\\\u000ay"\n',
    ])
  })

  it('[OPS-5] fields cannot replace the members of the logger', () => {
    expect(fieldsOf({ level: 'x', msg: 'y', ts: 'z', event: 'q', pid: 1 })).toEqual({
      ts: '2026-11-21T12:00:00.007Z',
      level: 'info',
      event: 'test.event',
      msg: 'A sentence.',
    })
  })

  it('[OPS-7] audit lines are marked', () => {
    expect(fieldsOf({ audit: true, sub: 'u' })).toMatchObject({ audit: true, sub: 'u' })
  })

  it('[OPS-5] any values give one parsable line without control characters, cut at 200', () => {
    const value = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 400 }),
      fc.double(),
      fc.boolean(),
      fc.object(),
      fc.uint8Array(),
      fc.array(fc.string()),
      fc.constant(10n),
    )
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), value, (msg, x) => {
        const lines = written((log) => log.info('e', msg, { x, docId: msg }))
        expect(lines).toHaveLength(1)
        expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        JSON.parse(lines[0] ?? '')
      }),
      { numRuns: 500 },
    )
    expect(String(fieldsOf({ path: 'a b '.repeat(1_000_000) })['path']).length).toBeLessThan(1300)
    expect(fieldsOf({ path: 'a b '.repeat(100) })['path']).toBe(`${'a b '.repeat(50)}…`)
  })
})

describe('redaction', () => {
  it.each([
    ['a token in a message', {}, `Refused ${JWT} again`],
    ['a token in a value', { reason: `bad signature of ${JWT}` }, 'm'],
    ['a token as an id', { sub: JWT }, 'm'],
    ['the payload part of a token', { part: JWT.split('.')[1] }, 'm'],
    ['an Authorization value', { authorization: 'Basic dXNlcjpwYXNz' }, 'm'],
    ['an Authorization value under another name', { sent: `Bearer ${SHARE_TOKEN}` }, 'm'],
    ['a bearer in a message', {}, 'sent Authorization: Bearer planted-secret'],
    ['a share token', { link: `https://relay.example/share#${SHARE_TOKEN}` }, 'm'],
    ['a share token by itself', { value: SHARE_TOKEN }, 'm'],
    ['an ingest authorization', { ingestAuthorization: 'planted-secret' }, 'm'],
    ['a presigned URL', { url: 'https://s3.example/b/k?X-Amz-Credential=planted-secret&X-Amz-Signature=abc' }, 'm'],
    ['the query string of /ws', { path: '/ws?token=planted-secret&protocolVersion=4' }, 'm'],
    ['a query string in a message', {}, 'GET /ws?access=planted-secret failed'],
    ['a password in a URL', { store: 'postgres://user:planted-secret@db/relay' }, 'm'],
    ['document content', { body: { title: 'planted-secret' } }, 'm'],
    ['document bytes', { update: new TextEncoder().encode('planted-secret') }, 'm'],
    ['an awareness state', { awareness: 'planted-secret' }, 'm'],
    ['a list of states', { states: [{ user: 'planted-secret' }] }, 'm'],
    ['a parse error that repeats its input', { error: new SyntaxError('Unexpected token in "planted-secret"') }, 'm'],
    ['an error that repeats an address', { error: new Error('cannot connect to redis://:planted-secret@h') }, 'm'],
    ['a secret beyond the cut', { path: `${'x '.repeat(99)}${JWT}` }, 'm'],
  ])('[OPS-6] %s is not logged', (_, fields, msg) => {
    const line = JSON.stringify(fieldsOf(fields, msg))
    for (const secret of [
      ...JWT.split('.'),
      JWT.slice(0, 12),
      SHARE_TOKEN,
      SHARE_TOKEN.slice(0, 20),
      'planted-secret',
      'dXNlcjpwYXNz',
    ]) {
      expect(line).not.toContain(secret)
    }
  })

  it('[OPS-6] a URL in a message is logged without its query', () => {
    const line = fieldsOf({ error: new Error('GET http://127.0.0.1:8088/jwks?key=planted-secret failed') }, 'No http://h/k?x=1.')
    expect(line['error']).toContain('GET http://127.0.0.1:8088/jwks failed')
    expect(line['msg']).toBe('No http://h/k')
  })

  it('[OPS-6] ids and plain sentences are logged unchanged', () => {
    const docId = 'a'.repeat(43)
    expect(
      fieldsOf({ docId, requestId: 'r.1', route: '/api/docs/:id', code: 'VERSION_CONFLICT' }, 'Is it 5 s? Yes.'),
    ).toMatchObject({
      docId,
      requestId: 'r.1',
      route: '/api/docs/:id',
      code: 'VERSION_CONFLICT',
      msg: 'Is it 5 s? Yes.',
    })
  })

  it('[OPS-6] an error is logged with its name, message and place', () => {
    expect(fieldsOf({ error: new RangeError('seven is too many') })['error']).toMatch(
      /^RangeError: seven is too many at .*log\.test\.ts/,
    )
  })
})
