import { BlockList, isIP } from 'node:net'

/** The peers whose `X-Forwarded-For` is trusted. [CFG-10 trusted_proxies] */
export interface TrustedProxies {
  has(address: string): boolean
}

/** `cidrs`: addresses with or without a prefix length, already checked by the configuration. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(address, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
  }
  return { has: (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') }
}

/**
 * Returns the address under which a client is counted: its IPv4 address, or the /64 of its IPv6 address. When the peer
 * is a trusted proxy, this is the rightmost entry of `X-Forwarded-For` that is not a trusted proxy; anybody may have
 * written the entries left of it. [WS-6]
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: TrustedProxies): string {
  let address = plain(peer)
  const entries = (forwardedFor ?? '').split(',').reverse()
  for (const entry of entries) {
    if (!trusted.has(address)) break
    const next = plain(entry.trim())
    // An entry that is not an address does not identify the client.
    if (isIP(next) === 0) break
    address = next
  }
  return isIP(address) === 6 ? network64(address) : address
}

/** Whether this peer is trusted to name the client that it forwards for. */
export function isTrusted(peer: string, trusted: TrustedProxies): boolean {
  return trusted.has(plain(peer))
}

/** Returns an address without brackets, port and zone. Returns the IPv4 address of an IPv4-mapped IPv6 address. */
function plain(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.split('%')[0] ?? ''
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}

function network64(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  // An IPv4 part at the end stands for two groups. They are never among the first four groups, which make up the /64.
  const right =
    tail === undefined || tail === '' ? [] : tail.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = tail === undefined ? left : [...left, ...zeros, ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
