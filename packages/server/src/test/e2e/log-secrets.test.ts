import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

/** Part of every value that must never be logged. The log has its most verbose level. */
const PLANTED = 'planted-secret'
const PUSH_BEARER = `${PLANTED}-push-bearer-of-thirty-two-characters`

let relay: RelayUnderTest
let s3: S3UnderTest
/** Share tokens and signatures that the relay issued. */
const issued: string[] = []
const tokens: string[] = []

beforeAll(async () => {
  s3 = await startS3()
  relay = await startRelayUnderTest({
    env: {
      RELAY_LOG_LEVEL: 'debug',
      RELAY_REVOCATION_BEARER: PUSH_BEARER,
      RELAY_BLOBS_URL: s3.url,
      RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      RELAY_BLOB_INGEST_ALLOWED_HOSTS: 'files.invalid',
    },
  })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
})

function token(sub: string): string {
  const made = relay.token({ sub })
  tokens.push(made)
  return made
}

async function request(method: string, path: string, bearer: string, body?: string): Promise<number> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const response = await relay.fetch(path, { method, headers, ...(body === undefined ? {} : { body }) })
  await response.arrayBuffer()
  return response.status
}

async function answerOf(path: string, bearer: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const response = await relay.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Record<string, unknown>
}

/** Uses valid and invalid share tokens and presigned URLs, and an ingest with a secret credential and URL. */
async function shareAndTransfer(bearer: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const link = await answerOf('/api/v1/docs/d1/share-links', bearer, { expires_at: expiresAt })
  await answerOf('/api/v1/share-links/redeem', token('ben'), { token: link['token'] })
  await answerOf('/api/v1/share-links/redeem', token('ben'), { token: `${PLANTED}-share-token` })
  const bytes = someBytes(1_000)
  const blob = `/api/v1/blobs/${hashOf(bytes)}`
  const upload = await answerOf(`${blob}/upload-url`, bearer, { size: bytes.byteLength, mimeType: 'image/png' })
  const headers = upload['headers'] as Record<string, string>
  expect((await fetch(String(upload['url']), { method: 'PUT', headers, body: bytes })).status).toBe(200)
  await answerOf(`${blob}/finalize`, bearer, { mimeType: 'image/png' })
  const download = await answerOf(`${blob}/download-url`, bearer, {})
  const signatures = [upload, download].map(({ url }) => new URL(String(url)).searchParams.get('X-Amz-Signature') ?? '')
  issued.push(String(link['token']), ...signatures)
  const url = `https://files.invalid/${PLANTED}?sig=${PLANTED}`
  const ingest = { url, authorization: `Bearer ${PLANTED}`, source: PLANTED, tags: [PLANTED] }
  expect(await answerOf('/api/v1/blobs/ingest-from-url', bearer, ingest)).toHaveProperty('errorCode')
}

async function edit(): Promise<void> {
  const client = relay.sync('d1', { sub: 'ann' })
  const other = relay.sync('d1', { sub: 'ann' })
  await saved(client, other)
  client.awareness.setLocalState({ user: { name: PLANTED } })
  client.doc.getMap('metadata').set('title', `${PLANTED} title`)
  await saved(client)
  await until('the state to arrive', () =>
    [...other.awareness.getStates().values()].some((state) => JSON.stringify(state).includes(PLANTED)),
  )
  client.destroy()
  other.destroy()
}

/** Opens a socket with a secret in its URL and in what it sends. Resolves when the socket is closed. */
async function strayVisitor(): Promise<void> {
  const socket = new WebSocket(`${relay.wsUrl}?protocolVersion=4&token=${PLANTED}&access_token=${token('stray')}`, [PLANTED])
  await new Promise<void>((resolve) => {
    socket.onopen = () => {
      socket.send(Buffer.concat([Buffer.of(2), Buffer.from(JSON.stringify(`${PLANTED}.eyJhIjoxfQ.x`))]))
    }
    socket.onclose = () => resolve()
    socket.onerror = () => resolve()
  })
}

describe('the log of a running relay', () => {
  it('[OPS-6] the log contains no token, secret, query string, document content or awareness', async () => {
    const ann = token('ann')
    const body = JSON.stringify({ name: PLANTED, richTextPages: [{ id: 'text', name: PLANTED, content: `<p>${PLANTED}</p>` }] })
    const statuses = [
      await request('PUT', '/api/docs/d1', ann, body),
      await request('PUT', '/api/docs/d2', ann, `{"name": ${PLANTED}`),
      await request('PUT', '/api/docs/d2', ann, `{"pages": "${PLANTED}"}`),
      await request('GET', `/api/docs?q=${PLANTED}&cursor=${PLANTED}`, ann),
      await request('GET', '/api/docs/d1', `${ann.slice(0, -8)}AAAAAAAA`),
      await request('GET', '/api/docs/d1', PLANTED),
      await request('GET', `/api/nothing/here?token=${PLANTED}`, ann),
      await request('POST', '/api/v1/internal/revoke', PLANTED, '{}'),
      await request('POST', '/api/v1/internal/revoke', PUSH_BEARER, `{"revocations": "${PLANTED}"}`),
    ]
    expect(statuses).toEqual([200, 400, 400, expect.any(Number), 401, 400, 404, 401, 400])
    await edit()
    await shareAndTransfer(ann)
    await strayVisitor()
    await request('DELETE', '/api/docs/d1', ann)
    expect(await relay.stop()).toBe(0)

    const log = relay.logLines.join('\n')
    expect(relay.logLines.length).toBeGreaterThan(5)
    expect(log).not.toContain(PLANTED)
    expect(issued.filter((secret) => secret.length < 8)).toEqual([])
    for (const secret of issued) expect(log).not.toContain(secret)
    for (const part of tokens.flatMap((made) => made.split('.'))) expect(log).not.toContain(part.slice(0, 20))
  })

  it('[OPS-5] every log line is one JSON object with time, level, event and message', () => {
    for (const line of relay.logLines) {
      const text = expect.any(String) as unknown
      expect(JSON.parse(line)).toMatchObject({ ts: text, level: text, event: text, msg: text })
    }
  })
})
