import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { behindPort, type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { logged, type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'

const MIA = { sub: 'mia', role: 'member' }
const MIB = 1_048_576

let s3: S3UnderTest
let proxy: TcpProxy
let relay: RelayUnderTest
let call: Call

beforeAll(async () => {
  s3 = await startS3()
  const endpoint = new URL(new URL(s3.url).searchParams.get('endpoint') ?? '')
  proxy = await startTcpProxy({ host: endpoint.hostname, port: Number(endpoint.port) })
  relay = await startRelayUnderTest({
    env: {
      RELAY_BLOBS_URL: behindPort(s3.url, proxy.port),
      RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      RELAY_MAX_BLOB_BYTES: String(20 * MIB),
      RELAY_BLOB_GC_GRACE_SECS: '3600',
    },
  })
  call = rawHttp(relay, { as: MIA })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await proxy?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
})

const post = (bytes: Uint8Array, hash = hashOf(bytes)) =>
  call('POST', `/api/blobs/${hash}`, { body: bytes, headers: { 'content-type': 'image/png' } })
const blobsCall = (hash: string, verb: string, body?: unknown) =>
  call(
    'POST',
    `/api/v1/blobs/${hash}/${verb}`,
    body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } },
  )
const finalize = (hash: string) => blobsCall(hash, 'finalize', { mimeType: 'image/png' })
/** Requests an upload URL and PUTs `sent` there. Returns the status. */
async function put(bytes: Uint8Array, sent = bytes): Promise<number> {
  const { json } = await blobsCall(hashOf(bytes), 'upload-url', { size: bytes.byteLength, mimeType: 'image/png' })
  const headers = json['headers'] as Record<string, string>
  return (await fetch(String(json['url']), { method: 'PUT', headers, body: sent as Uint8Array<ArrayBuffer> })).status
}
const keys = async () => (await s3.everything()).map((key) => key.replace(/^.*?\//, ''))

describe('blobs in an object store', () => {
  it('[BLOB-3] [BLOB-8] [BLOB-9] an uploaded blob is served by a redirect, and HEAD is answered by the relay itself', async () => {
    const bytes = someBytes(9 * MIB, 1)
    const hash = hashOf(bytes)
    expect((await post(bytes)).status).toBe(204)
    const got = await call('GET', `/api/blobs/${hash}`)
    expect([got.status, got.headers['cache-control'], got.text]).toEqual([302, 'no-store', ''])
    const served = await fetch(String(got.headers['location']))
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(hashOf(new Uint8Array(await served.arrayBuffer()))).toBe(hash)
    const head = await call('HEAD', `/api/blobs/${hash}`)
    expect([head.status, head.headers['content-length'], head.headers['content-type']]).toEqual([
      200,
      String(9 * MIB),
      'image/png',
    ])
    expect(Date.parse(String(head.headers['x-blob-created-at']))).toBeGreaterThan(Date.now() - 60_000)
    expect(await relay.rest(MIA).downloadBlob(hash)).toMatchObject({ mimeType: 'image/png' })
    expect(await relay.rest(MIA).blobInfo(hash)).toMatchObject({ size: 9 * MIB })
  })

  it('[BLOB-3] bytes that do not have their hash are refused and leave nothing in the object store', async () => {
    const before = await keys()
    for (const length of [1_000, 9 * MIB]) {
      const answer = await post(someBytes(length, 2), hashOf(someBytes(1, 3)))
      expect([answer.status, answer.json['errorCode']]).toEqual([400, 'HASH_MISMATCH'])
    }
    expect(await keys()).toEqual(before)
  })

  it('[BLOB-10] [BLOB-11] a client uploads directly and finalize makes it a blob; a second finalize answers the same', async () => {
    const bytes = someBytes(100_000, 4)
    const hash = hashOf(bytes)
    expect((await finalize(hash)).json).toMatchObject({ errorCode: 'OBJECT_NOT_UPLOADED', hash })
    expect(await put(bytes)).toBe(200)
    expect((await call('GET', `/api/blobs/${hash}`)).status).toBe(404)
    for (let times = 0; times < 2; times++) expect((await finalize(hash)).json).toEqual({ success: true, hash, size: 100_000 })
    expect((await blobsCall(hash, 'upload-url', { size: 100_000, mimeType: 'image/png' })).json).toEqual({ exists: true })
    const { json } = await blobsCall(hash, 'download-url')
    expect(hashOf(new Uint8Array(await (await fetch(String(json['url']))).arrayBuffer()))).toBe(hash)
    expect((await keys()).filter((key) => !key.startsWith('blobs/'))).toEqual([])
  })

  it('[X36] [BLOB-11] directly uploaded bytes of another hash never become the blob, and their object is deleted', async () => {
    const bytes = someBytes(5_000, 5)
    const status = await put(bytes, someBytes(5_000, 6))
    if (s3.isComplete) {
      // The object store itself refuses these bytes.
      expect(status).toBe(400)
      expect((await finalize(hashOf(bytes))).json).toMatchObject({ errorCode: 'OBJECT_NOT_UPLOADED' })
      return
    }
    expect(status).toBe(200)
    const answer = await finalize(hashOf(bytes))
    expect([answer.status, answer.json]).toEqual([
      400,
      expect.objectContaining({ errorCode: 'HASH_MISMATCH', expected: hashOf(bytes), actual: hashOf(someBytes(5_000, 6)) }),
    ])
    expect((await keys()).filter((key) => !key.startsWith('blobs/'))).toEqual([])
  })

  it('[BLOB-19] [OPS-2] without its object store every blob route answers 502 and /readyz fails, and blobs are back with it', async () => {
    const bytes = someBytes(1_000, 7)
    const kept = someBytes(2_000, 8)
    expect((await post(kept)).status).toBe(204)
    await proxy.down()
    for (const answer of [
      await post(bytes),
      await call('HEAD', `/api/blobs/${hashOf(kept)}`),
      await blobsCall(hashOf(bytes), 'upload-url', { size: 1_000, mimeType: 'image/png' }).then(() => finalize(hashOf(bytes))),
    ]) {
      expect(answer.status).toBe(502)
      if (answer.text !== '') expect(answer.json).toMatchObject({ errorCode: 'BLOB_STORE_ERROR', reason: 'ECONNREFUSED' })
    }
    const ready = await call('GET', '/readyz')
    expect([ready.status, ready.json]).toEqual([
      503,
      expect.objectContaining({ checks: expect.objectContaining({ blobs: { ok: false, detail: 'ECONNREFUSED' } }) }),
    ])
    await proxy.up()
    expect((await call('HEAD', `/api/blobs/${hashOf(kept)}`)).status).toBe(200)
    await logged(relay, 'blobs.store_back')
    const told = relay.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const of = (event: string) => told.filter((line) => line['event'] === event).map(({ level, reason }) => ({ level, reason }))
    expect(of('blobs.store_failing')).toEqual([{ level: 'error', reason: 'ECONNREFUSED' }])
    expect(of('blobs.store_back')).toEqual([{ level: 'info', reason: undefined }])
    const metrics = (await call('GET', '/metrics')).text
    expect(metrics).toMatch(/^relay_blob_store_calls_total\{outcome="connection"\} [1-9]/m)
    expect((await post(bytes)).status).toBe(204)
    await until('readiness', async () => (await call('GET', '/readyz')).status === 200, 5_000)
  })

  it('[BLOB-19] [BLOB-20] a relay starts while its object store is down, and logs an error', async () => {
    await proxy.down()
    await relay.kill()
    const before = relay.logLines.length
    await relay.restart()
    expect((await call('GET', '/livez')).status).toBe(200)
    const told = () => relay.logLines.slice(before).filter((line) => line.includes('blobs.store_failing'))
    await until('the error line', () => told().some((line) => line.includes('ECONNREFUSED')))
    await proxy.up()
    expect((await post(someBytes(500, 9))).status).toBe(204)
  })

  it('[OPS-6] the log contains no presigned URL and no key', () => {
    const log = relay.logLines.join('\n')
    for (const secret of ['X-Amz-Signature', 'X-Amz-Credential', s3.credentials.secretAccessKey, s3.credentials.accessKeyId])
      expect(log).not.toContain(secret)
  })
})

it('[BLOB-20] [BLOB-21] without its bucket upload-url answers the code of the object store, and /readyz shows it', async () => {
  const url = new URL(s3.url)
  url.hostname = 'no-such-bucket'
  await using lost = await startRelayUnderTest({
    env: {
      RELAY_BLOBS_URL: url.toString(),
      RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
  })
  const ask = rawHttp(lost, { as: MIA })
  const answer = await ask('POST', `/api/v1/blobs/${hashOf(someBytes(9))}/upload-url`, {
    body: { size: 9 },
    headers: { 'content-type': 'application/json' },
  })
  expect([answer.status, answer.json]).toEqual([
    502,
    expect.objectContaining({ errorCode: 'BLOB_STORE_ERROR', reason: 'NoSuchBucket' }),
  ])
  const ready = await ask('GET', '/readyz')
  expect(ready.json).toMatchObject({ checks: { blobs: { ok: false, detail: 'NoSuchBucket, status 404' } } })
  await logged(lost, 'blobs.store_failing', 'NoSuchBucket')
})
