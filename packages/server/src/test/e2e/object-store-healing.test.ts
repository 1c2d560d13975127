import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { readS3Address } from '../../drivers/s3/s3-address.ts'
import { type FaultyStore, startFaultyStore } from '../../drivers/s3/testing/faulty-store.ts'
import { type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const MIA: TokenOptions = { sub: 'mia', role: 'member', workspace: 'first' }
const ZOE: TokenOptions = { sub: 'zoe', role: 'member', workspace: 'second' }
const TYPE = { mimeType: 'image/png' }

let s3: S3UnderTest
let faulty: FaultyStore
let relay: RelayUnderTest
let seed = 0

beforeAll(async () => {
  s3 = await startS3()
  faulty = await startFaultyStore(s3.url)
  relay = await startRelayUnderTest({
    env: {
      RELAY_BLOBS_URL: faulty.url,
      RELAY_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      RELAY_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      RELAY_TENANCY_MODE: 'shared',
      RELAY_REVOCATION_BEARER: 'revocation-secret-for-tests',
    },
  })
})
beforeEach(() => {
  faulty.fault = () => null
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await faulty?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
})

/** The blob requests of a caller. */
function as(who: TokenOptions) {
  const call: Call = rawHttp(relay, { as: who })
  const blobs = (hash: string, verb: string, body?: unknown) =>
    call('POST', `/api/v1/blobs/${hash}/${verb}`, { body, headers: { 'content-type': 'application/json' } })
  return {
    post: (bytes: Uint8Array) =>
      call('POST', `/api/blobs/${hashOf(bytes)}`, { body: bytes, headers: { 'content-type': 'image/png' } }),
    ticket: (bytes: Uint8Array) => blobs(hashOf(bytes), 'upload-url', { size: bytes.byteLength, ...TYPE }),
    finalize: (bytes: Uint8Array) => blobs(hashOf(bytes), 'finalize', TYPE),
    /** Requests a URL, PUTs the bytes there and finalizes. Returns both statuses. */
    async putAndFinalize(bytes: Uint8Array<ArrayBuffer>) {
      const { json } = await this.ticket(bytes)
      if (json['exists'] === true) return ['exists']
      const headers = json['headers'] as Record<string, string>
      const put = await fetch(String(json['url']), { method: 'PUT', headers, body: bytes })
      return [put.status, (await this.finalize(bytes)).status]
    },
    /** Returns the hash of the bytes that a reader gets. */
    async served(bytes: Uint8Array): Promise<string> {
      const { json } = await blobs(hashOf(bytes), 'download-url')
      return hashOf(new Uint8Array(await (await fetch(String(json['url']))).arrayBuffer()))
    },
  }
}

async function putInto(bytes: Uint8Array, stored: Uint8Array | null): Promise<void> {
  const { bucket: Bucket, prefix } = readS3Address(s3.url)
  const Prefix = `${prefix}blobs/${hashOf(bytes)}`
  for (const { Key } of (await s3.client.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents ?? [])
    await s3.client.send(
      stored === null ? new DeleteObjectCommand({ Bucket, Key }) : new PutObjectCommand({ Bucket, Key, Body: stored }),
    )
}

const DAMAGES = {
  flipped: (bytes: Uint8Array) => bytes.map((byte, at) => (at === 5 ? byte ^ 1 : byte)),
  cut: (bytes: Uint8Array) => bytes.subarray(0, bytes.byteLength / 2),
  missing: () => null,
} as const
const EACH_DAMAGE = Object.keys(DAMAGES) as (keyof typeof DAMAGES)[]

/** A blob of workspace `first` whose object was damaged without the relay. */
async function damagedBlob(damage: keyof typeof DAMAGES, length = 20_000): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = someBytes(length, ++seed)
  expect((await as(MIA).post(bytes)).status).toBe(204)
  await putInto(bytes, DAMAGES[damage](bytes))
  return bytes
}

describe('a damaged object in the store', () => {
  it.each(EACH_DAMAGE)('[BLOB-3] a damaged object is repaired by a POST of its bytes: %s', async (damage) => {
    const bytes = await damagedBlob(damage)
    expect((await as(MIA).post(bytes)).status).toBe(204)
    expect(await as(MIA).served(bytes)).toBe(hashOf(bytes))
  })

  it.each(EACH_DAMAGE)(
    '[BLOB-10] a damaged object is repaired by a presigned upload, because upload-url checks bytes before `exists`: %s',
    async (damage) => {
      const bytes = await damagedBlob(damage)
      expect(await as(MIA).putAndFinalize(bytes)).toEqual([200, 200])
      expect(await as(MIA).served(bytes)).toBe(hashOf(bytes))
      expect((await as(MIA).ticket(bytes)).json).toEqual({ exists: true })
    },
  )

  it.each(EACH_DAMAGE)(
    '[BLOB-11] a damaged object is repaired when another workspace uploads its bytes directly: %s',
    async (damage) => {
      const bytes = await damagedBlob(damage)
      expect(await as(ZOE).putAndFinalize(bytes)).toEqual([200, 200])
      expect(await as(ZOE).served(bytes)).toBe(hashOf(bytes))
      expect(await as(MIA).served(bytes)).toBe(hashOf(bytes))
    },
  )

  it('[BLOB-3] a damaged object is repaired when another workspace posts its bytes, also for a blob stored in parts', async () => {
    const bytes = await damagedBlob('flipped', 9 * 1_048_576)
    expect((await as(ZOE).post(bytes)).status).toBe(204)
    expect(await as(MIA).served(bytes)).toBe(hashOf(bytes))
  })

  it.each(EACH_DAMAGE)('[BLOB-11] finalize without a new upload is refused for a damaged object: %s', async (damage) => {
    const bytes = await damagedBlob(damage)
    const answer = await as(MIA).finalize(bytes)
    expect([answer.status, answer.json['errorCode']]).toEqual([404, 'OBJECT_NOT_UPLOADED'])
  })

  it('[BLOB-10] upload-url also notices damage of an object that it checked before', async () => {
    const bytes = someBytes(20_000, ++seed)
    await as(MIA).post(bytes)
    expect((await as(MIA).ticket(bytes)).json).toEqual({ exists: true })
    await putInto(bytes, DAMAGES.flipped(bytes))
    expect((await as(MIA).ticket(bytes)).json).not.toHaveProperty('exists')
  })
})

it('[BLOB-10] an unchanged object is read at most once for any number of upload-url calls', async () => {
  const bytes = someBytes(20_000, ++seed)
  await as(MIA).post(bytes)
  const from = faulty.seen.length
  for (let times = 0; times < 4; times++) expect((await as(MIA).ticket(bytes)).json).toEqual({ exists: true })
  const reads = faulty.seen.slice(from).filter(({ method, url }) => method === 'GET' && url.includes(hashOf(bytes)))
  expect(reads.length).toBeLessThanOrEqual(1)
})

it('[Q2] a ticket and a POST of the same bytes count once against the quota', async () => {
  const bytes = someBytes(60_000, ++seed)
  const caller = as({ sub: 'pat', wsp: [{ id: 'small', role: 'member', quota_bytes: 100_000 }] })
  expect((await caller.ticket(bytes)).status).toBe(200)
  expect((await caller.post(bytes)).status).toBe(204)
  expect((await caller.post(someBytes(40_000, ++seed))).status).toBe(204)
})

it('[BLOB-11] finalize succeeds when only the deletion of the staged object fails', async () => {
  const bytes = someBytes(5_000, ++seed)
  faulty.fault = ({ method, url }) =>
    method === 'DELETE' && url.includes('/staging/') ? { kind: 'error', status: 500, code: 'InternalError' } : null
  expect(await as(MIA).putAndFinalize(bytes)).toEqual([200, 200])
  expect(await as(MIA).served(bytes)).toBe(hashOf(bytes))
})

it('[BLOB-11] wrong bytes answer HASH_MISMATCH also when the deletion of the staged object fails', async (context) => {
  if (s3.isComplete) return context.skip('a complete store refuses wrong bytes itself')
  const bytes = someBytes(5_000, ++seed)
  faulty.fault = ({ method }) => (method === 'DELETE' ? { kind: 'reset' } : null)
  const { json } = await as(MIA).ticket(bytes)
  const headers = json['headers'] as Record<string, string>
  await fetch(String(json['url']), { method: 'PUT', headers, body: someBytes(5_000, ++seed) })
  expect((await as(MIA).finalize(bytes)).json).toMatchObject({ errorCode: 'HASH_MISMATCH' })
})

it('[BLOB-22] RelayClient rejects bytes from the store that do not have the hash', async () => {
  const bytes = await damagedBlob('flipped')
  await expect(relay.rest(MIA).downloadBlob(hashOf(bytes))).rejects.toThrow('do not have its hash')
})
