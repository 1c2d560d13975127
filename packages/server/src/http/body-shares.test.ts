import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const MIB = 1_048_576

let relay: RestRelay
const time = manualTime()
const sockets: Socket[] = []
beforeEach(async () => {
  relay = await startRestRelay({ time })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await relay[Symbol.asyncDispose]()
})

/** Sends the head of a request and the first `bytes` of its body. Resolves when the relay has read them all. */
function begin(path: string, as: TokenOptions, declared: number, bytes = 0): Promise<Socket> {
  const [method = '', target = ''] = path.split(' ')
  const socket = connect(relay.port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  const head = `${method} ${target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${relay.issuer.token(as)}\r\nContent-Length: ${declared}\r\n\r\n`
  return new Promise((resolve) =>
    socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 0x20)]), () => resolve(socket)),
  )
}

/** Resolves once the relay has seen everything that was sent before. */
const settled = () => relay.call('GET', '/health')

const putOf = (workspace: string, id: string) =>
  relay.call('PUT', `/api/docs/${id}`, { as: { sub: 'ann', role: 'member', workspace }, body: {} })

it('[H3] [REST-13] declared bodies reserve no memory: other workspaces can write while a viewer declares 640 MiB', async () => {
  for (let i = 0; i < 5; i++) await begin(`PUT /api/docs/d${i}`, { sub: 'eve', role: 'viewer', workspace: 'noisy' }, 128 * MIB)
  await settled()
  const answer = await putOf('quiet', 'honest')
  expect([answer.status, answer.json['errorCode']]).toEqual([200, undefined])
})

it('[H3] [REST-29] declared bodies do not make internal routes refuse', async () => {
  for (let i = 0; i < 5; i++) await begin(`PUT /api/docs/d${i}`, { sub: 'eve', role: 'viewer', workspace: 'noisy' }, 128 * MIB)
  await settled()
  const headers = { authorization: 'Bearer a-secret-of-sixteen' }
  const answer = await relay.call('POST', '/api/v1/internal/workspace/w/purge-member', { body: { user_id: 'u' }, headers })
  expect([answer.status, answer.json['errorCode']]).toEqual([200, undefined])
})

it('[REST-29] [H3] bodies that lack only their last bytes do not make internal routes refuse', async () => {
  for (let i = 0; i < 3; i++)
    await begin(`PUT /api/docs/d${i}`, { sub: 'eve', role: 'member', workspace: 'noisy' }, 128 * MIB, MIB)
  await settled()
  const headers = { authorization: 'Bearer a-secret-of-sixteen' }
  const purge = { body: { user_id: 'u' }, headers }
  expect((await relay.call('POST', '/api/v1/internal/workspace/w/purge-member', purge)).status).toBe(200)
})

/** Returns the first data that a connection receives; empty text when it closes without any. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (data) => resolve(data.toString())).once('close', () => resolve('')))
}

it.each(['PUT /api/docs/long', 'PUT /api/collections', 'PUT /api/v1/style-profiles'])(
  '[PERM-3] [H2] the long body of a viewer is refused at %s before a byte of it is read',
  async (path) => {
    const socket = await begin(path, { sub: 'eve', role: 'viewer' }, 1.5 * MIB)
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 403 [^]*"errorCode":"EDIT_FORBIDDEN"/)
  },
)

it('[PERM-3] [H3] the long body of a viewer without a declared length is refused while it arrives', async () => {
  const headers = { 'transfer-encoding': 'chunked' }
  const answer = await relay.call('PUT', '/api/docs/long', { as: { sub: 'eve', role: 'viewer' }, raw: ' '.repeat(MIB), headers })
  expect([answer.status, answer.json['errorCode']]).toEqual([403, 'EDIT_FORBIDDEN'])
})

it('[REST-15] the short body of a viewer is read, so that errors in it are answered first', async () => {
  const answer = await relay.call('PUT', '/api/docs/short', { as: { sub: 'eve', role: 'viewer' }, raw: '{' })
  expect([answer.status, answer.json['errorCode']]).toEqual([400, 'BAD_JSON'])
})

it('[REST-7] a body that arrives one byte at a time is cut off long before its end', async () => {
  const socket = await begin('PUT /api/docs/drip', { sub: 'eve', role: 'member' }, 1_000)
  const answer = answerOf(socket)
  let done = false
  void answer.then(() => (done = true))
  let seconds = 0
  for (; !done && seconds < 200; seconds += 10) {
    socket.write(' ')
    await settled()
    await time.advance(10_000)
    await settled()
  }
  expect(await answer).toMatch(/^HTTP\/1\.1 400 [^]*"errorCode":"BAD_REQUEST"/)
  expect(seconds).toBeLessThanOrEqual(80)
})

it('[REST-7] a body over a slow line may take as long as the line needs', async () => {
  const socket = await begin('PUT /api/docs/slow', { sub: 'eve', role: 'member' }, 2 * 90_000)
  const answer = answerOf(socket)
  const piece = Buffer.alloc(90_000, 0x20)
  piece.write('{')
  // Twice 75 s at 1,200 bytes a second: more than the 60 s that a stall may take.
  for (const part of [piece, Buffer.concat([Buffer.alloc(89_999, 0x20), Buffer.from('}')])]) {
    for (let at = 0; at < part.length; at += 6_000) {
      await time.advance(5_000)
      socket.write(part.subarray(at, at + 6_000))
      await settled()
    }
  }
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
})
