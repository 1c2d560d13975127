import { createHash, createHmac } from 'node:crypto'
import { HttpRequest } from '@smithy/protocol-http'
import { SignatureV4 } from '@smithy/signature-v4'
import { locate, percentEncoded, type S3Address } from './s3-address.ts'
import type { S3Credentials } from './s3-calls.ts'

export interface PresignedPut {
  readonly key: string
  readonly hash: string
  readonly sizeBytes: number
  readonly mimeType: string
  readonly ttlSecs: number
  readonly nowMs: number
}

export interface PresignedGet {
  readonly key: string
  readonly query: Readonly<Record<string, string>>
  readonly ttlSecs: number
  readonly nowMs: number
}

export interface S3Presigner {
  /** Signs a PUT. The signature covers the headers and the length. */
  put(upload: PresignedPut): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>
  get(download: PresignedGet): Promise<string>
}

type Source = ConstructorParameters<ConstructorParameters<typeof SignatureV4>[0]['sha256']>[0]

const PAYLOAD_HASH = 'x-amz-content-sha256'

/** Wraps `node:crypto` in the interface that the signer expects. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>

  constructor(secret?: Source) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: Source | Uint8Array): void {
    if (data !== undefined) this.#hash.update(bytesOf(data))
  }

  reset(): void {
    throw new Error('not used by the signer')
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }
}

function bytesOf(data: NonNullable<Source> | Uint8Array): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}

/**
 * Signs requests that clients send themselves. The SDK's own presigner leaves the payload out of the signature. Here the signature covers the hash of
 * the blob twice, as payload hash and as checksum, since a store may check only one of them. [BLOB-10]
 */
export function createS3Presigner(address: S3Address, credentials: S3Credentials): S3Presigner {
  const signer = new SignatureV4({
    service: 's3',
    region: address.region,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
  })

  const presign = async (
    request: { readonly method: string; readonly key: string } & Pick<HttpRequest, 'headers' | 'query'>,
    { ttlSecs, nowMs }: { readonly ttlSecs: number; readonly nowMs: number },
  ): Promise<string> => {
    const { origin, path } = locate(address, request.key)
    const headers = { ...request.headers, host: origin.host }
    const names = new Set(Object.keys(headers))
    // A presigned request without a hash is signed as unsigned payload. The signer learns this from a header, which it moves into the query.
    const payload: Record<string, string> = PAYLOAD_HASH in headers ? {} : { [PAYLOAD_HASH]: 'UNSIGNED-PAYLOAD' }
    const unsigned = new HttpRequest({
      method: request.method,
      protocol: origin.protocol,
      hostname: origin.hostname,
      path,
      headers: { ...headers, ...payload },
      query: request.query,
    })
    const signed = await signer.presign(unsigned, {
      expiresIn: ttlSecs,
      signingDate: new Date(nowMs),
      signableHeaders: names,
      unhoistableHeaders: names,
    })
    const query = Object.entries(signed.query ?? {}).map(
      ([name, value]) => `${percentEncoded(name)}=${percentEncoded(String(value))}`,
    )
    return `${origin.origin}${path}?${query.join('&')}`
  }

  return {
    async put({ key, hash, sizeBytes, mimeType, ttlSecs, nowMs }) {
      const headers = {
        'content-type': mimeType,
        [PAYLOAD_HASH]: hash,
        'x-amz-checksum-sha256': Buffer.from(hash, 'hex').toString('base64'),
      }
      // The length is signed but not returned: clients set it themselves, and browsers do not let scripts set it.
      const signedHeaders = { ...headers, 'content-length': String(sizeBytes) }
      return { url: await presign({ method: 'PUT', key, headers: signedHeaders, query: {} }, { ttlSecs, nowMs }), headers }
    },
    get: ({ key, query, ttlSecs, nowMs }) =>
      presign({ method: 'GET', key, headers: {}, query: { ...query } }, { ttlSecs, nowMs }),
  }
}
