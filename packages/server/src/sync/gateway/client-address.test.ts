import { describe, expect, it } from 'vitest'
import { clientAddress, isTrusted, trustedProxies } from './client-address.ts'

const none = trustedProxies([])
const proxies = trustedProxies(['10.0.0.0/8', '192.168.1.7', 'fd00::/8'])

describe('the address of a client', () => {
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
  ])('[WS-6] of peer %s is %s', (peer, address) => {
    expect(clientAddress(peer, undefined, none)).toBe(address)
  })

  it.each([
    ['a peer that is no proxy is itself whatever it says', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a proxy names its client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['what stands left of the client was written by anybody', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['proxies in a row are passed over', '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.168.1.7,10.9.9.9', '198.51.100.1'],
    ['a proxy over IPv4 in IPv6 is one', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a client of IPv6 is its /64', 'fd00::1', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['a port or brackets do not count', '10.1.2.3', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['a port of IPv4 does not count', '10.1.2.3', '198.51.100.1:5555', '198.51.100.1'],
    ['what is no address leaves the proxy', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['nothing leaves the proxy', '10.1.2.3', '', '10.1.2.3'],
    ['a row of proxies alone is the first of them', '10.1.2.3', '10.4.4.4', '10.4.4.4'],
  ])('[WS-6] %s', (_, peer, forwarded, address) => {
    expect(clientAddress(peer, forwarded, proxies)).toBe(address)
  })

  it('[CFG-7] a peer over IPv4 in IPv6 is trusted like the IPv4 address', () => {
    expect([isTrusted('::ffff:10.1.1.1', proxies), isTrusted('::ffff:11.1.1.1', proxies), isTrusted('', proxies)]).toEqual([
      true,
      false,
      false,
    ])
  })
})
