import { isEchoableHost, LOOPBACK_HOST } from '../http/host-header.ts'

const LOOPBACK_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/i

export interface HostFacts {
  /** Every `Host` header of the request. */
  readonly hosts: readonly string[]
  readonly origin: string | undefined
}

/** Guards against DNS rebinding and pages of other sites: the only `Host`, and any `Origin`, must name this machine. [MCP-4, X24] */
export function isLoopbackRequest({ hosts, origin }: HostFacts): boolean {
  const [host] = hosts
  if (hosts.length !== 1 || host === undefined || !LOOPBACK_HOST.test(host)) return false
  if (origin === undefined) return true
  const authority = LOOPBACK_ORIGIN.exec(origin)?.[1]
  return authority !== undefined && LOOPBACK_HOST.test(authority)
}

/** Whether an origin may use the main listener: any when `allowed` is empty, otherwise only those on the list. [MCP-5] */
export function isAllowedOrigin(origin: string | undefined, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.length === 0 || allowed.includes(origin)
}

/** Whether the request has no `Host`, or a single one that answers can echo safely. [X25, X40] */
export function isUsableHost(hosts: readonly string[]): boolean {
  return hosts.length === 0 || (hosts.length === 1 && isEchoableHost(hosts[0] ?? ''))
}
