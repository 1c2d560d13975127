import type { TextFormat } from './key-kinds.ts'

/** [AUTH-17] */
const MIN_SECRET_CHARACTERS = 16

/** What is wrong with a text value, or `null`. The answer never repeats the value, which may be a secret. */
export function addressProblem(format: TextFormat, value: string): { readonly problem: string; readonly allowed: string } | null {
  if (hasControlCharacter(value)) return { problem: 'has a control character', allowed: 'printable text' }
  switch (format) {
    case 'text':
    case 'path':
      return null
    case 'shared-secret':
      return value.length >= MIN_SECRET_CHARACTERS
        ? null
        : { problem: 'too short for a shared secret', allowed: `${MIN_SECRET_CHARACTERS} characters or more` }
    case 'http-url':
      return isHttpUrl(value) ? null : { problem: 'not an http URL', allowed: 'https://… or http://…' }
    case 'link-url':
      return isHttpUrl(value) && !value.includes('#')
        ? null
        : { problem: 'not an http URL without fragment', allowed: 'https://… or http://… without #' }
    case 'secure-url':
      return isSecureUrl(value)
        ? null
        : {
            problem: 'neither an https URL nor one of this host',
            allowed: 'https://…, or http://… on localhost, 127.0.0.1 or [::1]',
          }
    case 'storage-url':
      return isStorageUrl(value) ? null : { problem: 'not a storage URL', allowed: 'sqlite:<path> or postgres://…' }
    case 'blobs-url':
      return isBlobsUrl(value)
        ? null
        : {
            problem: 'not a blob store URL',
            allowed: 'file:<path> or s3://bucket[/prefix]?endpoint=…&region=…[&path_style=true]',
          }
    case 'bus-url':
      return value === 'memory:' || (value.startsWith('redis:') && isUrlWith(value, 'redis:'))
        ? null
        : { problem: 'not a bus URL', allowed: 'memory: or redis://…' }
  }
}

/** An `Origin` header's form: scheme and host, nothing behind. */
export function isOrigin(value: string): boolean {
  return /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@\\,]{1,260}$/i.test(value)
}

/** `host` or `*.suffix`. [BLOB-18] */
export function isHostPattern(value: string): boolean {
  return value.length <= 255 && /^(\*\.)?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(value)
}

function hasControlCharacter(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
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

/** What is asked there is not read on the way. [AUTH-13, REF-10] */
function isSecureUrl(value: string): boolean {
  if (isUrlWith(value, 'https:')) return true
  return isUrlWith(value, 'http:') && ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(value)?.hostname ?? '')
}

function isStorageUrl(value: string): boolean {
  if (value.startsWith('sqlite:')) return value.length > 'sqlite:'.length
  // A host may be missing: `postgres:///name?host=/run/postgresql` names a socket.
  return value.startsWith('postgres://') && URL.parse(value) !== null
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
  for (const name of url.searchParams.keys()) if (!['endpoint', 'region', 'path_style'].includes(name)) return false
  const pathStyle = url.searchParams.get('path_style')
  return (
    isHttpUrl(url.searchParams.get('endpoint') ?? '') &&
    (url.searchParams.get('region') ?? '') !== '' &&
    (pathStyle === null || pathStyle === 'true' || pathStyle === 'false')
  )
}
