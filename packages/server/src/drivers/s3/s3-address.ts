import { isIP } from 'node:net'

/** Where blobs lie in an object store, from `[blobs] url`. */
export interface S3Address {
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly region: string
  /** `<endpoint>/<bucket>/<key>`; else the bucket is a label of the host. */
  readonly pathStyle: boolean
}

/** Reads `s3://bucket[/prefix]?endpoint=…&region=…[&path_style=true]`, whose form the configuration has checked. */
export function readS3Address(text: string): S3Address {
  const url = new URL(text)
  const endpoint = new URL(url.searchParams.get('endpoint') ?? '')
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    bucket: url.hostname,
    prefix: path === '' ? '' : `${path}/`,
    endpoint: `${endpoint.origin}${endpoint.pathname}`.replace(/\/+$/, ''),
    region: url.searchParams.get('region') ?? '',
    pathStyle: url.searchParams.get('path_style') === 'true' || needsPathStyle(url.hostname, endpoint.hostname),
  }
}

/** An address has no labels to put a bucket before, and certificates do not match a bucket with dots. */
function needsPathStyle(bucket: string, host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !/^[a-z0-9-]{3,63}$/.test(bucket)
}

/** Host and path under which a key is reached, the path percent-encoded. */
export function locate(address: S3Address, key: string): { readonly origin: URL; readonly path: string } {
  const origin = new URL(address.endpoint)
  const base = origin.pathname.replace(/\/+$/, '')
  if (address.pathStyle) return { origin, path: `${base}/${address.bucket}/${encodedKey(key)}` }
  origin.hostname = `${address.bucket}.${origin.hostname}`
  return { origin, path: `${base}/${encodedKey(key)}` }
}

/** A key as paths and copy sources name it. */
export function encodedKey(key: string): string {
  return key.split('/').map(percentEncoded).join('/')
}

/** Everything but letters, digits and `-._~`, as signatures want it. */
export function percentEncoded(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Keys of one store. Staged objects of clients and uploads that the relay receives lie apart: the ledger knows only the first. [BLOB-12] */
export function s3Keys(prefix: string) {
  return {
    blobs: `${prefix}blobs/`,
    receiving: `${prefix}receiving/`,
    staging: `${prefix}staging/`,
    blob: (hash: string): string => `${prefix}blobs/${hash}`,
    staged: (stagingKey: string): string => `${prefix}staging/${stagingKey}`,
    received: (id: string): string => `${prefix}receiving/${id}`,
  }
}

export type S3Keys = ReturnType<typeof s3Keys>
