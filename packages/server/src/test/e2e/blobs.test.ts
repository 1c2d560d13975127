import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

const member = (sub: string): TokenOptions => ({ sub, role: 'member' })
const ann = member('ann')

interface BlobAnswer {
  readonly status: number
  readonly bytes: Uint8Array
  readonly headers: Headers
}

async function call(
  relay: RelayUnderTest,
  method: string,
  path: string,
  as: TokenOptions,
  body?: Uint8Array,
): Promise<BlobAnswer> {
  const answer = await relay.fetch(path, {
    method,
    headers: { authorization: `Bearer ${relay.token(as)}`, 'content-type': 'image/png' },
    ...(body && { body: body as Uint8Array<ArrayBuffer> }),
  })
  return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
}
const get = (relay: RelayUnderTest, hash: string, as = ann) => call(relay, 'GET', `/api/blobs/${hash}`, as)
const post = (relay: RelayUnderTest, bytes: Uint8Array, as = ann) => call(relay, 'POST', `/api/blobs/${hashOf(bytes)}`, as, bytes)
const blobBytes = async (relay: RelayUnderTest, as: TokenOptions = ann): Promise<number> => {
  const { bytes } = await call(relay, 'GET', '/api/v1/usage', as)
  return (JSON.parse(Buffer.from(bytes).toString()) as { blobBytes: number }).blobBytes
}
/** Every file in the folder of the blob store. */
const filesOf = (relay: RelayUnderTest): readonly string[] =>
  readdirSync(join(relay.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const ONE = '<p id="blk-0">One</p>'

describe('the life of a blob', () => {
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_BLOB_GC_GRACE_SECS: '1' } })
  })
  afterAll(() => relay?.[Symbol.asyncDispose]())

  it('[BLOB-3] [BLOB-15] a blob survives a crash while a document references it, and is deleted after the document', async () => {
    const bytes = someBytes(500_000, 1)
    const hash = hashOf(bytes)
    expect((await post(relay, bytes)).status).toBe(204)
    await relay.rest(ann).putDocument('shown', { name: 'shown', pages: [], cover: { blobRef: hash } })
    await relay.kill()
    await relay.restart()
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect((await get(relay, hash)).bytes).toEqual(bytes)
    expect(await blobBytes(relay)).toBe(500_000)
    await relay.rest(ann).deleteDocument('shown')
    await until('the bytes to be removed', () => filesOf(relay).length === 0)
    expect([(await get(relay, hash)).status, await blobBytes(relay)]).toEqual([404, 0])
  })

  it('[BLOB-16] [AG-67] a picture that only a recorded call references stays readable and unmetered until an undo restores it', {
    timeout: patience(60_000),
  }, async () => {
    const content = (html: string) => ({ docId: 'pictured', pageId: 'p', format: 'html', replace: true, content: html })
    await relay.rest(ann).putDocument('pictured', { name: 'P', richTextPages: [{ id: 'p', name: 'P', content: ONE }] })
    const agent = await mcpAgent(relay.mcpUrl, relay.token(ann))
    const bytes = someBytes(7, 3)
    const hash = hashOf(bytes)
    expect((await post(relay, bytes)).status).toBe(204)
    await agent.call('set_prose', content(`${ONE}<img src="blob://${hash}">`))
    expect(await blobBytes(relay)).toBe(bytes.length)
    const { callId } = await agent.call('set_prose', content(ONE))
    await until('the picture to be metered no more', async () => (await blobBytes(relay)) === 0, 30_000)
    const read = await get(relay, hash)
    expect([read.status, read.bytes]).toEqual([200, bytes])
    await agent.call('undo', { docId: 'pictured', callId })
    expect(await blobBytes(relay)).toBe(bytes.length)
    const { page } = await agent.call('get_prose', { docId: 'pictured', pageId: 'p', format: 'html' })
    expect((page as { readonly content: string }).content).toContain(hash)
  })

  it('[OPS-2] /readyz includes a check of the blob storage', async () => {
    const { checks } = (await (await relay.fetch('/readyz')).json()) as { checks: Record<string, unknown> }
    expect(checks['blobs']).toEqual({ ok: true })
  })
})

