import { describe, expect, it } from 'vitest'
import { headerOf } from './request-headers.ts'
import { isReadableHost, isReadableTarget, pathOf, queryOf } from './request-target.ts'

describe('targets of requests', () => {
  it.each([
    ['/api/docs/a%2Fb?x=1', '/api/docs/a%2Fb'],
    ['/api/../docs', '/api/../docs'],
    ['http://host:1/a/b?c', '/a/b'],
    ['http://host', '/'],
    ['/a#b?c', '/a'],
  ])('[REST-5] [X16] the path of %s is taken as it was sent', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })

  it('[REST-8] the query ends at a fragment', () => {
    expect([...queryOf('/a?b=1&b=2&c=%20+#d=4')]).toEqual([
      ['b', '1'],
      ['b', '2'],
      ['c', '  '],
    ])
    expect([...queryOf('/a')]).toEqual([])
  })

  it.each(['*', 'a', '', '/a\\b', 'http://[', 'https://host\\x/'])('[REST-2] %s names no path', (url) => {
    expect(isReadableTarget(url)).toBe(false)
  })

  it.each(['/', '/a?b=\\', 'http://host/a'])('[REST-2] %s names a path', (url) => {
    expect(isReadableTarget(url)).toBe(true)
  })

  it('[X25] a host with a port beyond 65535, or that a URL would change, is not readable', () => {
    expect(['h', 'h:80', 'h:9876', 'h:59999', 'h:65535', '127.0.0.1:43210', '[::1]:80', ''].filter(isReadableHost)).toHaveLength(
      8,
    )
    expect(['h:65536', 'h:99999', 'a b', 'a/b', 'a@b', 'h:x'].filter(isReadableHost)).toEqual([])
  })
})

it('[AUTH-2] two Authorization headers give no credential, because their values are joined', () => {
  const rawHeaders = ['Host', 'h', 'AUTHORIZATION', 'Bearer a', 'authorization', 'Bearer b']
  expect([
    headerOf({ rawHeaders }, 'authorization'),
    headerOf({ rawHeaders }, 'host'),
    headerOf({ rawHeaders }, 'origin'),
  ]).toEqual(['Bearer a, Bearer b', 'h', undefined])
})
