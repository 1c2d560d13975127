import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import { type Answer, type CallOptions, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { patience } from '../kernel/testing/patience.ts'
import { hashOf, someBytes } from './testing/blob-bytes.ts'
import { directStore } from './testing/direct-store.ts'

const member = (sub: string): TokenOptions => ({ sub, role: 'member' })
const ann = member('ann')
const viewer: TokenOptions = { sub: 'vic', role: 'viewer' }
const SERVED = {
  'cache-control': 'private, max-age=31536000, immutable',
  'accept-ranges': 'bytes',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ blobs: { maxBlobBytes: 1_000_000 } })
})
afterAll(() => relay[Symbol.asyncDispose]())

const at = (hash: string, more = ''): string => `/api/blobs/${hash}${more}`
const presign = (hash: string, verb: string): string => `/api/v1/blobs/${hash}/${verb}`
const post = (bytes: Uint8Array, options: CallOptions = { as: ann }, hash = hashOf(bytes), on = relay) =>
  on.call('POST', at(hash), { ...options, raw: bytes })
const stored = async (bytes: Uint8Array, contentType = 'image/png', on = relay): Promise<string> => {
  expect((await post(bytes, { as: ann, headers: { 'content-type': contentType } }, hashOf(bytes), on)).status).toBe(204)
  return hashOf(bytes)
}
const headersOf = ({ headers }: Answer, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, headers.get(name)]))

