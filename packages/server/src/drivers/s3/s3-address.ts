import { isIP } from 'node:net'

/** Where the blobs of an object store are, from `[blobs] url`. */
export interface S3Address {
  readonly bucket: string
  /** Prefix of all keys: empty, or ends with a slash. */
  readonly prefix: string
  readonly region: string
  /** The address at which the relay calls the store. */
  readonly inner: S3Endpoint
  /** The address at which clients reach the same store; presigned URLs begin with it. [BLOB-21] */
  readonly outer: S3Endpoint
}

export interface S3Endpoint {
  /** Without a slash at its end. */
  readonly url: string
  /** True for `<url>/<bucket>/<key>`; false when the bucket is a part of the host name. */
  readonly pathStyle: boolean
}

/** Reads `s3://bucket[/prefix]?endpoint=…&region=…[&path_style=true][&public_endpoint=…]`. The configuration has already checked the form. */
export function readS3Address(text: string): S3Address {
  const url = new URL(text)
  const { hostname: bucket, searchParams } = url
  const endpointOf = (text: string): S3Endpoint => {
    const { origin, pathname, hostname } = new URL(text)
    const pathStyle = searchParams.get('path_style') === 'true' || needsPathStyle(bucket, hostname)
    return { url: `${origin}${pathname}`.replace(/\/+$/, ''), pathStyle }
  }
  const endpoint = searchParams.get('endpoint') ?? ''
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    bucket,
    prefix: path === '' ? '' : `${path}/`,
    region: searchParams.get('region') ?? '',
    inner: endpointOf(endpoint),
    outer: endpointOf(searchParams.get('public_endpoint') ?? endpoint),
  }
}

/**
 * Whether the bucket must be in the path. In front of an IP address there is no place for a label, and certificates do not match a bucket name with
 * dots.
 */
function needsPathStyle(bucket: string, host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !/^[a-z0-9-]{3,63}$/.test(bucket)
}

/** Returns origin and path of the URL under which clients reach a key. The path is percent-encoded. */
export function locate({ bucket, outer }: S3Address, key: string): { readonly origin: URL; readonly path: string } {
  const origin = new URL(outer.url)
  const base = origin.pathname.replace(/\/+$/, '')
  if (outer.pathStyle) return { origin, path: `${base}/${bucket}/${encodedKey(key)}` }
  origin.hostname = `${bucket}.${origin.hostname}`
  return { origin, path: `${base}/${encodedKey(key)}` }
}

/** Returns a key percent-encoded, as it appears in paths and copy sources. */
export function encodedKey(key: string): string {
  return key.split('/').map(percentEncoded).join('/')
}

/** Encodes everything except letters, digits and `-._~`, as signatures require. */
export function percentEncoded(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * Makes the keys of one store. Objects staged by clients and uploads through the relay have different prefixes, because only staged objects have rows
 * in the ledger. [BLOB-12]
 */
export function s3Keys(prefix: string) {
  return {
    blobs: `${prefix}blobs/`,
    receiving: `${prefix}receiving/`,
    staging: `${prefix}staging/`,
    blob: (object: string): string => `${prefix}blobs/${object}`,
    staged: (stagingKey: string): string => `${prefix}staging/${stagingKey}`,
    received: (id: string): string => `${prefix}receiving/${id}`,
  }
}

export type S3Keys = ReturnType<typeof s3Keys>
