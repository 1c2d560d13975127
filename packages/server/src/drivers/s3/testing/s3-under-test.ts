import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import {
  CreateBucketCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import S3rver from '@20minutes/s3rver'
import { readS3Address } from '../s3-address.ts'
import type { S3Credentials } from '../s3-calls.ts'

/** A store that tests run against, with a prefix that only one test file uses. */
export interface S3UnderTest extends AsyncDisposable {
  readonly name: string
  /** Address of the store, in the form of `[blobs] url`. */
  readonly url: string
  readonly credentials: S3Credentials
  /** A client for requests that the driver has no method for. */
  readonly client: S3Client
  /** False for s3rver, which neither compares bytes with a signed hash nor checks conditions, and cannot list open uploads. */
  readonly isComplete: boolean
  /** Returns every key and every open upload below the prefix. */
  everything(): Promise<readonly string[]>
}

export const NEEDS_COMPLETE_STORE = 's3rver ignores this: set RELAY_TEST_S3_URL to a complete object store'

const BUCKET = 'docrelay-test'

/**
 * Opens the store of RELAY_TEST_S3_URL (with RELAY_TEST_S3_ACCESS_KEY_ID and RELAY_TEST_S3_SECRET_ACCESS_KEY). Without that variable opens a store
 * that answers with these keys on port 9000 of this machine; without such a store starts s3rver in this process.
 */
export async function startS3(): Promise<S3UnderTest> {
  const credentials = {
    accessKeyId: process.env.RELAY_TEST_S3_ACCESS_KEY_ID ?? 'minioadmin',
    secretAccessKey: process.env.RELAY_TEST_S3_SECRET_ACCESS_KEY ?? 'minioadmin',
  }
  const given = process.env.RELAY_TEST_S3_URL
  if (given !== undefined && given !== '') return underTest(given, credentials, 'RELAY_TEST_S3_URL')
  const local = urlAt('http://127.0.0.1:9000')
  if (await listens('http://127.0.0.1:9000')) {
    const found = await underTest(local, credentials, 'port 9000').catch(() => null)
    if (found !== null) return found
  }
  return startS3rver()
}

function urlAt(endpoint: string): string {
  return `s3://${BUCKET}?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1&path_style=true`
}

async function listens(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(500) }).then(
    () => true,
    () => false,
  )
}

async function underTest(base: string, credentials: S3Credentials, name: string): Promise<S3UnderTest> {
  const url = withPrefix(base, randomUUID().slice(0, 8))
  const { bucket: Bucket, region, inner, prefix: Prefix } = readS3Address(url)
  const client = new S3Client({ endpoint: inner.url, region, forcePathStyle: inner.pathStyle, credentials, maxAttempts: 2 })
  await client.send(new HeadBucketCommand({ Bucket })).catch(() => client.send(new CreateBucketCommand({ Bucket })))
  const isComplete = name !== 's3rver'
  return {
    name,
    url,
    credentials,
    client,
    isComplete,
    async everything() {
      const objects = await client.send(new ListObjectsV2Command({ Bucket, Prefix }))
      const uploads = isComplete ? await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix })) : null
      return [
        ...(objects.Contents ?? []).map(({ Key }) => Key ?? ''),
        ...(uploads?.Uploads ?? []).map(({ Key, UploadId }) => `${Key} ${UploadId}`),
      ]
    },
    [Symbol.asyncDispose]: () => Promise.resolve(client.destroy()),
  }
}

/** Returns the address of the same bucket with a longer prefix. */
export function withPrefix(base: string, prefix: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${prefix}`
  return url.toString()
}

/** Returns the address of the same bucket behind another port of this machine. */
export function behindPort(base: string, port: number): string {
  const url = new URL(base)
  url.searchParams.set('endpoint', `http://127.0.0.1:${port}`)
  return url.toString()
}

async function startS3rver(): Promise<S3UnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'relay-s3-'))
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  })
  mend(server)
  const { port } = await server.run()
  const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const found = await underTest(urlAt(`http://127.0.0.1:${port}`), keys, 's3rver')
  return {
    ...found,
    async [Symbol.asyncDispose]() {
      await found[Symbol.asyncDispose]()
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function mend(server: S3rver): void {
  // s3rver expects other signatures than S3 for requests about a bucket, so these are not checked. Requests about objects are checked.
  server.middleware.unshift((context, next) => {
    if (/^\/[^/]+\/?$/.test(context.path))
      context.app = Object.create(context.app, { allowMismatchedSignatures: { value: true } }) as object
    return next()
  })
  // s3rver takes a last byte of 0 for a missing end. A boxed 0 is truthy and still counts as 0.
  const { store } = server
  const getObject = store.getObject.bind(store)
  store.getObject = (bucket, key, options) =>
    getObject(bucket, key, options?.end === 0 ? { ...options, end: Object(0) as number } : options)
}
