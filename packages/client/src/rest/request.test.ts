import { describe, expect, it } from 'vitest'
import type { Environment } from '../environment.ts'
import { NeedsSignIn, RelayError } from '../errors.ts'
import { Tokens } from '../tokens.ts'
import { nextCursor } from './documents.ts'
import { Requests } from './request.ts'

type Answer = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | Error

/** A `Requests` object whose answers and pauses are given by the test. */
function bench(answers: readonly Answer[], token: (request: { fresh: boolean }) => string = () => 'first') {
  const sent: string[] = []
  const pauses: number[] = []
  const told: RelayError[] = []
  const rest = [...answers]
  const environment: Environment = {
    now: () => 0,
    random: () => 0,
    after(ms, run) {
      pauses.push(ms)
      queueMicrotask(run)
      return () => {}
    },
    openSocket: () => {
      throw new Error('no sockets here')
    },
    async fetch(url, init) {
      init.signal?.throwIfAborted()
      sent.push(`${init.method} ${url} ${(init.headers as Record<string, string>)['authorization']}`)
      const answer = rest.shift() ?? { status: 200, body: 'nothing was left to play' }
      if (answer instanceof Error) throw answer
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {})
      return new Response(text, { status: answer.status, headers: answer.headers ?? {} })
    },
  }
  const tokens = new Tokens(token, (error) => told.push(error), { after: () => () => {} })
  const requests = new Requests({ base: 'https://relay.example', tokens, workspace: undefined, environment, attempts: 4 })
  return { requests, sent, pauses, told }
}

const refused = (status: number, errorCode: string, details: object = {}): Answer => ({
  status,
  body: { error: 'no', errorCode, ...details },
})

describe('requests that are retried', () => {
  it('[REST-13] a GET that meets 503 is retried after Retry-After plus a random spread', async () => {
    const { requests, sent, pauses } = bench([
      { status: 503, body: { error: 'busy', errorCode: 'UNAVAILABLE' }, headers: { 'retry-after': '2' } },
      { status: 200, body: { ok: 1 } },
    ])
    expect(await requests.json('GET', '/api/docs')).toEqual({ ok: 1 })
    expect([sent.length, pauses]).toEqual([2, [2_125]])
  })

  it('[REST-13] a GET without an answer is tried four times in all, with growing pauses', async () => {
    const { requests, pauses } = bench(Array.from({ length: 4 }, () => new TypeError('fetch failed')))
    await expect(requests.json('GET', '/x')).rejects.toMatchObject({ code: 'NETWORK', retry: 'later', status: null })
    expect(pauses).toEqual([125, 250, 500])
  })

  it('[REST-13] a PUT, POST or DELETE is sent once, since only the caller knows whether it may be repeated', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const { requests, sent } = bench([refused(503, 'UNAVAILABLE', { retryAfterMs: 1000 })])
      await expect(requests.json(method, '/x')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 1000 })
      expect(sent).toHaveLength(1)
    }
  })

  it('[REST-13] a caller that would have to wait for a minute gets the error at once', async () => {
    const { requests, sent } = bench([refused(503, 'UNAVAILABLE', { retryAfterMs: 60_000 })])
    await expect(requests.json('GET', '/x')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 60_000, retry: 'later' })
    expect(sent).toHaveLength(1)
  })

  it('[REST-14] a refusal that waiting does not end is not retried', async () => {
    for (const [status, code] of [
      [404, 'NOT_FOUND'],
      [403, 'VIEW_FORBIDDEN'],
      [507, 'STORAGE_QUOTA'],
    ] as const) {
      const { requests, sent } = bench([refused(status, code)])
      await expect(requests.json('GET', '/x')).rejects.toMatchObject({ code, status })
      expect(sent).toHaveLength(1)
    }
  })

  it('[REST-13] a request that is aborted while it waits for its retry rejects with the reason of the signal', async () => {
    const controller = new AbortController()
    const { requests, sent } = bench([new TypeError('fetch failed'), new TypeError('fetch failed')])
    const reason = new Error('the view was left')
    const asked = requests.json('GET', '/x', { signal: controller.signal })
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
    expect(sent.length).toBeLessThan(2)
  })
})

