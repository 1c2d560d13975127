import { describe, expect, it } from 'vitest'
import { authorizationValues, readBearer } from './bearer.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const TOKEN = 'aaa.bbb.ccc'

describe('the credential of a request', () => {
  /** Raw headers as node gives them, and the credential that is read. */
  const transport: readonly (readonly [string, readonly string[], string | null])[] = [
    ['bearer in lower case', ['host', 'x', 'authorization', `bearer ${TOKEN}`], TOKEN],
    ['Basic', ['Authorization', 'Basic YTpi'], null],
    ['two headers', ['Authorization', `Bearer ${TOKEN}`, 'authorization', `Bearer ${TOKEN}`], null],
    ['query', [':path', `/api/docs?access_token=${TOKEN}`], null],
    ['cookie', ['Cookie', `authorization=Bearer ${TOKEN}; access_token=${TOKEN}`], null],
    ['WebSocket subprotocol', ['Sec-WebSocket-Protocol', `bearer, ${TOKEN}`], null],
  ]

  it('[F-4] the transport group has its 6 cases', () => {
    expect(transport).toHaveLength(6)
  })

  it.each(transport)('[AUTH-1] a credential sent by %s is read or ignored', (_, rawHeaders, credential) => {
    expect(readBearer(authorizationValues(rawHeaders))).toBe(credential)
  })

  it.each([
    ['BEARER a.b.c', 'a.b.c'],
    ['  Bearer    a.b.c  ', 'a.b.c'],
    ['Bearer not-a-jwt', 'not-a-jwt'],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearer a b', null],
    ['Bearer a.b.c, Bearer a.b.c', null],
    ['Bearera.b.c', null],
    ['Token a.b.c', null],
    ['a.b.c', null],
    ['', null],
  ])('[AUTH-1] the header %j is read as %j', (header, credential) => {
    expect(readBearer(header)).toBe(credential)
  })

  it('[AUTH-1] a request without the header has no credential', () => {
    expect(readBearer(undefined)).toBeNull()
    expect(readBearer([])).toBeNull()
  })

  it('[AUTH-1] a long run of spaces is read in linear time', () => {
    const took = threadTime()
    expect(readBearer(`Bearer ${' '.repeat(30_000)}a b`)).toBeNull()
    expect(readBearer(' '.repeat(30_000))).toBeNull()
    expect(took()).toBeLessThan(250)
  })
})
