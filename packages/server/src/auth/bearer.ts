/**
 * Reads the credential of an `Authorization` header: the scheme word in any case, spaces, one credential. [AUTH-1, K1]
 *
 * `values` holds every `Authorization` value of the request (`authorizationValues`). Two headers are no credential,
 * also when a server has joined them with a comma. No other part of a request (query, cookie, WebSocket subprotocol)
 * can carry the credential.
 *
 * @returns the credential, not checked yet; `null` when there is none, and the request is then unauthenticated.
 */
export function readBearer(values: string | readonly string[] | undefined): string | null {
  const list = typeof values === 'string' ? [values] : (values ?? [])
  const [value] = list
  if (value === undefined || list.length !== 1) return null
  return /^ *bearer +([^\s]+) *$/i.exec(value)?.[1] ?? null
}

/** Returns every `Authorization` value of node's `rawHeaders`; `headers.authorization` would hide a second one. */
export function authorizationValues(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization')
}
