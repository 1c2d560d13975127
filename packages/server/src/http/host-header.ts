/** Hosts that can stand in a URL of the relay. The underscore is allowed, because names of containers may have one. [X25] */
const HOST = /^[A-Za-z0-9._:[\]-]{1,255}$/

/** Whether an answer can echo this `Host`. */
export function isEchoableHost(host: string): boolean {
  return HOST.test(host)
}

/** Hosts that always mean this machine, with or without a port. */
export const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i

/**
 * Returns the origin under which a caller sees the relay, for every URL in an answer. The scheme is that of the outermost proxy (the first of
 * a list, in any case), otherwise `http` for a loopback host and `https` for any other. [MCP-24, SHARE-2]
 */
export function publicOrigin(host: string | undefined, forwardedProto: string | undefined): string {
  const named = host !== undefined && isEchoableHost(host) ? host : '127.0.0.1'
  const scheme = forwardedScheme(forwardedProto) ?? (LOOPBACK_HOST.test(named) ? 'http' : 'https')
  return `${scheme}://${named}`
}

/** Returns the scheme that the outermost proxy names; `null` when it names no known one. */
function forwardedScheme(forwardedProto: string | undefined): 'http' | 'https' | null {
  const [first = ''] = (forwardedProto ?? '').split(',')
  const scheme = first.trim().toLowerCase()
  return scheme === 'http' || scheme === 'https' ? scheme : null
}
