import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../blobs/blob-store.port.ts'
import { collected, hashOf, keepBytes, receiveBytes, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { RelayError } from '../../kernel/errors.ts'
import { startTcpProxy } from '../../test/tcp-proxy.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { openS3 } from './testing/open-s3.ts'
import { behindPort, type S3UnderTest, startS3 } from './testing/s3-under-test.ts'
import { s3Error, startScriptedStore } from './testing/scripted-store.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

const CREDENTIALS = { accessKeyId: 'the-access-key', secretAccessKey: 'the-secret-key' }
const HASH = hashOf(someBytes(10))

/** Returns the RelayError with which a call rejects. Throws when the call resolves or rejects otherwise. */
async function refusalOf(call: Promise<unknown>): Promise<RelayError> {
  const outcome = await call.then(
    (value) => `resolved: ${String(value)}`,
    (error: unknown) => error,
  )
  if (outcome instanceof RelayError) return outcome
  throw new Error(`not refused as it should be: ${String(outcome)}`)
}

/** Calls of every method that sends a request to the store. */
function callsOf(store: BlobStore): Record<string, () => Promise<unknown>> {
  const { direct } = store
  return {
    size: () => store.size(HASH),
    read: () => store.read(HASH, null),
    remove: () => store.remove(HASH),
    list: async () => {
      for await (const { hash } of store.list()) return hash
    },
    keep: async () => (await receiveBytes(store, someBytes(10))).keep(hashOf(someBytes(10)), 'image/png'),
    inspect: () => direct?.inspect('staged', null) ?? Promise.resolve(),
    removeStaged: () => direct?.removeStaged('staged') ?? Promise.resolve(),
    clearAbandoned: () => store.clearAbandoned(),
  }
}

describe.concurrent('[BLOB-19] a store that fails', () => {
  const url = (port: number) => `s3://media?endpoint=http://127.0.0.1:${port}&region=r`

  it.each([
    [500, 'InternalError', 3],
    [503, 'SlowDown', 3],
    [429, 'TooManyRequests', 3],
    [403, 'AccessDenied', 1],
    [403, 'InvalidAccessKeyId', 1],
    [403, 'ExpiredToken', 1],
    [404, 'NoSuchBucket', 1],
    [404, 'SomethingElse', 1],
  ])('[BLOB-19] an answer of %i %s fails every blob call with 502, and never means absence', async (status, code, tries) => {
    await using scripted = await startScriptedStore((response) => s3Error(response, status, code))
    // The clock stands still, because all tries have to end within ten seconds of it.
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS, clock: manualTime().clock })
    const outcomes = await Promise.all(
      Object.entries(callsOf(store)).map(async ([name, call]) => [name, await refusalOf(call())] as const),
    )
    for (const [name, error] of outcomes) {
      expect([name, error.code]).toEqual([name, 'BLOB_STORE_ERROR'])
      expect(error.details.status).toBe(status)
      const told = `${error.message} ${JSON.stringify(error.details)}`
      for (const secret of ['127.0.0.1', 'media', HASH, 'the-secret-key', 'the-access-key', 'secret host'])
        expect(told).not.toContain(secret)
    }
    expect(scripted.requests.filter((request) => request.startsWith('GET /media/staging/staged'))).toHaveLength(tries)
  })

  it.each([
    ['403 of a wrong key', 403, 'InvalidAccessKeyId'],
    ['403 of a wrong secret', 403, 'SignatureDoesNotMatch'],
    ['400 of another region', 400, 'AuthorizationHeaderMalformed'],
    ['301 of another region', 301, 'PermanentRedirect'],
    ['404 of a missing bucket', 404, 'NoSuchBucket'],
  ])('[BLOB-19] a refused HEAD, which has no body, is reported with the code of the store: %s', async (_, status, code) => {
    await using scripted = await startScriptedStore((response) => s3Error(response, status, code))
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    const errors = await Promise.all([refusalOf(store.size(HASH)), refusalOf(store.check())])
    expect(errors.map(({ details }) => details.reason)).toEqual([code, code])
  })

  it('[BLOB-19] a refused HEAD is not absence when a GET of the same object finds nothing', async () => {
    await using scripted = await startScriptedStore((response, nth) =>
      nth === 1 ? void response.writeHead(403).end() : s3Error(response, 404, 'NoSuchKey'),
    )
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    expect(await refusalOf(store.size(HASH))).toMatchObject({ code: 'BLOB_STORE_ERROR', details: { status: 403 } })
  })

  it('[BLOB-19] a store that begins to answer after 3 s gets only one request', async () => {
    await using scripted = await startScriptedStore((response) => void setTimeout(() => response.end(), 3_300))
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    await keepBytes(store, someBytes(20_000))
    expect(scripted.requests).toHaveLength(1)
  })

  it('[BLOB-19] a call that fails twice returns the answer of its third try', async () => {
    await using scripted = await startScriptedStore((response, nth) => {
      if (nth < 3) s3Error(response, 503, 'SlowDown')
      else s3Error(response, 404, 'NoSuchKey')
    })
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    expect(await store.read(HASH, null)).toBeNull()
    expect(scripted.requests).toHaveLength(3)
  })

  it('[BLOB-19] a 404 that does not come from the store does not mean that a blob is absent', async () => {
    await using scripted = await startScriptedStore((response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no such site</html>')
    })
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    expect((await refusalOf(store.size(HASH))).code).toBe('BLOB_STORE_ERROR')
    expect((await refusalOf(store.read(HASH, null))).code).toBe('BLOB_STORE_ERROR')
  })

  it('[BLOB-19] an HTML page of a proxy with status 200 is neither an object nor a hash mismatch', async () => {
    await using scripted = await startScriptedStore((response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '13' }).end('<html></html>')
    })
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    const errors = await Promise.all([
      refusalOf(store.size(HASH)),
      refusalOf(store.read(HASH, null)),
      refusalOf(store.direct.inspect('staged', null)),
      refusalOf(store.direct.isIntact(HASH, 13)),
    ])
    expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('BLOB_STORE_ERROR'))
  })

  it.each(['half', 'longer'])('[BLOB-19] a broken body (%s) of a blob is an error, not the end of its bytes', async (how) => {
    await using scripted = await startScriptedStore((response) => {
      response.writeHead(200, how === 'half' ? { 'content-length': '1000', etag: '"e"' } : { etag: '"e"' })
      response.write(someBytes(500))
      setTimeout(() => (how === 'half' ? response.destroy() : response.end()), 20)
    })
    const store = openS3({ url: url(scripted.port), credentials: CREDENTIALS })
    const read = async () => collected(await store.read(HASH, null))
    expect((await refusalOf(read())).code).toBe('BLOB_STORE_ERROR')
    expect((await refusalOf(store.direct.inspect('staged', null))).code).toBe('BLOB_STORE_ERROR')
  })
})

