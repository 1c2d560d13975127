import { describe, expect, it } from 'vitest'
import { clientAddress, isTrusted, trustedProxies } from './client-address.ts'

const none = trustedProxies([])
const proxies = trustedProxies(['10.0.0.0/8', '192.168.1.7', 'fd00::/8'])

describe('the address of a client behind proxies', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
  ])('[WS-6] a peer %s is counted as address %s', (peer, address) => {
    expect(clientAddress(peer, undefined, none)).toBe(address)
  })

  it.each([
    ['the header of an untrusted peer is ignored', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the header of a trusted proxy names the client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'addresses left of the client are ignored, since the client may have written them',
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1',
      '198.51.100.1',
    ],
    ['several trusted proxies in a row are skipped', '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.168.1.7,10.9.9.9', '198.51.100.1'],
    ['an IPv4-mapped IPv6 proxy is trusted like its IPv4 address', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['an IPv6 client is counted by its /64', 'fd00::1', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['port and brackets of an IPv6 address are dropped', '10.1.2.3', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['the port of an IPv4 address is dropped', '10.1.2.3', '198.51.100.1:5555', '198.51.100.1'],
    ['after an invalid address the proxy itself is counted', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['with an empty header the proxy itself is counted', '10.1.2.3', '', '10.1.2.3'],
    ['with only trusted proxies listed the first listed one is counted', '10.1.2.3', '10.4.4.4', '10.4.4.4'],
  ])('[WS-6] forwarded headers: %s', (_, peer, forwarded, address) => {
    expect(clientAddress(peer, forwarded, proxies)).toBe(address)
  })

  it('[CFG-7] a trusted IPv4 proxy is also trusted when it connects as an IPv4-mapped IPv6 address', () => {
    expect([isTrusted('::ffff:10.1.1.1', proxies), isTrusted('::ffff:11.1.1.1', proxies), isTrusted('', proxies)]).toEqual([
      true,
      false,
      false,
    ])
  })
})
