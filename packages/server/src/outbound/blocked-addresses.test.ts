import { BlockList, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from './blocked-addresses.ts'

const BLOCKED_V4 = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.0', '127.255.255.255'],
  ...[
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.0.0.0',
    '192.0.0.255',
    '192.0.2.0',
  ],
  ...['192.0.2.255', '192.88.99.0', '192.88.99.255', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255'],
  ...[
    '198.51.100.0',
    '198.51.100.255',
    '203.0.113.0',
    '203.0.113.255',
    '224.0.0.0',
    '239.255.255.255',
    '240.0.0.0',
    '255.255.255.255',
  ],
]
/** Public addresses directly before and after the blocked ranges. */
const PUBLIC_V4 = [
  ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255'],
  ...[
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.0.3.0',
    '192.88.98.255',
    '192.88.100.0',
  ],
  ...[
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
    '203.0.114.0',
  ],
  ...['223.255.255.255', '8.8.8.8'],
]
const BLOCKED_V6 = [
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '64:ff9b:1::',
    '64:ff9b:1:ffff::1',
    '100::',
    '100::1',
    '2001::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  ],
  ...[
    '2001:1ff:ffff::',
    '2001:db8::',
    '2001:db8:ffff::1',
    'fc00::',
    'fd00:ec2::254',
    'fdff::',
    'fe80::',
    'fe80::1',
    'febf::',
    'fec0::',
  ],
  ...[
    'feff::',
    'ff00::',
    'ff02::1',
    'ffff::',
    '4000::',
    '5f00::1',
    '3fff::1',
    '::ffff:0:7f00:1',
    'fe80::1%eth0',
    '1::',
    '200::1',
  ],
]
const PUBLIC_V6 = ['2000::1', '2001:200::', '2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1', '3ffe::1', '2003::1']

const hex = (v4: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
const carriers = (v4: string) => [
  `::ffff:${v4}`,
  `::FFFF:${hex(v4)}`,
  `0:0:0:0:0:ffff:${hex(v4)}`,
  `::${v4}`,
  `64:ff9b::${v4}`,
  `64:ff9b::${hex(v4)}`,
  `2002:${hex(v4)}::`,
  `2002:${hex(v4)}::7f00:1`,
]

describe('[BLOB-18] public addresses', () => {
  it.each(BLOCKED_V4)('[BLOB-18] %s is not public, nor is any IPv6 form of it', (address) => {
    expect([address, ...carriers(address)].filter(isPublicAddress)).toEqual([])
  })

  it.each(PUBLIC_V4)('[BLOB-18] %s is public, and so are its IPv6 forms', (address) => {
    expect([address, ...carriers(address)].filter((form) => !isPublicAddress(form))).toEqual([])
  })

  it('[BLOB-18] every special IPv6 range is not public, and global IPv6 addresses are', () => {
    expect(BLOCKED_V6.filter(isPublicAddress)).toEqual([])
    expect(PUBLIC_V6.filter((address) => !isPublicAddress(address))).toEqual([])
  })

  it('[BLOB-18] text that is not a plain address is not public', () => {
    const others = [
      '',
      'localhost',
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '[::1]',
      '8.8.8.8 ',
      '::1%lo',
      '8.8.8.8:443',
      '2606::4700::1',
    ]
    expect(others.filter(isPublicAddress)).toEqual([])
  })

  it('[BLOB-18] the result equals the block list of Node for random addresses', () => {
    const list = new BlockList()
    const ranges: readonly (readonly [string, number])[] = [
      ...([
        ['0.0.0.0', 8],
        ['10.0.0.0', 8],
        ['100.64.0.0', 10],
        ['127.0.0.0', 8],
        ['169.254.0.0', 16],
      ] as const),
      ...([
        ['172.16.0.0', 12],
        ['192.0.0.0', 24],
        ['192.0.2.0', 24],
        ['192.88.99.0', 24],
        ['192.168.0.0', 16],
      ] as const),
      ...([
        ['198.18.0.0', 15],
        ['198.51.100.0', 24],
        ['203.0.113.0', 24],
        ['224.0.0.0', 4],
        ['240.0.0.0', 4],
      ] as const),
      ...([
        ['64:ff9b:1::', 48],
        ['100::', 64],
        ['2001::', 23],
        ['2001:db8::', 32],
        ['fc00::', 7],
      ] as const),
      ...([
        ['fe80::', 10],
        ['fec0::', 10],
        ['ff00::', 8],
        ['::', 127],
        ['3fff::', 20],
      ] as const),
    ]
    for (const [net, bits] of ranges) list.addSubnet(net, bits, isIPv6(net) ? 'ipv6' : 'ipv4')
    const near = fc.constantFrom(...ranges.map(([net]) => net), '2000::')
    const v4 = fc.ipV4()
    const v6 = fc.oneof(
      fc.ipV6(),
      fc.tuple(near, fc.nat(0xffff)).map(([net, last]) => (isIPv6(net) ? net.replace(/::$/, `::${last.toString(16)}`) : net)),
    )
    const blocked = (address: string) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    fc.assert(
      fc.property(fc.oneof(v4, v6), (address) => {
        if (blocked(address)) expect(isPublicAddress(address)).toBe(false)
        else if (!isIPv6(address)) expect(isPublicAddress(address)).toBe(true)
      }),
      { seed: 18, numRuns: 20_000 },
    )
  })
})
