import { isIPv4, isIPv6 } from 'node:net'

/** IPv4 ranges without public hosts. [BLOB-18] */
const BLOCKED_V4: readonly (readonly [prefix: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** All public IPv6 hosts are in 2000::/3; BLOCKED_V6 lists its parts that are not public. */
const GLOBAL_V6 = ['2000::', 3] as const
const BLOCKED_V6: readonly (readonly [prefix: string, bits: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
]

/** IPv6 forms that contain an IPv4 address, and the byte at which it begins. */
const CARRIERS: readonly (readonly [prefix: string, bits: number, at: number])[] = [
  ['::', 96, 12],
  ['::ffff:0:0', 96, 12],
  ['64:ff9b::', 96, 12],
  ['2002::', 16, 2],
]

/**
 * Whether an address is that of a public host: not loopback, private, link-local, shared, multicast or reserved, and no
 * IPv6 form of such an IPv4 address. Text that is not a plain address (a name, a zone id) is not public. [BLOB-18, U2]
 */
export function isPublicAddress(text: string): boolean {
  if (isIPv4(text)) return isPublicV4(bytesOfV4(text))
  if (!isIPv6(text) || text.includes('%')) return false
  const bytes = bytesOfV6(text)
  for (const [prefix, bits, at] of CARRIERS) {
    if (within(bytes, bytesOfV6(prefix), bits)) return isPublicV4(bytes.slice(at, at + 4))
  }
  return (
    within(bytes, bytesOfV6(GLOBAL_V6[0]), GLOBAL_V6[1]) &&
    !BLOCKED_V6.some(([prefix, bits]) => within(bytes, bytesOfV6(prefix), bits))
  )
}

type Bytes = readonly number[]

/** Whether an IPv4 address is public. `::` and `::1` arrive here as 0.0.0.0 and 0.0.0.1, which are blocked. */
function isPublicV4(address: Bytes): boolean {
  return !BLOCKED_V4.some(([prefix, bits]) => within(address, bytesOfV4(prefix), bits))
}

function within(address: Bytes, prefix: Bytes, bits: number): boolean {
  return address.every((byte, index) => {
    const ours = Math.min(8, Math.max(0, bits - index * 8))
    const mask = (0xff << (8 - ours)) & 0xff
    return (byte & mask) === ((prefix[index] ?? 0) & mask)
  })
}

function bytesOfV4(text: string): Bytes {
  return text.split('.').map(Number)
}

/** Returns the bytes of a text that `isIPv6` accepts. */
function bytesOfV6(text: string): Bytes {
  const [head = '', tail] = text.split('::')
  const before = groups(head)
  const after = groups(tail ?? '')
  return tail === undefined ? before : [...before, ...new Array<number>(16 - before.length - after.length).fill(0), ...after]
}

function groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return bytesOfV4(group)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
