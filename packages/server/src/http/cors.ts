const EXPOSED =
  'ETag, Link, Location, Retry-After, X-Request-Id, Deprecation, Sunset, Content-Range, Content-Disposition, WWW-Authenticate, Mcp-Session-Id'
/** Methods in the answer to a preflight of an unknown path. [REST-11] */
export const ALL_METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const
const MAX_ECHO = 4096
const HEADER_NAME_CHARACTER = /[^A-Za-z0-9!#$%&'*+.^_`|~, -]/

/**
 * Returns the CORS headers of any response, errors included. Credentials are never allowed. `origins` is `*` alone or a
 * list. [REST-11, H8]
 */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.includes('*')) return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED }
  if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' }
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' }
}

/**
 * Returns the headers of a preflight besides `corsHeaders`. The requested headers are echoed, since `*` would not cover
 * Authorization. [REST-11]
 */
export function preflightHeaders(methods: readonly string[], requestedHeaders: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Max-Age': '86400',
  }
  if (requestedHeaders !== undefined && requestedHeaders.length <= MAX_ECHO && !HEADER_NAME_CHARACTER.test(requestedHeaders)) {
    headers['Access-Control-Allow-Headers'] = requestedHeaders
  }
  return headers
}