it('[BLOB-2] [BLOB-6] with private blobs a reference in live content grants access at once', async () => {
  await using relay = await startRelayUnderTest({ env: { RELAY_ENFORCE_PRIVATE_BLOBS: 'true' } })
  const bytes = someBytes(1_000, 2)
  const hash = hashOf(bytes)
  await post(relay, bytes)
  await relay.rest(ann).putDocument('live', {
    name: 'live',
    pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }],
    sharedWith: [{ userId: 'ben', permission: 'view' }],
  })
  expect((await get(relay, hash, member('ben'))).status).toBe(404)
  const client = relay.sync('live', ann)
  await saved(client)
  client.doc.getMap('shapes:canvas').set('image', { id: 'image', type: 'rectangle', x: 1, y: 1, w: 1, h: 1, blobRef: hash })
  await saved(client)
  expect((await get(relay, hash, member('ben'))).bytes).toEqual(bytes)
  expect((await get(relay, hash, member('eve'))).status).toBe(404)
})

describe('[R-5] [BLOB-14] [Q2] a crash during 100 uploads against a quota for 50', () => {
  const SIZE = 100_000
  const QUOTA = 50 * SIZE
  const limited: TokenOptions = { sub: 'ann', wsp: [{ id: 'default', role: 'member', quota_bytes: QUOTA }] }

  /** Sends the body in two pieces with a pause. Returns the status, or 0 when the connection ended without one. */
  function slowPost(relay: RelayUnderTest, bytes: Uint8Array, pauseMs: number): Promise<number> {
    const headers = { authorization: `Bearer ${relay.token(limited)}`, 'content-length': bytes.byteLength }
    return new Promise((resolve) => {
      const url = `${relay.baseUrl}/api/blobs/${hashOf(bytes)}`
      const request = httpRequest(url, { method: 'POST', headers, agent: false }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', () => resolve(0))
      })
      request.on('error', () => resolve(0))
      request.write(bytes.subarray(0, SIZE / 2))
      setTimeout(() => request.end(bytes.subarray(SIZE / 2)), pauseMs).unref()
    })
  }

  it('used bytes never exceed the quota, acknowledged blobs survive the crash, and nothing reserved or stored is left over', async () => {
    await using relay = await startRelayUnderTest({ env: { RELAY_MAX_CONCURRENT_BLOB_UPLOADS: '200' } })
    const blobs = Array.from({ length: 100 }, (_, i) => someBytes(SIZE, 1_000 + i))
    const statuses = new Map<string, number>()
    let mostUsed = 0
    const uploads = blobs.map(async (bytes, i) => {
      // Every twentieth upload is still running at the kill, however slow the machine is.
      const status = await slowPost(relay, bytes, i % 20 === 19 ? 60_000 : (i % 20) * 60)
      statuses.set(hashOf(bytes), status)
    })
    await until('some uploads to be through', async () => {
      mostUsed = Math.max(mostUsed, await blobBytes(relay))
      return [...statuses.values()].filter((status) => status === 204).length >= 10
    })
    await relay.kill()
    await Promise.all(uploads)
    const acknowledged = blobs.filter((bytes) => statuses.get(hashOf(bytes)) === 204)
    expect(acknowledged.length).toBeGreaterThanOrEqual(10)
    expect([...statuses.values()]).toContain(0)

    await relay.restart()
    const present: Uint8Array[] = []
    for (const bytes of blobs) {
      const answer = await get(relay, hashOf(bytes))
      if (answer.status === 200) present.push(bytes)
      if (answer.status === 200) expect(answer.bytes).toEqual(bytes)
      else expect(answer.status).toBe(404)
    }
    for (const bytes of acknowledged) expect(present).toContain(bytes)
    mostUsed = Math.max(mostUsed, await blobBytes(relay))
    expect(await blobBytes(relay)).toBe(present.length * SIZE)
    await until('bytes without a record to be removed', () => filesOf(relay).length === present.length)

    // The reservations of the killed process are released: exactly as many more blobs fit as the quota leaves room for.
    let admitted = 0
    for (let i = 0; i < 60; i++) {
      const { status } = await post(relay, someBytes(SIZE, 5_000 + i), limited)
      if (status !== 204) {
        expect(status).toBe(507)
        break
      }
      admitted += 1
    }
    expect(present.length + admitted).toBe(50)
    expect(await blobBytes(relay)).toBe(QUOTA)
    expect(mostUsed).toBeLessThanOrEqual(QUOTA)

    await relay.stop()
    await relay.restart({ RELAY_BLOB_GC_GRACE_SECS: '0' })
    await until('everything unreferenced to be removed', () => filesOf(relay).length === 0)
    expect(await blobBytes(relay)).toBe(0)
  })
})
