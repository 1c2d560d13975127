import { expect, it } from 'vitest'
import { ownLinkUrl } from './own-address.ts'

const at = (address: string, family: 'IPv4' | 'IPv6' = 'IPv4') => ({ address, family, internal: address.startsWith('127.') })

it.each([
  [
    'the first private address',
    { lo: [at('127.0.0.1')], eth0: [at('10.1.2.3')], eth1: [at('192.168.0.7')] },
    'ws://10.1.2.3:9879',
  ],
  ['no public one', { eth0: [at('203.0.113.5'), at('172.31.0.9')] }, 'ws://172.31.0.9:9879'],
  ['IPv4 before IPv6', { eth0: [at('fd00::5', 'IPv6'), at('192.168.1.1')] }, 'ws://192.168.1.1:9879'],
  ['IPv6 in brackets', { eth0: [at('fe80::1', 'IPv6'), at('fd00::5', 'IPv6')] }, 'ws://[fd00::5]:9879'],
  ['null on a machine without a private address', { lo: [at('127.0.0.1')], eth0: [at('172.32.0.1')], none: undefined }, null],
])('[CFG-10] the default of link_url is %s', (_, interfaces, url) => {
  expect(ownLinkUrl(interfaces, 9879)).toBe(url)
})
