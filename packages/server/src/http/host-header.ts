/** Hosts that can stand in a URL of the relay, with the underscore that names of containers have. [X25] */
const HOST = /^[A-Za-z0-9._:[\]-]{1,255}$/

/** Whether a `Host` can be echoed. */
export function isEchoableHost(host: string): boolean {
  return HOST.test(host)
}

/** Hosts that only this machine has, with or without a port. */
export const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i

/**
 * Returns the origin under which a caller sees the relay, for every URL of its own that the relay names: the scheme of
 * the outermost proxy (the first of a list, in any case), otherwise `http` for a loopback host and `https` for any
 * other. [MCP-24, SHARE-2]
 */
export function publicOrigin(host: string | undefined, forwardedProto: string | undefined): string {
  const named = host !== undefined && isEchoableHost(host) ? host : '127.0.0.1'
  const scheme = forwardedScheme(forwardedProto) ?? (LOOPBACK_HOST.test(named) ? 'http' : 'https')
  return `${scheme}://${named}`
}

/** Returns `null` when the proxies name no known scheme. */
function forwardedScheme(forwardedProto: string | undefined): 'http' | 'https' | null {
  const [first = ''] = (forwardedProto ?? '').split(',')
  const scheme = first.trim().toLowerCase()
  return scheme === 'http' || scheme === 'https' ? scheme : null
}
