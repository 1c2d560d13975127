import { describe, expect, it } from 'vitest'
import type { Route, RouteRequest } from '../http/route.ts'
import { RelayError } from '../kernel/errors.ts'
import { silentLogger } from '../kernel/log.ts'
import { authRoutes } from './auth.routes.ts'
import { readTimestamp } from './revocation-entry.ts'
import type { Revocation } from './revocations.port.ts'

const added: Revocation[] = []

function route(add = async (entries: readonly Revocation[]) => void added.push(...entries)): Route {
  added.length = 0
  const [only] = authRoutes({ revocations: { add }, log: silentLogger })
  if (!only) throw new Error('no route')
  return only
}

function request(json: unknown): RouteRequest {
  const nothing = {
    params: {},
    query: new URLSearchParams(),
    header: () => undefined,
    isHead: false,
    caller: null,
    bytes: new Uint8Array(),
    stream: new ReadableStream<Uint8Array>(),
    left: new AbortController().signal,
    origin: '',
  }
  return { requestId: 'r1', ...nothing, json }
}

const entry = (jti: unknown = 'j1', revokedAt: unknown = '2026-06-01T12:00:00Z') => ({ jti, revoked_at: revokedAt })
const push = (revocations: unknown) => route().handle(request({ revocations }))

describe('POST /api/v1/internal/revoke', () => {
  it('[REST-29] the revocation route requires its bearer and accepts 2 MiB of JSON', () => {
    expect(route()).toMatchObject({
      method: 'POST',
      path: '/api/v1/internal/revoke',
      credential: 'revocation-bearer',
      body: { kind: 'json', maxBytes: 2 * 1024 * 1024 },
    })
  })

  it('[REST-29] [A-7] all entries are applied, repeated ones too, and the answer is empty', async () => {
    expect(await push([entry('a'), entry('b', '2026-06-01T14:00:00.5+02:00'), entry('a')])).toEqual({ kind: 'empty' })
    const atMs = Date.UTC(2026, 5, 1, 12)
    expect(added).toEqual([
      { jti: 'a', revokedAtMs: atMs },
      { jti: 'b', revokedAtMs: atMs + 500 },
      { jti: 'a', revokedAtMs: atMs },
    ])
    expect(await push([])).toEqual({ kind: 'empty' })
  })

  it('[REST-29] [A-7] 10,000 entries are accepted, 10,001 are refused as a whole', async () => {
    const list = Array.from({ length: 10_001 }, (_, i) => entry(`j${i}`))
    await expect(push(list)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: { field: 'revocations', limit: 10_000, value: 10_001 },
    })
    expect(added).toEqual([])
    await push(list.slice(1))
    expect(added).toHaveLength(10_000)
  })

  const bad: readonly (readonly [string, unknown])[] = [
    ['no jti', { revoked_at: '2026-06-01T12:00:00Z' }],
    ['empty jti', entry('')],
    ['jti a number', entry(7)],
    ['jti of 257 bytes', entry('é'.repeat(128) + 'x')],
    ['jti with a lone surrogate', entry('\ud800')],
    ['jti with NUL', entry('a\0')],
    ['no date', { jti: 'j1' }],
    ['a date in words', entry('j1', 'yesterday')],
    ['a date without time', entry('j1', '2026-06-01')],
    ['minute 60', entry('j1', '2026-06-01T12:60:00')],
    ['a date half in the basic form', entry('j1', '2026-0601T12:00:00Z')],
    ['30 February', entry('j1', '2026-02-30T12:00:00Z')],
    ['month 13', entry('j1', '2026-13-01T12:00:00Z')],
    ['hour 25', entry('j1', '2026-06-01T25:00:00Z')],
    ['a number for a date', entry('j1', 1_780_000_000)],
    ['null', null],
    ['a string', 'j1'],
  ]
  it.each(bad)('[REST-29] [A-7] one bad entry refuses all entries: %s', async (_, wrong) => {
    await expect(push([entry('a'), wrong, entry('b')])).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: { field: 'revocations[1]' },
    })
    expect(added).toEqual([])
  })

  it.each([null, 'x', [], {}, { revocations: null }, { revocations: {} }])(
    '[REST-29] a body without a list is refused: %j',
    async (body) => {
      await expect(route().handle(request(body))).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        details: { field: 'revocations' },
      })
    },
  )

  it('[REST-29] a failing store answers an error that the sender may retry', async () => {
    const failing = route(async () => {
      throw new RelayError('NOT_PERSISTED', 'no')
    })
    await expect(failing.handle(request({ revocations: [entry()] }))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
  })

  it.each([
    ['2026-06-01T12:00:00Z', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01t12:00:00z', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01T12:00:00.123456789Z', '2026-06-01T12:00:00.123Z'],
    ['2026-06-01T12:00:00,5+05:30', '2026-06-01T06:30:00.500Z'],
    ['2026-06-01T12:00:00-0130', '2026-06-01T13:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-06-01T12:00:00', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01T14:00:00.123456', '2026-06-01T14:00:00.123Z'],
    ['2026-06-01T12:00Z', '2026-06-01T12:00:00.000Z'],
    ['2026-06-01T12+02', '2026-06-01T10:00:00.000Z'],
    ['2026-06-01 10:00:00Z', '2026-06-01T10:00:00.000Z'],
    ['20260101T000000Z', '2026-01-01T00:00:00.000Z'],
    ['20260101T0930', '2026-01-01T09:30:00.000Z'],
  ])('[REST-29] the revocation time %s is read as %s', (text, utc) => {
    expect(new Date(readTimestamp(text) ?? Number.NaN).toISOString()).toBe(utc)
  })
})
