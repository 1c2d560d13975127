import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tenancyOf } from '../auth/tenancy.ts'
import { type McpRelay, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'
import { legacy, modern } from './testing/requests.ts'

let relay: McpRelay
let shared: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
  shared = await startMcpRelay({ tenancy: tenancyOf('shared', null) })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await shared[Symbol.asyncDispose]()
})

const change = legacy('tools/call', { name: 'service_change' })

describe('the static token', () => {
  it('[MCP-18] [MCP-20] on the loopback listener the static token acts as its own principal in the one workspace', async () => {
    const { json } = await relay.send({ ...change, bearer: STATIC_TOKEN })
    expect(json.result?.['structuredContent']).toEqual({ by: 'service:mcp', in: 'default' })
    expect(relay.tools.calls.at(-1)?.context).toMatchObject({ isStatic: true, access: { role: 'owner' } })
    expect((await shared.send({ ...change, bearer: STATIC_TOKEN })).json.result?.['structuredContent']).toMatchObject({
      in: 'default',
    })
  })

  it('[MCP-18] the static token is not accepted on the main listener', async () => {
    const answer = await relay.send({ ...change, bearer: STATIC_TOKEN, mount: 'public' })
    expect([answer.status, answer.text]).toEqual([401, 'unauthorized'])
  })

  it('[MCP-18] the scheme word is accepted in any case, and a token that differs in anything is refused', async () => {
    const status = async (authorization: string) =>
      (await relay.send({ ...change, bearer: null, headers: { authorization } })).status
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) expect(await status(`${scheme} ${STATIC_TOKEN}`)).toBe(200)
    for (const token of [STATIC_TOKEN.slice(1), `${STATIC_TOKEN}0`, STATIC_TOKEN.toUpperCase(), `x${STATIC_TOKEN.slice(1)}`])
      expect(await status(`Bearer ${token}`)).toBe(401)
  })

  it('[MCP-22] the static token cannot act in another workspace that the request names', async () => {
    const answer = await shared.send({ ...change, bearer: STATIC_TOKEN, headers: { 'x-workspace-id': 'other' } })
    expect([answer.status, answer.text]).toEqual([403, 'forbidden'])
  })
})

describe('a token of the issuer', () => {
  it('[MCP-18] [MCP-20] a token of the issuer acts as its subject in its workspace, on both listeners', async () => {
    for (const mount of ['local', 'public'] as const) {
      const { json } = await relay.send({ ...change, mount })
      expect(json.result?.['structuredContent']).toEqual({ by: 'ann', in: 'default' })
    }
  })

  it('[MCP-22] the workspace is the claim entry that the request names, else the first entry', async () => {
    const bearer = shared.issuer.token({
      sub: 'ann',
      wsp: [
        { id: 'w1', role: 'member' },
        { id: 'w2', role: 'viewer' },
      ],
    })
    expect((await shared.send({ ...change, bearer })).json.result?.['structuredContent']).toMatchObject({ in: 'w1' })
    const named = await shared.send({ ...change, bearer, headers: { 'x-workspace-id': 'w2' } })
    expect(named.json.result?.['structuredContent']).toMatchObject({ in: 'w2' })
  })

  it('[MCP-22] a token without a workspace of this relay answers 403 forbidden without details', async () => {
    const foreign = relay.issuer.token({ workspace: 'elsewhere' })
    const none = relay.issuer.token({ wsp: [] })
    for (const [answer, why] of [
      [await relay.send({ ...change, bearer: foreign }), 'another workspace than the pin'],
      [await relay.send({ ...change, bearer: none }), 'no entry'],
      [await relay.send({ ...change, headers: { 'x-workspace-id': 'elsewhere' } }), 'another one is named'],
      [await shared.send({ ...change, bearer: shared.issuer.token({ wsp: [{ id: 'w', role: 'boss' }] }) }), 'no usable entry'],
      [await shared.send({ ...change, headers: { 'x-workspace-id': 'elsewhere' } }), 'one it does not have'],
    ] as const) {
      expect([why, answer.status, answer.text, answer.headers['content-type']]).toEqual([why, 403, 'forbidden', 'text/plain'])
    }
  })

  it('[MCP-21] POST, GET and DELETE answer the same 401 for any error of the credential', async () => {
    relay.revoked.add('gone')
    const { issuer } = relay
    const bad: Readonly<Record<string, string | readonly string[] | undefined>> = {
      missing: undefined,
      empty: 'Bearer ',
      'another scheme': 'Basic YTpi',
      malformed: 'Bearer not-a-token',
      'two of them': [`Bearer ${issuer.token()}`, `Bearer ${issuer.token()}`],
      unverifiable: `Bearer ${issuer.token().slice(0, -4)}AAAA`,
      expired: `Bearer ${issuer.token({ expiresInSec: -10 })}`,
      'of another audience': `Bearer ${issuer.token({ claims: { aud: 'x' } })}`,
      revoked: `Bearer ${issuer.token({ jti: 'gone' })}`,
    }
    const seen = new Set<string>()
    for (const [why, authorization] of Object.entries(bad))
      for (const method of ['POST', 'GET', 'DELETE']) {
        const headers = { host: '127.0.0.1', ...(authorization !== undefined && { authorization }) }
        const answer = await relay.send({ ...change, method, bearer: null, headers })
        expect([why, answer.status]).toEqual([why, 401])
        seen.add(JSON.stringify([answer.text, answer.headers['www-authenticate'], answer.headers['content-type']]))
      }
    expect([...seen]).toEqual([
      JSON.stringify([
        'unauthorized',
        'Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"',
        'text/plain',
      ]),
    ])
  })

  it('[AUTH-1] a token in the query or a cookie is ignored', async () => {
    const token = relay.issuer.token()
    for (const sent of [{ path: `/mcp?access_token=${token}` }, { headers: { cookie: `authorization=Bearer ${token}` } }])
      expect((await relay.send({ ...change, ...sent, bearer: null })).status).toBe(401)
  })
})

