import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { MAX_PIXELS, pixelSize } from './rasterise.ts'

const OWNER = { sub: 'ann' }
const BODY = {
  name: 'Drawn',
  activePageId: 'second',
  pages: [
    { id: 'first', name: 'First', shapes: [{ id: 'a', type: 'rectangle', x: 0, y: 0, width: 100, height: 80, label: 'one' }] },
    {
      id: 'second',
      name: 'Second',
      shapes: [{ id: 'b', type: 'ellipse', x: 0, y: 0, radiusX: 50, radiusY: 40, label: '<two>' }],
    },
  ],
}

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
  await relay.call('PUT', '/api/docs/d', { as: OWNER, body: BODY })
})
afterAll(() => relay[Symbol.asyncDispose]())

/** Returns width and height from the header of a PNG. */
async function pngSize(path: string): Promise<{ width: number; height: number }> {
  const response = await fetch(`${relay.url}${path}`, { headers: { authorization: `Bearer ${relay.issuer.token(OWNER)}` } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('image/png')
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG')
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

const svg = (query = '', headers = {}) => relay.call('GET', `/api/v1/docs/d/preview.svg${query}`, { as: OWNER, headers })

describe('previews over REST', () => {
  it('[REST-34] a preview shows the requested page, else the active one', async () => {
    expect((await svg('?page=first')).text).toContain('>one<')
    const active = await svg()
    expect(active.status).toBe(200)
    expect(active.text).toContain('&lt;two&gt;')
    expect(active.headers.get('content-type')).toBe('image/svg+xml')
  })

  it('[REST-34] without an active page a preview shows the first, and without any page an empty one', async () => {
    const { activePageId: _, ...rest } = BODY
    await relay.call('PUT', '/api/docs/plain', { as: OWNER, body: rest })
    expect((await relay.call('GET', '/api/v1/docs/plain/preview.svg', { as: OWNER })).text).toContain('>one<')
    await relay.call('PUT', '/api/docs/none', { as: OWNER, body: { pages: [] } })
    expect((await relay.call('GET', '/api/v1/docs/none/preview.svg', { as: OWNER })).text).toContain('viewBox="0 0 400 300"')
  })

  it('[REST-34] an unknown page and an unknown document answer 404', async () => {
    expect((await svg('?page=third')).json).toMatchObject({ errorCode: 'NOT_FOUND', resource: 'page' })
    const unknown = await relay.call('GET', '/api/v1/docs/nobody/preview.svg', { as: OWNER })
    expect(unknown).toMatchObject({ status: 404, json: { errorCode: 'NOT_FOUND', resource: 'document' } })
  })

  it('[REST-34] the scale multiplies the pixels of a PNG and the size of an SVG', async () => {
    expect(await pngSize('/api/v1/docs/d/preview.png')).toEqual({ width: 180, height: 160 })
    expect(await pngSize('/api/v1/docs/d/preview.png?scale=2.5')).toEqual({ width: 450, height: 400 })
    expect((await svg('?scale=0.5')).text).toContain('width="90" height="80"')
  })

  it.each(['0', '0.09', '4.01', '-1', 'abc', '1e1', 'NaN', ''])('[REST-34] scale %j is refused', async (scale) => {
    const answer = await svg(`?scale=${scale}`)
    expect(answer).toMatchObject({ status: 400, json: { errorCode: 'BAD_REQUEST', field: 'scale' } })
  })

  it('[REST-34] a PNG has at most 16 megapixels and at least one', async () => {
    const body = { pages: [{ id: 'p', shapes: [{ id: 'a', type: 'rectangle', x: 0, y: 0, width: 1_000_000, height: 30 }] }] }
    await relay.call('PUT', '/api/docs/wide', { as: OWNER, body })
    const { width, height } = await pngSize('/api/v1/docs/wide/preview.png?scale=4')
    expect(width * height).toBeLessThanOrEqual(16_000_000)
    expect(width).toBeGreaterThan(100_000)
    for (const page of [
      { width: 1e7, height: 1e7 },
      { width: 2e7, height: 81 },
      { width: 81, height: 2e7 },
      { width: 400, height: 300 },
    ]) {
      for (const scale of [0.1, 1, 4]) {
        const size = pixelSize(page, scale)
        expect(size.width * size.height).toBeLessThanOrEqual(MAX_PIXELS)
        expect(Math.min(size.width, size.height)).toBeGreaterThanOrEqual(1)
      }
    }
  })

  it('[REST-35] the ETag of a preview names version, page, scale, renderer and life of the document, and a known one answers 304', async () => {
    const first = await svg()
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"1-[a-z0-9]+-1-r5-[\w-]{16}"$/)
    expect((await svg('', { 'if-none-match': etag })).status).toBe(304)
    const others = await Promise.all([svg('?page=first'), svg('?page=second'), svg('?scale=2')])
    expect(new Set([etag, ...others.map((answer) => answer.headers.get('etag'))]).size).toBe(4)
    await relay.call('PUT', '/api/docs/d', { as: OWNER, body: { ...BODY, name: 'Again' } })
    expect((await svg('', { 'if-none-match': etag })).status).toBe(200)
  })

  it('[REST-35] an SVG preview is served with a policy that forbids scripts and loading', async () => {
    const { headers } = await svg()
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox")
    expect(headers.get('cache-control')).toBe('private, no-cache')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('[REST-34] the bytes of a PNG are the same each time, also with text in other scripts', async () => {
    const body = {
      pages: [{ id: 'p', shapes: [{ id: 'a', type: 'text', x: 0, y: 0, text: 'Résumé — Ωμέγα — текст', fontFamily: 'serif' }] }],
    }
    await relay.call('PUT', '/api/docs/text', { as: OWNER, body })
    const [one, two] = await Promise.all(
      [1, 2].map(() => relay.call('GET', '/api/v1/docs/text/preview.png', { as: OWNER }).then((answer) => answer.text)),
    )
    expect(one?.length).toBeGreaterThan(500)
    expect(two).toBe(one)
  })
})
