import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import type { DocumentStore } from '../documents/document-store.port.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const ann = { sub: 'ann', role: 'member' } as const
const BYTES = 'bytes of a blob'
const HASH = createHash('sha256').update(BYTES).digest('hex')

let relay: RestRelay
const sockets: Socket[] = []
beforeEach(async () => {
  relay = await startRestRelay()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await relay[Symbol.asyncDispose]()
})

/** Sends a request without the last byte of its body. Resolves when the relay has checked the credential and waits for the body. */
async function begin(request: string, as: TokenOptions, body: string, to = relay): Promise<Begun> {
  const socket = connect(to.port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let received = ''
  socket.on('data', (data) => void (received += data.toString()))
  const bearer = to.issuer.token(as)
  const head = `${request} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${bearer}\r\nExpect: 100-continue\r\nConnection: close\r\n`
  socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`)
  // The relay asks for the body only after it has accepted the credential.
  while (!received.includes('100 Continue')) await sleep(5)
  received = received.slice(received.indexOf('\r\n\r\n') + 4)
  socket.write(body.slice(0, -1))
  return {
    async finish() {
      socket.write(body.slice(-1))
      await closed
      const [head = '', text = ''] = received.split('\r\n\r\n')
      return { head, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
    },
  }
}

it('[LIFE-28] when bodies are given up, one that has not arrived gets 503, and one that has arrived is answered', async () => {
  const [handled, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const store = (real: DocumentStore): DocumentStore => ({
    ...real,
    async write(...given) {
      handled.resolve()
      await mayEnd.promise
      return real.write(...given)
    },
  })
  await using waiting = await startRestRelay({ store })
  const running = waiting.call('PUT', '/api/docs/running', { as: ann, body: {} })
  await handled.promise
  const arriving = [
    await begin('PUT /api/docs/arriving', ann, '{"title":"late"}', waiting),
    await begin(`POST /api/blobs/${HASH}`, ann, BYTES, waiting),
  ]
  expect(waiting.server.unanswered()).toBe(3)
  waiting.arrivals.giveUp()
  for (const each of arriving) expect((await each.finish()).json['errorCode']).toBe('UNAVAILABLE')
  const late = await begin('PUT /api/docs/later', ann, '{"title":"late"}', waiting)
  expect((await late.finish()).json['errorCode']).toBe('UNAVAILABLE')
  expect(waiting.server.unanswered()).toBe(1)
  mayEnd.resolve()
  expect((await running).status).toBe(200)
})

interface Begun {
  /** Sends the last byte and returns the answer. */
  finish(): Promise<{ readonly head: string; readonly json: Readonly<Record<string, unknown>> }>
}

describe('a credential that ends while the body of its request arrives', () => {
  it('[AUTH-16] [K11] a PUT whose token is revoked while its body arrives is answered 401 and writes nothing', async () => {
    const put = await begin('PUT /api/docs/late', { ...ann, jti: 'stolen' }, '{"title":"late"}')
    relay.revoked.add('stolen')
    const { head, json } = await put.finish()
    expect([head.split('\r\n')[0], json['errorCode']]).toEqual(['HTTP/1.1 401 Unauthorized', 'TOKEN_REVOKED'])
    expect(head).toContain('WWW-Authenticate: Bearer error="invalid_token"')
    expect((await relay.call('GET', '/api/docs/late', { as: ann })).status).toBe(404)
    expect((await relay.metrics.render()).text).toContain('relay_auth_failures_total{reason="token revoked"} 1')
  })

  it('[AUTH-16] a JSON route whose token is revoked while its body arrives does nothing', async () => {
    await relay.call('PUT', '/api/docs/kept', { as: ann, body: {} })
    const given = await begin('POST /api/docs/kept/transfer', { ...ann, jti: 'stolen' }, '{"to_user_id":"eve"}')
    relay.revoked.add('stolen')
    expect((await given.finish()).json['errorCode']).toBe('TOKEN_REVOKED')
    expect((await relay.call('GET', '/api/docs/kept', { as: ann })).json['ownerId']).toBe('ann')
  })

  it('[AUTH-5] a PUT whose token expires while its body arrives is answered as an expired token', async () => {
    const put = await begin(
      'PUT /api/docs/late',
      { ...ann, claims: { exp: Math.ceil(Date.now() / 1000) + 1 } },
      '{"title":"late"}',
    )
    await sleep(2_100)
    const { json } = await put.finish()
    expect([json['errorCode'], json['reason']]).toEqual(['TOKEN_INVALID', 'token expired'])
    expect((await relay.call('GET', '/api/docs/late', { as: ann })).status).toBe(404)
  })

  it('[AUTH-16] [BLOB-3] an upload whose token is revoked while its bytes arrive stores no blob', async () => {
    const upload = await begin(`POST /api/blobs/${HASH}`, { ...ann, jti: 'stolen' }, BYTES)
    relay.revoked.add('stolen')
    expect((await upload.finish()).json['errorCode']).toBe('TOKEN_REVOKED')
    expect((await relay.call('GET', `/api/blobs/${HASH}`, { as: ann })).status).toBe(404)
  })

  it('[AUTH-16] a body that arrives slowly under a token that stays valid is accepted', async () => {
    const put = await begin('PUT /api/docs/slow', { ...ann, jti: 'good' }, '{"title":"slow"}')
    relay.revoked.add('other')
    expect((await put.finish()).head).toMatch(/^HTTP\/1\.1 200 /)
    const upload = await begin(`POST /api/blobs/${HASH}`, ann, BYTES)
    expect((await upload.finish()).head).toMatch(/^HTTP\/1\.1 204 /)
  })
})
