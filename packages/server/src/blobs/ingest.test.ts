import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import { type Answer, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { type Internet, startInternet } from '../outbound/testing/internet.ts'
import { hashOf, someBytes } from './testing/blob-bytes.ts'

const PATH = '/api/v1/blobs/ingest-from-url'
const SECRET = 'canary-7f3a9c'
const MAX_BLOB_BYTES = 1_000_000

let internet: Internet
let relay: RestRelay
beforeAll(async () => {
  internet = await startInternet(['files.example', 'cdn.example', 'private.example'])
  internet.names.set('private.example', ['10.0.0.1'])
  relay = await startRestRelay({
    blobs: { maxBlobBytes: MAX_BLOB_BYTES, maxConcurrentUploads: 2 },
    ingest: { allowedHosts: ['files.example', 'private.example', '127.0.0.1'], network: internet.network },
  })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await internet[Symbol.asyncDispose]()
})
beforeEach(() => {
  internet.requests.length = 0
  internet.connections.length = 0
})

/** A member of a workspace; without a given workspace, of a new one. */
const member = (workspace: string = randomUUID(), claims = {}): TokenOptions => ({
  sub: 'ann',
  wsp: [{ id: workspace, role: 'member', ...claims }],
})
const serve = (bytes: Uint8Array, headers = {}) =>
  internet.sites.set('files.example', (_, response) => response.writeHead(200, headers).end(bytes))
const serving = (answer: (response: ServerResponse) => void) =>
  internet.sites.set('files.example', (_, response) => answer(response))
const ingest = (body: unknown, as: TokenOptions = member(), on = relay): Promise<Answer> => on.call('POST', PATH, { as, body })
const url = 'https://files.example/a.png?signature=canary-query'
const outcome = ({ status, json }: Answer) => [status, json.errorCode ?? 'ok']

describe('ingest-from-url', () => {
  it('[BLOB-17] [interface REST rule 8] ingest stores the bytes of the URL and answers hash, size and type', async () => {
    const as = member()
    const bytes = someBytes(300_000, 1)
    serve(bytes, { 'content-type': 'text/html' })
    const answer = await ingest(
      { url, authorization: `Token ${SECRET}`, mimeType: 'Image/PNG; q=1', source: 'import', tags: ['a', 'b'] },
      as,
    )
    expect([answer.status, answer.json]).toEqual([200, { hash: hashOf(bytes), size: 300_000, mimeType: 'image/png' }])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(internet.requests[0]?.headers).toMatchObject({ authorization: `Token ${SECRET}`, 'user-agent': 'docrelay/test' })
    const served = await relay.call('GET', `/api/blobs/${hashOf(bytes)}`, { as })
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(await ingest({ url }, as)).toMatchObject({ status: 200, json: { hash: hashOf(bytes), mimeType: 'image/png' } })
  })

  it('[BLOB-4] [BLOB-17] only the URL is required, and types that could run scripts are stored as unknown', async () => {
    serve(someBytes(10, 2), { 'content-type': 'text/html' })
    expect((await ingest({ url })).json).toMatchObject({ size: 10, mimeType: 'application/octet-stream' })
    expect((await ingest({ url, mimeType: 'text/html' })).json).toMatchObject({ mimeType: 'application/octet-stream' })
    expect((await ingest({ url, mimeType: null, authorization: null, source: null, tags: null })).status).toBe(200)
  })

  it('[BLOB-17] source and tags are stored unchanged with the record', async () => {
    const workspace = randomUUID()
    const bytes = someBytes(20, 3)
    serve(bytes)
    const provenance = { source: 'impört \u0000 "x"', tags: ['', 'ÿ', 'x'.repeat(256)] }
    expect((await ingest({ url, ...provenance }, member(workspace))).status).toBe(200)
    using database = new DatabaseSync(join(relay.directory, 'relay.db'), { readOnly: true })
    const row = database.prepare('select provenance from blob_grants where workspace_id = ?').get(workspace)
    expect(JSON.parse(String(row?.provenance))).toEqual(provenance)
  })
})

describe('refused ingests', () => {
  it('[REST-3] [REST-14] without an allowlist every ingest is refused', async () => {
    await using off = await startRestRelay()
    for (const body of [{ url }, { url: 'http://x' }, {}]) {
      const answer = await ingest(body, member(), off)
      expect(outcome(answer)).toEqual([403, 'INGEST_DISABLED'])
      expect(answer.json.error).toMatch(/^ingest_not_configured: /)
    }
  })

  it('[PERM-3] an ingest of a viewer is refused before anything is fetched', async () => {
    const answer = await ingest({ url }, { sub: 'vic', role: 'viewer' })
    expect(outcome(answer)).toEqual([403, 'EDIT_FORBIDDEN'])
    expect(internet.connections).toEqual([])
  })

  it.each([
    [{}, 'BAD_URL', 'url'],
    [{ url: 7 }, 'BAD_URL', 'url'],
    [{ url: '' }, 'BAD_URL', 'url'],
    [{ url: 'files.example/a' }, 'BAD_URL', 'url'],
    [{ url: 'http://files.example/' }, 'BAD_URL', 'url'],
    [{ url: 'https://' }, 'BAD_URL', 'url'],
    [{ url: 'file:///etc/passwd' }, 'BAD_URL', 'url'],
    [{ url: `https://files.example/${'x'.repeat(8_192)}` }, 'BAD_URL', 'url'],
    [{ url, authorization: 7 }, 'BAD_REQUEST', 'authorization'],
    [{ url, authorization: 'a\r\nX-Injected: 1' }, 'BAD_REQUEST', 'authorization'],
    [{ url, authorization: '\u0100' }, 'BAD_REQUEST', 'authorization'],
    [{ url, authorization: 'x'.repeat(8_193) }, 'BAD_REQUEST', 'authorization'],
    [{ url, mimeType: ['image/png'] }, 'BAD_REQUEST', 'mimeType'],
    [{ url, source: {} }, 'BAD_REQUEST', 'source'],
    [{ url, source: 'ä'.repeat(1_025) }, 'BAD_REQUEST', 'source'],
    [{ url, tags: 'a' }, 'BAD_REQUEST', 'tags'],
    [{ url, tags: Array.from({ length: 33 }, () => 'a') }, 'BAD_REQUEST', 'tags'],
    [{ url, tags: ['a', 7] }, 'BAD_REQUEST', 'tags[1]'],
    [{ url, tags: ['ä'.repeat(129)] }, 'BAD_REQUEST', 'tags[0]'],
    [[], 'BAD_REQUEST', 'body'],
  ])('[BLOB-17] [REST-14] a malformed ingest request is refused with its bad member (%#)', async (body, code, field) => {
    const answer = await ingest(body)
    expect([answer.status, answer.json]).toEqual([400, expect.objectContaining({ errorCode: code, field })])
    expect([internet.connections, answer.text.includes('Injected')]).toEqual([[], false])
  })

  it('[BLOB-17] an ingest request with values exactly at the limits is accepted', async () => {
    serve(someBytes(5, 4))
    const tags = Array.from({ length: 32 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(256))
    expect((await ingest({ url, source: 'x'.repeat(2_048), tags, authorization: 'y'.repeat(8_192) })).status).toBe(200)
  })

  it.each([
    ['https://other.example/', 'other.example'],
    ['https://sub.files.example/', 'sub.files.example'],
    ['https://user:pass@files.example/', 'files.example'],
    ['https://127.0.0.1/', '127.0.0.1'],
    ['https://2130706433/', '127.0.0.1'],
    ['https://[::1]/', '::1'],
    ['https://private.example/', 'private.example'],
  ])('[BLOB-18] [REST-3] an ingest from %s is refused', async (refused, host) => {
    const answer = await ingest({ url: refused })
    expect([answer.status, answer.json]).toEqual([403, expect.objectContaining({ errorCode: 'URL_NOT_ALLOWED', host, hop: 0 })])
    expect(answer.json.error).toMatch(/^url_not_allowed: /)
    expect([internet.connections, internet.trapped()]).toEqual([[], 0])
  })

  it('[BLOB-18] [BLOB-17] a redirect to a host outside the allowlist is refused, and the authorization is not sent there', async () => {
    serving((response) => response.writeHead(302, { location: 'https://cdn.example/x?token=canary-query' }).end())
    const answer = await ingest({ url, authorization: SECRET })
    expect([answer.status, answer.json]).toEqual([
      403,
      expect.objectContaining({ errorCode: 'URL_NOT_ALLOWED', host: 'cdn.example', hop: 1 }),
    ])
    expect(internet.requests.map(({ host }) => host)).toEqual(['files.example'])
  })

  it('[BLOB-17] a bad answer of the source gives 502 without quoting it', async () => {
    serving((response) => response.writeHead(404).end('the text of the source'))
    const answer = await ingest({ url })
    expect([answer.status, answer.json]).toEqual([
      502,
      expect.objectContaining({ errorCode: 'FETCH_FAILED', status: 404, reason: 'status' }),
    ])
    expect(answer.text).not.toContain('the text')
    serving((response) => response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()))
    expect(outcome(await ingest({ url }))).toEqual([502, 'FETCH_FAILED'])
  })

  it('[BLOB-17] max_blob_bytes applies to the announced and the received size, and nothing is stored above it', async () => {
    const workspace = randomUUID()
    serve(Buffer.alloc(MAX_BLOB_BYTES + 1))
    expect(outcome(await ingest({ url }, member(workspace)))).toEqual([413, 'BLOB_TOO_LARGE'])
    serving((response) => {
      response.write(Buffer.alloc(MAX_BLOB_BYTES))
      response.end(Buffer.alloc(1))
    })
    expect(outcome(await ingest({ url }, member(workspace)))).toEqual([413, 'BLOB_TOO_LARGE'])
    serve(Buffer.alloc(MAX_BLOB_BYTES))
    expect((await ingest({ url }, member(workspace))).json).toMatchObject({ size: MAX_BLOB_BYTES })
    expect(await relay.storage.blobs.meteredBytes(workspace)).toBe(MAX_BLOB_BYTES)
  })

  it('[BLOB-17] [BLOB-14] an ingest over quota is refused, and an ingest of a held blob is not', async () => {
    const workspace = randomUUID()
    const as = member(workspace, { quota_bytes: 10_000 })
    serve(someBytes(10_001, 5))
    expect(outcome(await ingest({ url }, as))).toEqual([507, 'STORAGE_QUOTA'])
    expect(await relay.storage.blobs.meteredBytes(workspace)).toBe(0)
    serve(someBytes(9_000, 6))
    expect((await ingest({ url }, as)).status).toBe(200)
    // A blob that the workspace holds adds nothing, so its ingest is accepted although the quota has no room for it.
    expect((await ingest({ url }, as)).status).toBe(200)
    expect((await ingest({ url }, member(workspace, { quota_bytes: 5_000 }))).status).toBe(200)
    expect(await relay.storage.blobs.meteredBytes(workspace)).toBe(9_000)
  })

  it('[REST-12] more ingests than max_concurrent_blob_uploads answer 429, counting those that wait for their source', async () => {
    const waiting: ServerResponse[] = []
    serving((response) => void waiting.push(response))
    const as = member()
    const running = [ingest({ url }, as), ingest({ url }, as)]
    await expect.poll(() => waiting.length).toBe(2)
    const refused = await ingest({ url }, as)
    expect(outcome(refused)).toEqual([429, 'TOO_MANY_UPLOADS'])
    expect(waiting).toHaveLength(2)
    for (const response of waiting) response.end('bytes')
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('[OPS-6] [BLOB-17] no log line and no answer contains the authorization or the query of an ingest', async () => {
    serve(someBytes(8, 7))
    const as = member()
    const answers = [
      await ingest({ url, authorization: SECRET, source: 'canary-source', tags: ['canary-tag'] }, as),
      await ingest({ url: 'https://other.example/?x=canary-query', authorization: SECRET }, as),
      await ingest({ url: 'https://u:canary-password@files.example/', authorization: `${SECRET}\n` }, as),
    ]
    serving((response) => response.writeHead(500).end('canary-text'))
    answers.push(await ingest({ url, authorization: SECRET }, as))
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 400, 502])
    const told = JSON.stringify(relay.logLines) + answers.map(({ text }) => text).join('')
    expect(told).not.toContain('canary')
    expect(relay.logLines.filter(({ event }) => event === 'blob.ingested').at(-1)).toMatchObject({
      audit: true,
      sub: 'ann',
      host: 'files.example',
      sizeBytes: 8,
      hash: hashOf(someBytes(8, 7)),
    })
  })
})
