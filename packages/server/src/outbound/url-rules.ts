import { isIP } from 'node:net'
import { isPublicAddress } from './blocked-addresses.ts'

/** The rule that a URL breaks. */
export type UrlFault = 'unparsable' | 'not-https' | 'user-info' | 'host-not-allowed' | 'blocked-address'

export type UrlVerdict =
  | { readonly kind: 'allowed'; readonly url: URL; readonly host: string }
  /** `host` is empty when the URL has none. */
  | { readonly kind: 'refused'; readonly fault: UrlFault; readonly host: string }

/** Decides whether the URL of one hop is allowed. */
export type JudgeUrl = (url: URL) => UrlVerdict

/**
 * Checks one hop before any name is resolved: https, no user info, host in the allowlist, and no address of a blocked
 * range as host, even when it is listed. The URL parser has already turned other spellings of an address into the plain
 * one. `null`: every host is in the allowlist. [BLOB-18, REF-10, U1]
 */
export function judgeUrl(url: URL, allowedHosts: readonly string[] | null): UrlVerdict {
  const host = hostOf(url)
  const refused = (fault: UrlFault): UrlVerdict => ({ kind: 'refused', fault, host })
  if (url.protocol !== 'https:') return refused('not-https')
  if (url.username !== '' || url.password !== '') return refused('user-info')
  if (isIP(host) !== 0 && !isPublicAddress(host)) return refused('blocked-address')
  if (allowedHosts !== null && !allowedHosts.some((pattern) => matches(host, pattern))) return refused('host-not-allowed')
  return { kind: 'allowed', url, host }
}

/** Returns the name or the bare address, without a final dot. */
export function hostOf(url: URL): string {
  const { hostname } = url
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

/** Matches the host itself, or with `*.suffix` its subdomains, at the border of a label. */
function matches(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase().replace(/\.$/, '')
  if (!wanted.startsWith('*.')) return host === wanted
  const suffix = wanted.slice(1)
  return isIP(host) === 0 && host.length > suffix.length && host.endsWith(suffix)
}
