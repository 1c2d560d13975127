import { expect, it } from 'vitest'
import { addressProblem } from './addresses.ts'

it.each(['0.0.0.0', '127.0.0.1', '::', '::1', 'fe80::1%eth0', 'localhost', 'relay-1.internal', 'a.b.c.'])(
  '[CFG-5] %s is accepted as an address to listen on',
  (host) => {
    expect(addressProblem('listen-host', host)).toBeNull()
  },
)

it.each(['999.1.1.1', '1.2.3', '127.0.0.1:9876', '[::1]', 'http://relay', 'a b', '-a', 'a..b', '*', '12345'])(
  '[CFG-5] %j is refused as an address to listen on, before anything is opened',
  (host) => {
    expect(addressProblem('listen-host', host)).toEqual({
      problem: 'neither an IP address nor a host name',
      allowed: 'e.g. 0.0.0.0, 127.0.0.1, :: or localhost',
    })
  },
)
