import { isEchoableHost, LOOPBACK_HOST } from '../http/host-header.ts'

const LOOPBACK_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i

export interface HostFacts {
  /** Every `Host` header of the request. */
  readonly hosts: readonly string[]
  readonly origin: string | undefined
}

/** Guards against DNS rebinding and pages of other sites: `Host` and `Origin` must name this machine. [MCP-4, X24] */
export function isLoopbackRequest({ hosts, origin }: HostFacts): boolean {
  const [host] = hosts
  if (hosts.length !== 1 || host === undefined || !LOOPBACK_HOST.test(host)) return false
  if (origin === undefined) return true
  const authority = LOOPBACK_ORIGIN.exec(origin)?.[1]
  return authority !== undefined && LOOPBACK_HOST.test(authority)
}

/** On the main listener an origin is refused only when a list is configured and lacks it. [MCP-5] */
export function isAllowedOrigin(origin: string | undefined, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.length === 0 || allowed.includes(origin)
}

/** Whether there is no host, or one that can be echoed. [X25, X40] */
export function isUsableHost(hosts: readonly string[]): boolean {
  return hosts.length === 0 || (hosts.length === 1 && isEchoableHost(hosts[0] ?? ''))
}