describe('a token that ends while the body of its request arrives', () => {
  /** Sends a call without its last byte, runs `meanwhile`, then sends that byte. Returns the answer to the call. */
  async function callAround(bearer: string, meanwhile: () => unknown): Promise<string> {
    const { hostname, port } = new URL(relay.urls.local)
    const body = JSON.stringify(change.body)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (data) => void (received += data.toString()))
    const head = `POST /mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${bearer}\r\nConnection: close\r\n`
    socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`)
    // The relay asks for the body only after it has accepted the token.
    while (!received.includes('100 Continue')) await sleep(5)
    received = ''
    socket.write(body.slice(0, -1))
    await meanwhile()
    socket.write(body.slice(-1))
    await new Promise((resolve) => socket.once('close', resolve))
    return received
  }

  const revocationsCounted = async () =>
    Number(/relay_auth_failures_total\{reason="token revoked"\} (\d+)/.exec((await relay.metrics.render()).text)?.[1] ?? 0)

  it('[AUTH-16] [MCP-28] a call whose token is revoked while its body arrives is answered 401 and calls no tool', async () => {
    const before = relay.tools.calls.length
    const counted = await revocationsCounted()
    const answer = await callAround(relay.issuer.token({ jti: 'stolen' }), () => relay.revoked.add('stolen'))
    expect(answer).toMatch(/^HTTP\/1\.1 401 [^]*WWW-Authenticate: Bearer [^]*unauthorized$/)
    expect(relay.tools.calls.length).toBe(before)
    expect(await revocationsCounted()).toBe(counted + 1)
  })

  it('[AUTH-5] a call whose token expires while its body arrives is answered 401 and calls no tool', async () => {
    const before = relay.tools.calls.length
    const answer = await callAround(relay.issuer.token({ expiresInSec: 30 }), () => relay.time.advance(30_000))
    expect(answer).toMatch(/^HTTP\/1\.1 401 [^]*unauthorized$/)
    expect(relay.tools.calls.length).toBe(before)
  })

  it('[AUTH-16] a call whose body arrives slowly under a token that stays good runs its tool', async () => {
    const before = relay.tools.calls.length
    expect(await callAround(relay.issuer.token(), () => relay.time.advance(30_000))).toMatch(/^HTTP\/1\.1 200 /)
    expect(relay.tools.calls.length).toBe(before + 1)
  })
})

it('[MCP-28] tokens appear in no log line and no metric', async () => {
  const bearer = relay.issuer.token({ sub: 'leaky' })
  await relay.send({ ...change, bearer })
  await relay.send({ ...change, bearer: `${bearer}x` })
  await relay.send({ ...change, bearer: STATIC_TOKEN, path: `/mcp?authorization=${bearer}` })
  await relay.send({ ...legacy('resources/read', { uri: 'relay://broken', authorization: bearer }), bearer })
  await relay.send(modern('tools/call', { name: `service_${bearer}`, arguments: { authorization: bearer } }, { bearer }))
  const told = relay.logLines.join('\n') + (await relay.metrics.render()).text
  expect(told).toContain('mcp.unexpected')
  expect(told).not.toContain(bearer.split('.')[2])
  expect(told).not.toContain(STATIC_TOKEN)
})
