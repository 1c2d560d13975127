import { isIP } from 'node:net'
import type { TextFormat } from './key-kinds.ts'

/** Least length of a secret. [AUTH-17] */
const MIN_SECRET_CHARACTERS = 16
/** The secret of the cluster is long, so that nobody who sees the network traffic between nodes can guess it by trying. */
const MIN_CLUSTER_SECRET_CHARACTERS = 32

/** For each form of a text: the allowed values, in words. */
export const ALLOWED_TEXTS: Readonly<Record<TextFormat, string>> = {
  text: 'printable text',
  path: 'a path',
  'listen-host': 'e.g. 0.0.0.0, 127.0.0.1, :: or localhost',
  'shared-secret': `${MIN_SECRET_CHARACTERS} characters or more`,
  'http-url': 'https://… or http://…',
  'link-url': 'https://… or http://… without #',
  'page-path': 'a path such as /console, of letters, digits, - and _, that no other route begins with',
  'authorize-params': 'name=value&name=value, percent-encoded, without parameters of the sign-in itself',
  issuer: 'the `iss` of your tokens, e.g. https://id.example',
  'secure-url': 'https://…, or http://… on localhost, 127.0.0.1 or [::1]',
  'storage-url': 'sqlite:<path> or postgres://…',
  'blobs-url': 'file:<path> or s3://bucket[/prefix]?endpoint=…&region=…[&path_style=true][&public_endpoint=…]',
  'bus-url': 'memory:, redis://… or rediss://…',
  'node-url': 'ws://<host>:<port>',
}

/** Most secrets of a cluster: the current one, and the next one while it is being replaced. A node must prove that it knows one of them. */
export const MOST_CLUSTER_SECRETS = 2

/** The allowed form of a secret of the cluster, in words. */
export const CLUSTER_SECRET_FORM = `${MIN_CLUSTER_SECRET_CHARACTERS} characters or more, without a comma`

/** Returns the problem of a text value, or `null`. The problem never repeats the value, which may be a secret. */
export function addressProblem(format: TextFormat, value: string): { readonly problem: string; readonly allowed: string } | null {
  if (hasControlCharacter(value)) return { problem: 'has a control character', allowed: 'printable text' }
  const problem = wrongForm(format, value)
  return problem === null ? null : { problem, allowed: ALLOWED_TEXTS[format] }
}

function wrongForm(format: TextFormat, value: string): string | null {
  switch (format) {
    case 'text':
    case 'path':
      return null
    case 'listen-host':
      return isListenHost(value) ? null : 'neither an IP address nor a host name'
    case 'shared-secret':
      return value.length >= MIN_SECRET_CHARACTERS ? null : 'too short for a shared secret'
    case 'http-url':
      return isHttpUrl(value) ? null : 'not an http URL'
    case 'link-url':
      return isHttpUrl(value) && !value.includes('#') ? null : 'not an http URL without fragment'
    case 'page-path':
      return isPagePath(value) ? null : 'not a free path'
    case 'authorize-params':
      return isAuthorizeParams(value) ? null : 'not parameters that may be added'
    case 'issuer':
      return isIssuer(value) ? null : 'neither a URL nor a host name'
    case 'secure-url':
      return isSecureUrl(value) ? null : 'neither an https URL nor one of this host'
    case 'storage-url':
      return isStorageUrl(value) ? null : 'not a storage URL'
    case 'blobs-url':
      return isBlobsUrl(value) ? null : 'not a blob store URL'
    case 'bus-url':
      return isBusUrl(value) ? null : 'not a bus URL'
    case 'node-url':
      return isNodeUrl(value) ? null : 'not an address of a listener for nodes'
  }
}

function isBusUrl(value: string): boolean {
  return value === 'memory:' || isUrlWith(value, 'redis:') || isUrlWith(value, 'rediss:')
}

/** Accepts host and port and nothing else. `ws:` is enough, because nodes encrypt their messages themselves. */
function isNodeUrl(value: string): boolean {
  return isUrlWith(value, 'ws:') && /^ws:\/\/[^/?#@]+:\d+\/?$/i.test(value)
}

export function isClusterSecret(value: string): boolean {
  return value.length >= MIN_CLUSTER_SECRET_CHARACTERS && !hasControlCharacter(value)
}

/** Whether the text is an IP address or a host name. A name that ends in a number is refused: it would be read as an IP address. */
function isListenHost(value: string): boolean {
  if (isIP(value) !== 0) return true
  const labels = value.replace(/\.$/, '').split('.')
  const isName = labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label))
  return isName && value.length <= 254 && !/^\d+$/.test(labels[labels.length - 1] as string)
}