describe('[BLOB-19] a store that goes away', () => {
  let s3: S3UnderTest
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3[Symbol.asyncDispose]())

  const proxied = async () => {
    const endpoint = new URL(new URL(s3.url).searchParams.get('endpoint') ?? '')
    const proxy = await startTcpProxy({ host: endpoint.hostname, port: Number(endpoint.port) })
    return { proxy, store: openS3({ url: behindPort(s3.url, proxy.port), credentials: s3.credentials }) }
  }

  it('[BLOB-19] a refused connection fails every verb and readiness with 502, and both work when the store is back', async () => {
    const { proxy, store } = await proxied()
    await using _ = proxy
    const bytes = someBytes(2_000, 7)
    const hash = await keepBytes(store, bytes)
    await proxy.down()
    const outcomes = await Promise.all(
      Object.entries(callsOf(store)).map(async ([name, call]) => [name, await refusalOf(call())] as const),
    )
    for (const [name, error] of outcomes)
      expect([name, error.code, error.details.reason]).toEqual([name, 'BLOB_STORE_ERROR', 'ECONNREFUSED'])
    expect((await refusalOf(store.check())).code).toBe('BLOB_STORE_ERROR')
    await proxy.up()
    await store.check()
    expect(await collected(await store.read(hash, null))).toEqual(bytes)
  })

  it('[BLOB-19] a connection to the store that is lost between two calls is not reported', async () => {
    const { proxy, store } = await proxied()
    await using _ = proxy
    const hash = await keepBytes(store, someBytes(2_000, 8))
    await proxy.down()
    await proxy.up()
    expect(await store.size(hash)).toBe(2_000)
  })

  it('[BLOB-19] a call of a silent store fails with 502 within 10 s', async () => {
    const { proxy, store } = await proxied()
    await using _ = proxy
    proxy.silent()
    const startedMs = performance.now()
    const took = stopwatch()
    const errors = await Promise.all([
      refusalOf(store.size(HASH)),
      refusalOf(store.read(HASH, null)),
      refusalOf(store.remove(HASH)),
    ])
    expect(errors.map(({ code }) => code)).toEqual(['BLOB_STORE_ERROR', 'BLOB_STORE_ERROR', 'BLOB_STORE_ERROR'])
    const tookMs = performance.now() - startedMs
    expect(tookMs).toBeGreaterThan(5_000)
    expect(took()).toBeLessThan(12_000)
    await proxy.up()
    expect(await store.size(HASH)).toBeNull()
  })

  it('[BLOB-19] [BLOB-3] an outage in the middle of a large upload refuses that upload, and a later one works', async () => {
    const { proxy, store } = await proxied()
    await using _ = proxy
    async function* source() {
      yield someBytes(8 * 1024 * 1024)
      yield someBytes(1024)
      await proxy.down()
      yield someBytes(8 * 1024 * 1024)
    }
    expect((await refusalOf(store.receive(source(), () => {}))).code).toBe('BLOB_STORE_ERROR')
    await proxy.up()
    const hash = await keepBytes(store, someBytes(9 * 1024 * 1024, 3))
    expect(await store.size(hash)).toBe(9 * 1024 * 1024)
    await store.remove(hash)
  })
})
