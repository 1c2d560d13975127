/** What may stand in a URL of ours. [X25] */
const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/

/** Whether a `Host` can be echoed. */
export function isEchoableHost(host: string): boolean {
  return HOST.test(host)
}

/** The scheme that a proxy says it was called with; `null` when it says none that there is. */
export function forwardedScheme(forwardedProto: string | undefined): 'http' | 'https' | null {
  return forwardedProto === 'http' || forwardedProto === 'https' ? forwardedProto : null
}