describe('the token of requests', () => {
  it('[AUTH-1] a request that meets 401 is sent once more with a fresh token, whatever its method', async () => {
    const { requests, sent } = bench([refused(401, 'TOKEN_INVALID'), { status: 200, body: { ok: 1 } }], ({ fresh }) =>
      fresh ? 'second' : 'first',
    )
    expect(await requests.json('PUT', '/x', { body: {} })).toEqual({ ok: 1 })
    expect(sent).toEqual(['PUT https://relay.example/x Bearer first', 'PUT https://relay.example/x Bearer second'])
  })

  it('[AUTH-1] a request that meets a second 401 rejects with that refusal', async () => {
    const { requests, sent } = bench([refused(401, 'TOKEN_INVALID'), refused(401, 'TOKEN_REVOKED')], ({ fresh }) =>
      fresh ? 'second' : 'first',
    )
    await expect(requests.json('GET', '/x')).rejects.toMatchObject({ code: 'TOKEN_REVOKED', retry: 'after-change' })
    expect(sent).toHaveLength(2)
  })

  it('[AUTH-1] requests that are refused together ask for one fresh token', async () => {
    let fresh = 0
    const answers = [refused(401, 'TOKEN_INVALID'), refused(401, 'TOKEN_INVALID'), { status: 200 }, { status: 200 }]
    const { requests } = bench(answers, (request) => {
      if (request.fresh) fresh++
      return request.fresh ? 'second' : 'first'
    })
    await Promise.all([requests.json('GET', '/a'), requests.json('GET', '/b')])
    expect(fresh).toBe(1)
  })

  it('[AUTH-1] a NeedsSignIn from token() rejects the request, is reported once, and nothing is sent', async () => {
    const { requests, sent, told } = bench([], () => {
      throw new NeedsSignIn()
    })
    await expect(requests.json('GET', '/x')).rejects.toMatchObject({ name: 'NeedsSignIn', code: 'NEEDS_SIGN_IN' })
    expect([sent, told.length]).toEqual([[], 1])
  })

  it('[AUTH-1] token() that throws anything else, or gives no token, rejects the request with TOKEN_FAILED', async () => {
    for (const token of [
      () => '',
      () => undefined as unknown as string,
      () => {
        throw new Error('the session server is down')
      },
    ]) {
      const { requests, sent } = bench([], token)
      await expect(requests.json('GET', '/x')).rejects.toMatchObject({ code: 'TOKEN_FAILED' })
      expect(sent).toEqual([])
    }
  })
})

describe('a request whose signal was aborted before', () => {
  it('[REST-13] rejects with the reason of the signal alone, also when token() fails', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): unknown => unhandled.push(error)
    process.on('unhandledRejection', note)
    try {
      const { requests, sent } = bench([], () => {
        throw new Error('the session server is down')
      })
      const reason = new Error('the view was left')
      await expect(requests.json('GET', '/x', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      await new Promise((resolve) => setTimeout(resolve))
      expect([sent, unhandled]).toEqual([[], []])
    } finally {
      process.off('unhandledRejection', note)
    }
  })
})

describe('errors of requests', () => {
  it('[REST-14] an error carries code, status and details of the answer', async () => {
    const { requests } = bench([refused(409, 'VERSION_CONFLICT', { currentVersion: 7 })])
    const error = await requests.json('PUT', '/x', { body: {} }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(RelayError)
    expect(error).toMatchObject({ code: 'VERSION_CONFLICT', status: 409, details: { currentVersion: 7 }, retry: 'after-change' })
  })

  it.each([
    [
      { status: 502, body: '<html>Bad gateway</html>' },
      { code: 'UNEXPECTED_ANSWER', status: 502, retry: 'later' },
    ],
    [
      { status: 200, body: '<html>Welcome</html>' },
      { code: 'UNEXPECTED_ANSWER', retry: 'never' },
    ],
    [
      { status: 403, body: 'forbidden' },
      { code: 'FORBIDDEN_PLAIN', status: 403 },
    ],
    [refused(418, 'SOMETHING_NEWER'), { code: 'UNEXPECTED_ANSWER', status: 418, details: { errorCode: 'SOMETHING_NEWER' } }],
  ])('[REST-14] the answer %j is an error of the closed union', async (answer, expected) => {
    const { requests } = bench([answer, answer, answer, answer])
    await expect(requests.json('GET', '/x')).rejects.toMatchObject(expected)
  })
})

it('[REST-21] the cursor of the next page is read from the Link header', () => {
  expect(nextCursor('</api/docs?limit=2&cursor=a%3Db>; rel="next"')).toBe('a=b')
  expect(nextCursor('</doc>; rel="sunset"')).toBe(null)
  expect(nextCursor(null)).toBe(null)
})
