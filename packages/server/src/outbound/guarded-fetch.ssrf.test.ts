import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import { guardedFetch, type GuardedRequest } from './guarded-fetch.ts'
import { directly } from './guarded-hop.ts'
import { systemResolve } from './resolver.ts'
import { startInternet, type Internet, PUBLIC, PUBLIC_V6 } from './testing/internet.ts'
import { hostOf, judgeUrl } from './url-rules.ts'

const ADDRESSES = [
  // Loopback and "this host", in every spelling that parsers take for it.
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7F.0x0.0x0.0x1',
    '017700000001',
  ],
  ...['0177.0.0.1', '0177.1', '127.0.0.1.', '127.1.', '0', '0.0.0.0', '0x0', '00', '0.1', '%31%32%37.0.0.1', '127%2e0%2e0%2e1'],
  ...['１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '127.0.0.0x1', '0x7f.0.0.01'],
  // Private, link-local, shared, metadata services.
  ...['10.0.0.1', '10.255.255.255', '167772161', '0x0a000001', '012.0.0.1', '10.1', '172.16.0.1', '172.31.255.255', '2886729729'],
  ...[
    '192.168.0.1',
    '192.168.1',
    '3232235521',
    '0300.0250.0.1',
    '0xc0a80001',
    '0xc0.0xa8.1',
    '169.254.169.254',
    '169.254.169.254.',
  ],
  ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  // Reserved, documentation, benchmarks, multicast, broadcast.
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '4294967295', '0xffffffff', '037777777777'],
  // IPv6.
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0001]',
    '[::127.0.0.1]',
    '[::7f00:1]',
  ],
  ...[
    '[::ffff:127.0.0.1]',
    '[::FFFF:7F00:1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[::ffff:10.0.0.1]',
  ],
  ...[
    '[::ffff:a9fe:a9fe]',
    '[::ffff:169.254.169.254]',
    '[::ffff:0.0.0.0]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a00:1]',
  ],
  ...['[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:1::1]', '[2002:a00:1::]', '[2002:c0a8:1::]'],
  ...['[2002:a9fe:a9fe::1]', '[2001::1]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001:10::1]', '[2001:db8::1]', '[3fff::1]'],
  ...['[fc00::1]', '[fd00::1]', '[fd00:ec2::254]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[feff::1]', '[ff02::1]', '[ff0e::1]'],
  ...['[100::1]', '[5f00::1]', '[4000::1]', '[1::1]', '[::ffff:192.168.0.1]', '[2002:e000:1::]', '[64:ff9b::255.255.255.255]'],
]

const NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'LocalHost.',
  'ip6-localhost',
  'metadata.internal',
  'xn--mtadata-bya.internal',
]

/** URLs that may be mistaken for allowed ones. They lead to the trap, which counts connections. */
const tricks = (port: number): readonly string[] => [
  `https://public.example@127.0.0.1:${port}/`,
  `https://public.example:443@127.0.0.1:${port}/`,
  `https://user:secret@public.example:${port}/`,
  `https://127.0.0.1:${port}\\@public.example/`,
  `https://127.0.0.1:${port}#@public.example/`,
  `https://127.0.0.1:${port}?@public.example/`,
  `https:127.0.0.1:${port}`,
  `https:///127.0.0.1:${port}/`,
  `https:\\\\127.0.0.1:${port}\\`,
  `ht\ttps://127.0.0.1:${port}/`,
  ` https://127.0.0.1:${port}/ `,
  `HTTPS://127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}/`,
  `http://public.example:${port}/`,
  `//127.0.0.1:${port}/`,
  `ws://127.0.0.1:${port}/`,
  `ftp://127.0.0.1:${port}/`,
  `gopher://127.0.0.1:${port}/_GET`,
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'data:text/plain,hello',
  'blob:https://public.example/1',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock',
  `https://[::ffff:127.0.0.1%25lo]:${port}/`,
  `https://[::1%25lo]:${port}/`,
  `https://127.0.0.1:${port}:443/`,
  'https://',
  'https://%00127.0.0.1/',
]

let internet: Internet
beforeAll(async () => {
  internet = await startInternet(['public.example', 'local.example'])
})
afterAll(() => internet[Symbol.asyncDispose]())

const LIMITS = { totalMs: 5_000, idleMs: 2_000, maxRedirects: 5, maxHeaderBytes: 16_384, maxBytes: 1_000 }

/** Makes a request in the worst case: every host is in the allowlist. */
const request = (url: URL): GuardedRequest => ({
  url,
  authorization: null,
  headers: {},
  judge: (hop) => judgeUrl(hop, [hostOf(hop).toLowerCase()]),
  limits: LIMITS,
})

