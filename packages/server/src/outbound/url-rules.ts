import { isIP } from 'node:net'
import { isPublicAddress } from './blocked-addresses.ts'

/** Which rule a URL breaks. */
export type UrlFault = 'unparsable' | 'not-https' | 'user-info' | 'host-not-allowed' | 'blocked-address'

export type UrlVerdict =
  | { readonly kind: 'allowed'; readonly url: URL; readonly host: string }
  /** `host` is empty where there is none. */
  | { readonly kind: 'refused'; readonly fault: UrlFault; readonly host: string }

/** Decides one hop. */
export type JudgeUrl = (url: URL) => UrlVerdict

/**
 * The rules of one hop before any name is resolved: https, no user info, host in the allowlist, and no address of a blocked range as host, be it
 * listed or not. Numbers, other digits and other dots were made plain addresses by the URL parser before. `null`: every host is in the
 * allowlist. [BLOB-18, REF-10, U1]
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

/** The name or the bare address, without the dot that may end it. */
export function hostOf(url: URL): string {
  const { hostname } = url
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

/** A host itself, or with `*.suffix` what is below it, on a label boundary. */
function matches(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase().replace(/\.$/, '')
  if (!wanted.startsWith('*.')) return host === wanted
  const suffix = wanted.slice(1)
  return isIP(host) === 0 && host.length > suffix.length && host.endsWith(suffix)
}
