import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallOptions, type RestRelay, startRestRelay } from './testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const put = (id: string, body: unknown, options: CallOptions = {}) =>
  relay.call('PUT', `/api/docs/${id}`, { as: ann, body, ...options })

describe('content types', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'application/vnd.relay+json', 'APPLICATION/JSON', ''])(
    '[REST-7] content type %j is accepted',
    async (type) => {
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
      expect((await put('typed', undefined, { raw: '{}', headers })).status).toBe(200)
    },
  )

  it.each([
    'text/plain',
    'text/json',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    '+json',
    'application/jsonx',
  ])('[REST-7] content type %j answers 415', async (type) => {
    const answer = await put('typed', undefined, { raw: '{}', headers: { 'content-type': type } })
    expect([answer.status, answer.json.errorCode]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it.each(['gzip', 'br', 'deflate', 'identity, gzip'])('[REST-7] Content-Encoding %s answers 415', async (coding) => {
    const answer = await put('coded', undefined, { raw: '{}', headers: { 'content-encoding': coding } })
    expect([answer.status, answer.json.errorCode]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(answer.json.error).toContain('Content-Encoding')
  })

  it('[REST-7] Content-Encoding identity is accepted', async () => {
    expect((await put('coded', undefined, { raw: '{}', headers: { 'content-encoding': 'Identity' } })).status).toBe(200)
  })

  it('[REST-7] [H3] a JSON route accepts 2 MiB, with a declared length or chunked', async () => {
    await put('limited', {})
    const big = JSON.stringify({ to_user_id: 'ann', pad: 'x'.repeat(2 * 1024 * 1024) })
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const answer = await relay.call('POST', '/api/docs/limited/transfer', {
        as: ann,
        raw: big,
        headers: { 'content-type': 'application/json', ...headers },
      })
      expect([answer.status, answer.json.errorCode, answer.json.maxBytes]).toEqual([413, 'BODY_TOO_LARGE', 2 * 1024 * 1024])
    }
    const fits = JSON.stringify({ to_user_id: 'ann', pad: 'x'.repeat(2 * 1024 * 1024 - 100) })
    expect((await relay.call('POST', '/api/docs/limited/transfer', { as: ann, raw: fits })).status).toBe(204)
  })
})