/** Returns the error code with which a fetch was refused. */
async function refusal(text: string): Promise<string> {
  const url = URL.parse(text)
  if (url === null) return 'unparsable'
  try {
    const answer = await guardedFetch(request(url), internet.network)
    answer.discard()
    return 'fetched'
  } catch (error) {
    if (error instanceof RelayError) return error.code
    throw error
  }
}

const forms = (): readonly string[] => [
  ...ADDRESSES.flatMap((host) => [`https://${host}/`, `https://${host}:${internet.trapPort}/x`]),
  ...NAMES.map((name) => `https://${name}:${internet.trapPort}/`),
  ...tricks(internet.trapPort),
]

describe('[BLOB-18] [X27] no request reaches a non-public address', () => {
  it('[BLOB-18] the tests use more than 130 forms of non-public addresses', () =>
    expect(ADDRESSES.length + NAMES.length + tricks(1).length).toBeGreaterThan(130))

  it('[BLOB-18] no URL with any form of a non-public address is connected to', async () => {
    for (const name of NAMES) internet.names.set(hostOf(new URL(`https://${name}/`)), ['127.0.0.1'])
    for (const form of forms())
      expect([form, await refusal(form)]).toEqual([form, expect.stringMatching(/^(URL_NOT_ALLOWED|unparsable)$/)])
    expect([internet.connections, internet.trapped()]).toEqual([[], 0])
  })

  it('[BLOB-18] no redirect to any form of a non-public address is connected to', async () => {
    for (const form of forms()) {
      internet.connections.length = 0
      internet.sites.set('public.example', (received, response) => {
        if (received.url !== '/start') return void response.writeHead(404).end()
        response.writeHead(302, { location: Buffer.from(form.replace(/[\t\n]/g, '')).toString('latin1') }).end()
      })
      const outcome = await refusal('https://public.example/start')
      // A target that parses as a path of the redirecting site itself ends in the 404 of that site.
      expect([form, outcome]).toEqual([form, expect.stringMatching(/^(URL_NOT_ALLOWED|FETCH_FAILED)$/)])
      expect(internet.connections.filter((address) => address !== PUBLIC)).toEqual([])
    }
    expect(internet.trapped()).toBe(0)
  })

  it('[BLOB-18] no name is connected to when any of its addresses is not public, whatever the order', async () => {
    const blocked = ADDRESSES.flatMap((host) => {
      const url = URL.parse(`https://${host}/`)
      return url === null ? [] : [hostOf(url)]
    })
    expect(blocked.length).toBeGreaterThan(90)
    internet.connections.length = 0
    for (const address of new Set(blocked)) {
      for (const answer of [[address], [PUBLIC, address], [address, PUBLIC], [PUBLIC, PUBLIC_V6, address]]) {
        internet.names.set('public.example', answer)
        expect([answer, await refusal(`https://public.example:${internet.trapPort}/`)]).toEqual([answer, 'URL_NOT_ALLOWED'])
      }
    }
    internet.names.set('public.example', [PUBLIC])
    expect([internet.connections, internet.trapped()]).toEqual([[], 0])
  })

  it('[BLOB-18] when a name changes after the look-up, the checked address is used; each hop is checked', async () => {
    internet.connections.length = 0
    let looks = 0
    internet.names.set('public.example', () => (looks++ === 0 ? [PUBLIC] : ['127.0.0.1']))
    internet.sites.set('public.example', (_, response) => response.writeHead(302, { location: '/again' }).end())
    await expect(guardedFetch(request(new URL('https://public.example/')), internet.network)).rejects.toMatchObject({
      code: 'URL_NOT_ALLOWED',
      details: { host: 'public.example', hop: 1 },
    })
    expect([internet.connections, internet.trapped(), looks]).toEqual([[PUBLIC], 0, 2])
    internet.names.set('public.example', [PUBLIC])
  })

  it('[BLOB-18] names and addresses that lead back to this machine are refused before a connection', async () => {
    const network = { resolve: systemResolve, connect: directly }
    for (const host of ['localhost', 'LOCALHOST.', '127.0.0.1', '2130706433', '0', '[::1]', '[::ffff:127.0.0.1]', '[::]']) {
      const url = new URL(`https://${host}:${internet.trapPort}/`)
      await expect(guardedFetch(request(url), network)).rejects.toMatchObject({ code: 'URL_NOT_ALLOWED', details: { hop: 0 } })
    }
    expect(internet.trapped()).toBe(0)
  })

  it('[BLOB-18] the test server counts a connection that is allowed by mistake', async () => {
    const wrong = { resolve: internet.network.resolve, connect: () => internet.network.connect('127.0.0.1', 443) }
    await expect(guardedFetch(request(new URL('https://public.example/')), wrong)).rejects.toMatchObject({ code: 'FETCH_FAILED' })
    expect(internet.trapped()).toBe(1)
  })
})
