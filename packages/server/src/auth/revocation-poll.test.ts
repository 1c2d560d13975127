import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StorageHost } from '../drivers/sql/storage-host.ts'
import { openHost, temporaryStore } from '../drivers/sql/testing/store-under-test.ts'
import { type Logger, silentLogger } from '../kernel/log.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { fetchChunks } from './operator-fetch.ts'
import { startRevocationPoll } from './revocation-poll.ts'
import { openRevocations, type Revocations } from './revocations.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const NOW_MS = Date.UTC(2026, 5, 2, 12)
const BEARER = 'the-polling-secret-1'
const INTERVAL_MS = 60_000

let file: ReturnType<typeof temporaryStore>
let storage: StorageHost
let time: ManualTime
let revocations: Revocations
let server: Server
let url: string
let requests: { since: string | null; authorization: string | undefined }[]
let respond: (response: ServerResponse, request: IncomingMessage) => void
let polling: AsyncDisposable
let warnings: string[]
let unreadable: number
let polled: () => void

beforeEach(async () => {
  file = temporaryStore()
  storage = await openHost(file.url, { commitDelayMs: 0 })
  time = manualTime(NOW_MS)
  revocations = await openRevocations({ store: storage.revocations, clock: time.clock, log: silentLogger, hasTransport: true })
  requests = []
  warnings = []
  unreadable = 0
  server = createServer((request, response) => {
    const since = new URL(request.url ?? '', 'http://x').searchParams.get('since')
    requests.push({ since, authorization: request.headers.authorization })
    respond(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/revocations?tenant=7`
})
afterEach(async () => {
  await polling[Symbol.asyncDispose]()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await storage[Symbol.asyncDispose]()
  file.remove()
})

/** Starts polling; resolves after the first poll has ended. */
async function start(timeoutMs = 1_000): Promise<void> {
  const log: Logger = { ...silentLogger, warn: (event) => warnings.push(event), error: (event) => warnings.push(event) }
  const ended = nextPoll()
  const timers = {
    after: (delayMs: number, run: () => void) => {
      polled()
      return time.timers.after(delayMs, run)
    },
  }
  polling = startRevocationPoll({
    url,
    bearer: BEARER,
    intervalMs: INTERVAL_MS,
    revocations,
    log,
    clock: time.clock,
    timers,
    onUnreadable: (count) => {
      unreadable += count
    },
    fetchChunks: (address, headers, signal) => fetchChunks(address, { timeoutMs, maxBytes: 128 * 1024 * 1024, headers, signal }),
  })
  await ended
}

function nextPoll(): Promise<void> {
  return new Promise((resolve) => {
    polled = resolve
  })
}

async function interval(): Promise<void> {
  const ended = nextPoll()
  await time.advance(INTERVAL_MS)
  await ended
}

const entry = (jti: string, revokedAt = '2026-06-02T11:00:00Z') => ({ jti, revoked_at: revokedAt })
const answer = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value))

describe('polling for revocations', () => {
  it('[AUTH-14] [A-8] the first poll asks since now - 24 h, applies the entries, and the next one asks since next_since', async () => {
    respond = answer({ revocations: [entry('a'), entry('b')], next_since: '2026-06-02T11:00:00.123456Z' })
    await start()
    expect([revocations.has('a'), revocations.has('b'), await revocations.cursor()]).toEqual([
      true,
      true,
      '2026-06-02T11:00:00.123456Z',
    ])
    respond = answer({ next_since: '2026-06-02T11:30:00Z', revocations: [] })
    await interval()
    await interval()
    expect(requests).toEqual([
      { since: '2026-06-01T12:00:00.000Z', authorization: `Bearer ${BEARER}` },
      { since: '2026-06-02T11:00:00.123456Z', authorization: `Bearer ${BEARER}` },
      { since: '2026-06-02T11:30:00Z', authorization: `Bearer ${BEARER}` },
    ])
    expect(revocations.ageSec()).toBe(0)
  })

  it('[AUTH-14] the poll cursor survives a restart', async () => {
    respond = answer({ revocations: [], next_since: '2026-06-02T10:00:00Z' })
    await start()
    await polling[Symbol.asyncDispose]()
    await start()
    expect(requests.map(({ since }) => since)).toEqual(['2026-06-01T12:00:00.000Z', '2026-06-02T10:00:00Z'])
  })

  it('[AUTH-14] every entry of a long answer is applied', async () => {
    const list = Array.from({ length: 20_001 }, (_, i) => entry(`j${i}`))
    respond = answer({ revocations: list, next_since: '2026-06-02T11:00:00Z' })
    await start(5_000)
    expect([revocations.size, list.every(({ jti }) => revocations.has(jti))]).toEqual([20_001, true])
    expect(await storage.revocations.all()).toHaveLength(20_001)
  })

  it('[A-8] repeated and unordered entries change nothing', async () => {
    respond = answer({
      revocations: [entry('b'), entry('a', '2026-06-01T00:00:00Z'), entry('b')],
      next_since: '2026-06-02T11:00:00Z',
    })
    await start()
    await interval()
    expect([revocations.size, (await storage.revocations.all()).map(({ jti }) => jti)]).toEqual([2, ['a', 'b']])
  })

  const failures: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['500', (response) => response.writeHead(500).end('{"revocations":[],"next_since":"2026-06-02T11:00:00Z"}')],
    ['no answer', () => {}],
    ['HTML', (response) => response.end('<html>')],
    ['a connection that breaks', (response) => response.destroy()],
    ['next_since missing', answer({ revocations: [] })],
    ['next_since empty', answer({ revocations: [], next_since: '' })],
    ['next_since of 1,025 characters', answer({ revocations: [], next_since: 'x'.repeat(1_025) })],
    ['next_since a number', answer({ revocations: [], next_since: 1_780_000_000 })],
    ['next_since before the cursor', answer({ revocations: [], next_since: '2026-06-01T11:59:59.999Z' })],
    ['revocations missing', answer({ next_since: '2026-06-02T11:00:00Z' })],
  ]
  it.each(failures)(
    '[AUTH-14] [AUTH-15] [A-8] %s: since stays, the age grows, and the next interval polls again',
    async (_, fail) => {
      respond = fail
      await time.advance(5_000)
      const from = '2026-06-01T12:00:05.000Z'
      await start(100)
      expect([await revocations.cursor(), revocations.ageSec(), warnings]).toEqual([null, 5, ['auth.revocations.poll-failed']])
      await revocations.add([], { cursor: from, partial: true })
      await interval()
      expect([await revocations.cursor(), revocations.ageSec()]).toEqual([from, 65])
      respond = answer({ revocations: [entry('late')], next_since: '2026-06-02T11:00:00Z' })
      await interval()
      expect([revocations.has('late'), revocations.ageSec(), requests.at(-1)?.since]).toEqual([true, 0, from])
    },
  )

  it('[AUTH-14] stopping ends a hanging poll', async () => {
    respond = () => {}
    void start(60_000)
    await new Promise((resolve) => server.once('request', resolve))
    await polling[Symbol.asyncDispose]()
    expect([warnings, time.waiting()]).toEqual([[], 0])
  })

  it('[AUTH-14] entries before a bad next_since are applied, and the cursor stays', async () => {
    respond = answer({ revocations: [entry('a')] })
    await start()
    expect([revocations.has('a'), await revocations.cursor()]).toEqual([true, null])
  })

  it.each([
    ['no time', { jti: 'b' }],
    ['a number for a time', { jti: 'b', revoked_at: 1_780_000_000 }],
    ['a time without zone', entry('b', '2026-06-02T11:00:00.123456')],
    ['a time in words', entry('b', 'never')],
  ])('[AUTH-14] a polled entry revokes its token, with %s', async (_, odd) => {
    respond = answer({ revocations: [entry('a'), odd, entry('c')], next_since: '2026-06-02T11:00:00Z' })
    await start()
    expect(['a', 'b', 'c'].filter((jti) => !revocations.has(jti))).toEqual([])
    expect(warnings).toEqual([])
  })

  it('[AUTH-14] [AUTH-15] a polled entry without a usable jti is counted and skipped, the others are applied, and the age is not reset', async () => {
    respond = answer({ revocations: [entry('a'), { jti: 7 }, entry('c')], next_since: '2026-06-02T11:00:00Z' })
    await time.advance(5_000)
    await start()
    expect(['a', 'c'].filter((jti) => !revocations.has(jti))).toEqual([])
    expect(unreadable).toBe(1)
    expect(warnings).toEqual(['auth.revocations.unreadable'])
    expect(await revocations.cursor()).toBe('2026-06-02T11:00:00Z')
    expect(revocations.ageSec()).toBe(5)
    respond = answer({ revocations: [], next_since: '2026-06-02T11:00:00Z' })
    await interval()
    expect(revocations.ageSec()).toBe(0)
  })

  it.each(['2026-06-02T11:00:00', 'cursor-17', '1780000000'])(
    '[AUTH-14] next_since %s is accepted and sent back unchanged',
    async (text) => {
      respond = answer({ revocations: [entry('a')], next_since: text })
      await start()
      await interval()
      expect(await revocations.cursor()).toBe(text)
      expect(requests.at(-1)?.since).toBe(text)
      expect(revocations.ageSec()).toBe(0)
    },
  )

  it('[A-8] a poll answer of 100 MB is read in parts: its entries are applied, and nothing blocks for 250 ms', async () => {
    const padding = 'x'.repeat(50_000)
    respond = (response) => void writeLarge(response, padding)
    let longest = 0
    let sinceTick = threadTime()
    const watch = setInterval(() => {
      longest = Math.max(longest, sinceTick())
      sinceTick = threadTime()
    }, 5)
    await start(10_000)
    clearInterval(watch)
    expect([revocations.size, await revocations.cursor()]).toEqual([2_000, '2026-06-02T11:00:00Z'])
    expect(longest).toBeLessThan(250)
  })
})

async function writeLarge(response: ServerResponse, padding: string): Promise<void> {
  response.write('{"revocations":[')
  for (let i = 0; i < 2_000; i++) {
    const text = `${i === 0 ? '' : ','}${JSON.stringify({ ...entry(`j${i}`), padding })}`
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve))
  }
  response.end('],"next_since":"2026-06-02T11:00:00Z"}')
}