/** Whether the text has the form of an `Origin` header: scheme and host, nothing after them. */
export function isOrigin(value: string): boolean {
  return /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@\\,]{1,260}$/i.test(value)
}

/** Whether the text is `host` or `*.suffix`. [BLOB-18] */
export function isHostPattern(value: string): boolean {
  return value.length <= 255 && /^(\*\.)?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(value)
}

function hasControlCharacter(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true
  }
  return false
}

function isUrlWith(value: string, protocol: string): boolean {
  const url = URL.parse(value)
  return url !== null && url.protocol === protocol && value.toLowerCase().startsWith(`${protocol}//`) && url.hostname !== ''
}

function isHttpUrl(value: string): boolean {
  return isUrlWith(value, 'https:') || isUrlWith(value, 'http:')
}

/** First segments of the relay's own paths. */
const TAKEN_PATHS = ['api', 'ws', 'mcp', 'share', 'health', 'livez', 'readyz', 'version', 'metrics']

/** Whether the text is a path of one or more segments that need no encoding in a URL, a route pattern or a header. [CON-1] */
function isPagePath(value: string): boolean {
  return value.length <= 100 && /^(\/[A-Za-z0-9_-]+)+$/.test(value) && !TAKEN_PATHS.includes(value.split('/')[1] ?? '')
}

/** Parameters that the console chooses for each sign-in. A fixed value would break PKCE or the check of the answer. */
const SIGN_IN_PARAMS = [
  'client_id',
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
]

/** Whether the text is a query of extra sign-in parameters: no name twice, and none that the console sets itself. [CON-2] */
function isAuthorizeParams(value: string): boolean {
  if (!/^[A-Za-z0-9._~%+:/@!$'()*,;&=-]+$/.test(value)) return false
  const names = [...new URLSearchParams(value).keys()]
  return names.every((name) => name !== '' && !SIGN_IN_PARAMS.includes(name)) && new Set(names).size === names.length
}

/** An origin that can stand in a Content-Security-Policy: scheme, host and port, and nothing that ends a directive. [CON-2] */
export function isHttpOrigin(value: string): boolean {
  return /^https?:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d+)?$/i.test(value) && URL.parse(value)?.origin === value.toLowerCase()
}

/** Whether the text may be an issuer. OIDC requires a URL, but a few issuers leave out `https://`. */
function isIssuer(value: string): boolean {
  if (/\s/.test(value)) return false
  return (
    isHttpUrl(value) || (!value.includes('*') && isHostPattern(value)) || (/^urn:|^did:/.test(value) && URL.parse(value) !== null)
  )
}

/** Whether requests to this URL cannot be read on the way: https, or http on this machine. [AUTH-13, REF-10] */
export function isSecureUrl(value: string): boolean {
  if (isUrlWith(value, 'https:')) return true
  return isUrlWith(value, 'http:') && ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(value)?.hostname ?? '')
}

function isStorageUrl(value: string): boolean {
  if (value.startsWith('sqlite:')) return value.length > 'sqlite:'.length
  // The host may be missing: `postgres:///name?host=/run/postgresql` names a socket.
  return value.startsWith('postgres://') && URL.parse(value) !== null
}

/** Whether the text is an endpoint of an object store. Presigned URLs append to it, so it must have no query or fragment. */
function isEndpoint(value: string): boolean {
  return isHttpUrl(value) && !/[?#@]/.test(value)
}

function isBlobsUrl(value: string): boolean {
  if (value.startsWith('file:')) return value.length > 'file:'.length
  const url = URL.parse(value)
  if (
    url === null ||
    !value.startsWith('s3://') ||
    url.hostname === '' ||
    url.username !== '' ||
    url.password !== '' ||
    url.hash !== ''
  )
    return false
  for (const name of url.searchParams.keys())
    if (!['endpoint', 'region', 'path_style', 'public_endpoint'].includes(name)) return false
  const pathStyle = url.searchParams.get('path_style')
  return (
    isHttpUrl(url.searchParams.get('endpoint') ?? '') &&
    isEndpoint(url.searchParams.get('public_endpoint') ?? 'https://none.example') &&
    (url.searchParams.get('region') ?? '') !== '' &&
    (pathStyle === null || pathStyle === 'true' || pathStyle === 'false')
  )
}

/** An IPv4 or IPv6 address, with or without the length of a prefix. */
export function isCidr(text: string): boolean {
  const [address = '', prefix, more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more !== undefined || address.includes('%')) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}
