import { forwardedScheme, isEchoableHost } from '../http/host-header.ts'

/** Hosts that a page of another site cannot be reached under, with or without a port. [MCP-4] */
const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i
const LOOPBACK_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i

export interface HostFacts {
  /** Every `Host` header of the request. */
  readonly hosts: readonly string[]
  readonly origin: string | undefined
}

/** Against DNS rebinding and other sites' pages: both names must be those of this machine, however the request came here. [MCP-4, X24] */
export function isLoopbackRequest({ hosts, origin }: HostFacts): boolean {
  const [host] = hosts
  if (hosts.length !== 1 || host === undefined || !LOOPBACK_HOST.test(host)) return false
  if (origin === undefined) return true
  const authority = LOOPBACK_ORIGIN.exec(origin)?.[1]
  return authority !== undefined && LOOPBACK_HOST.test(authority)
}

/** On the main listener only a configured list of origins refuses anything. [MCP-5] */
export function isAllowedOrigin(origin: string | undefined, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.length === 0 || allowed.includes(origin)
}

/** No host, or one that can be echoed. [X25, X40] */
export function isUsableHost(hosts: readonly string[]): boolean {
  return hosts.length === 0 || (hosts.length === 1 && isEchoableHost(hosts[0] ?? ''))
}

/** The origin under which the caller sees the endpoint. [MCP-24] */
export function publicOrigin(host: string | undefined, forwardedProto: string | undefined): string {
  const named = host !== undefined && isEchoableHost(host) ? host : '127.0.0.1'
  const scheme = forwardedScheme(forwardedProto) ?? (LOOPBACK_HOST.test(named) ? 'http' : 'https')
  return `${scheme}://${named}`
}