describe('POST', () => {
  it('[BLOB-3] [REST-1] POST stores the bytes and answers 204, with a declared length or chunked', async () => {
    const bytes = someBytes(300_000, 11)
    const answer = await post(bytes)
    expect([answer.status, answer.text]).toEqual([204, ''])
    const chunked = someBytes(300_000, 12)
    expect((await post(chunked, { as: ann, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(204)
    for (const each of [bytes, chunked]) expect((await relay.call('GET', at(hashOf(each)), { as: ann })).bytes).toEqual(each)
    expect((await relay.call('GET', `/api/v1/blobs/${hashOf(bytes)}`, { as: ann })).status).toBe(200)
  })

  it('[BLOB-1] [X35] a hash that is not 64 lowercase hex digits answers 400 BAD_ID before any other check', async () => {
    const hash = hashOf(someBytes(5))
    for (const bad of [hash.toUpperCase(), hash.slice(1), `${hash}0`, `${hash.slice(1)}g`, '%2e%2e%2fetc', `${hash}%00`]) {
      for (const [method, path] of [
        ['GET', at(bad)],
        ['HEAD', at(bad)],
        ['POST', at(bad)],
        ['POST', presign(bad, 'upload-url')],
        ['POST', presign(bad, 'finalize')],
        ['POST', presign(bad, 'download-url')],
      ] as const) {
        const answer = await relay.call(method, path, { as: viewer })
        expect([path, answer.status]).toEqual([path, 400])
        if (method !== 'HEAD') expect(answer.json).toMatchObject({ errorCode: 'BAD_ID', field: 'hash' })
      }
    }
  })

  it('[BLOB-3] [X35] bytes of another hash answer 400 HASH_MISMATCH, and a cut upload leaves nothing', async () => {
    const hash = hashOf(someBytes(10, 20))
    const answer = await post(someBytes(10, 21), { as: ann }, hash)
    expect([answer.status, answer.json]).toEqual([
      400,
      expect.objectContaining({ errorCode: 'HASH_MISMATCH', expected: hash, actual: hashOf(someBytes(10, 21)) }),
    ])
    const head = `POST ${at(hash)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${relay.issuer.token(ann)}\r\nContent-Length: 10\r\n\r\nhalf`
    await relay.socket(head, 300)
    expect((await relay.call('GET', at(hash), { as: ann })).status).toBe(404)
  })

  it('[PERM-3] [REST-14] role, size and quota are checked before the body is read', async () => {
    const bytes = someBytes(1_000_001)
    expect((await post(someBytes(3), { as: viewer })).json).toMatchObject({ errorCode: 'EDIT_FORBIDDEN', role: 'viewer' })
    const large = await post(bytes, { as: ann, headers: { 'content-length': '1000001', expect: '100-continue' } })
    expect([large.status, large.json.errorCode, large.json.maxBytes]).toEqual([413, 'BLOB_TOO_LARGE', 1_000_000])
    const poor = { as: { sub: 'ann', wsp: [{ id: 'poor', role: 'member', quota_bytes: 10 }] } }
    const over = await post(someBytes(11), poor)
    expect([over.status, over.json]).toEqual([
      507,
      expect.objectContaining({ errorCode: 'STORAGE_QUOTA', usedBytes: 0, addedBytes: 11, quotaBytes: 10, source: 'claim' }),
    ])
    expect((await post(someBytes(10), poor)).status).toBe(204)
    expect((await post(someBytes(10), poor)).status).toBe(204)
  })
})

describe('GET and HEAD', () => {
  it('[BLOB-7] GET of a blob answers its bytes and headers', async () => {
    const bytes = someBytes(5_000, 30)
    const hash = await stored(bytes)
    const answer = await relay.call('GET', at(hash), { as: viewer })
    expect([answer.status, answer.bytes]).toEqual([200, bytes])
    expect(headersOf(answer, Object.keys(SERVED))).toEqual(SERVED)
    expect(headersOf(answer, ['etag', 'content-length', 'content-type', 'content-disposition', 'x-blob-created-at'])).toEqual({
      etag: `"${hash}"`,
      'content-length': '5000',
      'content-type': 'image/png',
      'content-disposition': null,
      'x-blob-created-at': null,
    })
  })

  it('[BLOB-8] HEAD of a blob answers the headers of GET and the time when the blob was stored', async () => {
    const before = Date.now()
    const hash = await stored(someBytes(5_000, 31), 'image/svg+xml')
    const get = await relay.call('GET', at(hash), { as: ann })
    const head = await relay.call('HEAD', at(hash), { as: ann, headers: { range: 'bytes=0-1' } })
    expect([head.status, head.bytes.byteLength]).toEqual([200, 0])
    const names = [...Object.keys(SERVED), 'etag', 'content-length', 'content-type', 'content-disposition']
    expect(headersOf(head, names)).toEqual(headersOf(get, names))
    const createdAt = head.headers.get('x-blob-created-at') ?? ''
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before)
    expect((await relay.call('HEAD', at(hashOf(someBytes(32))), { as: ann })).status).toBe(404)
  })

  it('[BLOB-7] GET with one range answers 206 or 416, with several 200, with If-None-Match 304', async () => {
    const bytes = someBytes(1_000, 33)
    const hash = await stored(bytes)
    const get = (headers: Record<string, string>) => relay.call('GET', at(hash), { as: ann, headers })
    const part = await get({ range: 'bytes=100-199' })
    expect([part.status, part.bytes]).toEqual([206, bytes.slice(100, 200)])
    expect(headersOf(part, [...Object.keys(SERVED), 'content-range', 'content-length'])).toEqual({
      ...SERVED,
      'content-range': 'bytes 100-199/1000',
      'content-length': '100',
    })
    expect((await get({ range: 'bytes=-1' })).bytes).toEqual(bytes.slice(999))
    const outside = await get({ range: 'bytes=1000-' })
    expect([outside.status, outside.json, outside.headers.get('content-range')]).toEqual([
      416,
      expect.objectContaining({ errorCode: 'RANGE_NOT_SATISFIABLE', sizeBytes: 1_000 }),
      'bytes */1000',
    ])
    expect((await get({ range: 'bytes=0-1,5-6' })).status).toBe(200)
    expect((await get({ range: 'bytes=0-1', 'if-range': `"${hash}"` })).status).toBe(206)
    expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200)
    for (const known of [`"${hash}"`, `W/"${hash}"`, `"x", "${hash}"`, '*']) {
      const answer = await get({ 'if-none-match': known })
      expect([answer.status, answer.bytes.byteLength, answer.headers.get('etag')]).toEqual([304, 0, `"${hash}"`])
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('[BLOB-7] an empty blob is served whole, and any range of it answers 416', async () => {
    const hash = await stored(new Uint8Array(0))
    const answer = await relay.call('GET', at(hash), { as: ann })
    expect([answer.status, answer.headers.get('content-length'), answer.bytes.byteLength]).toEqual([200, '0', 0])
    expect((await relay.call('GET', at(hash), { as: ann, headers: { range: 'bytes=0-0' } })).status).toBe(416)
  })

  it('[REST-6] [BLOB-5] a blob of another workspace answers exactly like a missing one', async () => {
    const hash = await stored(someBytes(100, 40))
    const stranger = { as: { sub: 'eve', workspace: 'elsewhere', role: 'owner' as const }, headers: { 'x-request-id': 'same' } }
    const [foreign, unknown] = [
      await relay.call('GET', at(hash), stranger),
      await relay.call('GET', at(hashOf(someBytes(100, 41))), stranger),
    ]
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect((await relay.call('HEAD', at(hash), stranger)).status).toBe(404)
    expect((await relay.call('GET', at(hash))).status).toBe(401)
  })
})

describe('[BLOB-4] [BLOB-7] [X22] what a blob is served as, by the type it was uploaded with', () => {
  const stays = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'image/x-icon', 'image/tiff']
  const media = ['video/mp4', 'video/webm', 'audio/mpeg', 'audio/ogg', 'audio/wav', 'font/woff2', 'model/gltf-binary']
  const texts = [
    'text/plain',
    'text/csv',
    'text/css',
    'text/markdown',
    'text/calendar',
    'application/json',
    'application/ld+json',
  ]
  const files = [
    'application/pdf',
    'application/zip',
    'application/gzip',
    'application/msword',
    'application/wasm',
    'application/rtf',
  ]
  const scripts = [
    'text/javascript',
    'application/javascript',
    'application/ecmascript',
    'text/jscript',
    'application/x-javascript',
  ]
  const pages = [
    'text/html',
    'TEXT/HTML',
    'text/html;charset=utf-8',
    'application/xhtml+xml',
    'multipart/related',
    'message/rfc822',
  ]
  const xml = ['text/xml', 'application/xml', 'text/xsl', 'application/xslt+xml', 'application/rss+xml', 'application/mathml+xml']
  const odd = ['', 'x', 'image/', '*/*', 'image/png, text/html', 'image/p g', 'text/html,', ';', 'image/"png"', 'text/ht ml']
  const unknown = 'application/octet-stream'
  const rows: (readonly [string, string, string | null])[] = [
    ...[...stays, ...media, ...texts, ...files].map((type) => [type, type, null] as const),
    ...[...scripts, ...pages, ...xml, ...odd].map((type) => [type, unknown, null] as const),
    ['image/svg+xml', 'image/svg+xml', 'attachment'],
    ['IMAGE/SVG+XML; charset=utf-8', 'image/svg+xml', 'attachment'],
  ]

  it('the type table has at least 56 rows', () => expect(rows.length).toBeGreaterThanOrEqual(56))

  it.each(rows.map((row, i) => [i, ...row] as const))(
    'row %i of the type table: type %s is served with its stored type and disposition',
    async (i, given, type, disposition) => {
      const bytes = Buffer.from(`<script>alert(${i})</script>`)
      const hash = await stored(new Uint8Array(bytes), given)
      const names = ['content-type', 'content-disposition', ...Object.keys(SERVED)]
      const expected = { ...SERVED, 'content-type': type, 'content-disposition': disposition }
      for (const range of [undefined, 'bytes=0-4']) {
        const answer = await relay.call('GET', at(hash), { as: ann, headers: range === undefined ? {} : { range } })
        expect(answer.status).toBe(range === undefined ? 200 : 206)
        expect(headersOf(answer, names)).toEqual(expected)
      }
      expect(headersOf(await relay.call('HEAD', at(hash), { as: ann }), names)).toEqual(expected)
    },
  )
})

describe('presigned verbs on files', () => {
  it('[REST-3] [BLOB-10] [BLOB-11] [BLOB-13] on disk presigned verbs answer 409 PRESIGN_UNSUPPORTED for every valid hash, stored or not', async () => {
    const hash = await stored(someBytes(10, 50))
    for (const each of [hash, hashOf(someBytes(10, 51))]) {
      const answers = [
        await relay.call('POST', presign(each, 'upload-url'), { as: ann, body: { size: 10, mimeType: 'image/png' } }),
        await relay.call('POST', presign(each, 'finalize'), { as: ann, body: { mimeType: 'image/png' } }),
        await relay.call('POST', presign(each, 'download-url'), { as: ann }),
        await relay.call('POST', presign(each, 'download-url'), { as: viewer }),
      ]
      for (const { status, json } of answers) {
        expect([status, json.errorCode]).toEqual([409, 'PRESIGN_UNSUPPORTED'])
        expect(json.error).toMatch(/^presign_unsupported: /)
      }
    }
  })

  it('[REST-14] a malformed request answers 400 with its field', async () => {
    const hash = hashOf(someBytes(10, 52))
    for (const [verb, body, field] of [
      ['upload-url', [], 'body'],
      ['upload-url', { mimeType: 'image/png' }, 'size'],
      ['upload-url', { size: '5' }, 'size'],
      ['upload-url', { size: -1 }, 'size'],
      ['upload-url', { size: 1.5 }, 'size'],
      ['upload-url', { size: 5, mimeType: 5 }, 'mimeType'],
      ['finalize', { mimeType: [] }, 'mimeType'],
    ] as const) {
      const answer = await relay.call('POST', presign(hash, verb), { as: ann, body })
      expect([answer.status, answer.json]).toEqual([400, expect.objectContaining({ errorCode: 'BAD_REQUEST', field })])
    }
  })
})

describe('an object store', () => {
  it('[BLOB-8] [BLOB-9] [BLOB-10] [BLOB-11] [BLOB-13] with an object store GET redirects, HEAD does not, and uploads bypass the relay', async () => {
    let direct: ReturnType<typeof directStore> | undefined
    await using objects = await startRestRelay({ blobs: { store: (files) => (direct = directStore(files)).store } })
    const bytes = someBytes(2_000, 60)
    const hash = hashOf(bytes)
    const location = new RegExp(`^https://store.test/blobs/${hash}\\.[0-9a-f]{8}$`)
    const size = { size: 2_000, mimeType: 'image/svg+xml' }
    const ticket = await objects.call('POST', presign(hash, 'upload-url'), { as: ann, body: size })
    expect([ticket.status, ticket.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(ticket.json).toEqual({
      url: expect.any(String),
      headers: { 'content-type': 'image/svg+xml' },
      expiresAt: expect.any(Number),
      key: expect.any(String),
    })
    const early = await objects.call('POST', presign(hash, 'finalize'), { as: ann, body: size })
    expect([early.status, early.json]).toEqual([404, expect.objectContaining({ errorCode: 'OBJECT_NOT_UPLOADED', hash })])
    expect(early.json.error).toMatch(/^object_not_uploaded: /)
    direct?.staged.set(String(ticket.json.key), bytes)
    for (let i = 0; i < 2; i++) {
      const finalized = await objects.call('POST', presign(hash, 'finalize'), { as: ann, body: size })
      expect([finalized.status, finalized.json]).toEqual([200, { success: true, hash, size: 2_000 }])
    }
    expect((await objects.call('POST', presign(hash, 'upload-url'), { as: ann, body: size })).json).toEqual({ exists: true })
    const get = await objects.call('GET', at(hash), { as: ann })
    expect([get.status, get.headers.get('location'), get.headers.get('cache-control'), get.text]).toEqual([
      302,
      expect.stringMatching(location),
      'no-store',
      '',
    ])
    const head = await objects.call('HEAD', at(hash), { as: ann })
    expect([head.status, head.headers.get('content-length'), head.headers.get('x-blob-created-at')]).toEqual([
      200,
      '2000',
      expect.any(String),
    ])
    expect((await objects.call('GET', at(hash), { as: ann, headers: { 'if-none-match': `"${hash}"` } })).status).toBe(304)
    const link = await objects.call('POST', presign(hash, 'download-url'), { as: ann })
    expect([link.status, link.json, link.headers.get('cache-control')]).toEqual([
      200,
      { url: expect.stringMatching(location), expiresAt: expect.any(Number) },
      'no-store',
    ])
    expect((await objects.call('POST', presign(hash, 'download-url'), { as: member('bob') })).status).toBe(404)
    expect((await post(someBytes(10, 61), { as: ann }, undefined, objects)).status).toBe(204)
  })
})

describe('limits of a workspace', () => {
  it('[REST-12] [OPS-4] uploads above max_concurrent_blob_uploads answer 429 with Retry-After and are counted', async () => {
    await using limited = await startRestRelay({ blobs: { maxConcurrentUploads: 1 } })
    const bytes = someBytes(10, 70)
    const token = limited.issuer.token(ann)
    const fields = ['Host: x', `Authorization: Bearer ${token}`, 'Content-Length: 10', 'Expect: 100-continue']
    const hanging = connect(limited.port, '127.0.0.1')
    hanging.write(`POST ${at(hashOf(bytes))} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
    // The relay asks for the bytes: the upload is under way.
    await once(hanging, 'data')
    hanging.write('hal')
    const answer = await post(bytes, { as: ann }, undefined, limited)
    expect([answer.status, answer.json.errorCode, answer.headers.get('retry-after')]).toEqual([429, 'TOO_MANY_UPLOADS', '1'])
    expect((await limited.metrics.render()).text).toContain('relay_rate_limit_rejections_total{surface="upload"} 1\n')
    hanging.destroy()
    await vi.waitFor(async () => expect((await post(bytes, { as: ann }, undefined, limited)).status).toBe(204), patience(5_000))
  })

  it('[BLOB-6] with enforce_private_blobs a blob is readable through a document whose body references it', async () => {
    await using strict = await startRestRelay({ blobs: { enforcePrivateBlobs: true } })
    const hash = await stored(someBytes(10, 71), 'image/png', strict)
    const bob = { as: member('bob') }
    expect((await strict.call('GET', at(hash), bob)).status).toBe(404)
    const body = { pages: [], richTextPages: [], blobRef: hash, sharedWith: [{ userId: 'bob', permission: 'view' }] }
    expect((await strict.call('PUT', '/api/docs/notes', { as: ann, body: { id: 'notes', ...body } })).status).toBe(200)
    expect((await strict.call('GET', at(hash), bob)).status).toBe(200)
    expect((await strict.call('HEAD', at(hash), bob)).status).toBe(200)
    expect((await strict.call('GET', at(hash), { as: member('eve') })).status).toBe(404)
  })
})
