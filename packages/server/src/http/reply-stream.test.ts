import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { patience } from '../kernel/testing/patience.ts'
import type { Route } from './route.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const PARTS = 3
const PART_BYTES = 100

async function* paced(parts: number, fails: boolean): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < parts; part++) {
    await sleep(100)
    yield new Uint8Array(PART_BYTES)
  }
  if (fails) throw new Error('the disk is gone')
}

/** Makes a route whose reply promises `promised` parts and whose source gives `parts`. */
function streaming(path: string, promised: number, parts: number, fails = false): Route {
  return {
    method: 'GET',
    path,
    credential: 'none',
    body: { kind: 'none' },
    needs: 'none',
    summary: '',
    handle: async () => ({
      kind: 'stream',
      partial: false,
      length: promised * PART_BYTES,
      open: async () => paced(parts, fails),
      headers: { 'Content-Type': 'application/octet-stream' },
    }),
  }
}

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({
    routes: [
      streaming('/whole', PARTS, PARTS),
      streaming('/failing', 2 * PARTS, PARTS, true),
      streaming('/long', 1_000, 1_000),
      streaming('/headed', 1_000, 1_000),
    ],
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

/** Sends a request. Resolves with the response as soon as its headers arrive. */
function begin(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ port: relay.port, path, agent: false }, resolve).on('error', reject).end()
  })
}

const answered = (route: string) => relay.logLines.filter((line) => line.event === 'http.request' && line.route === route)

/** Returns the metrics of a route for answers with 200: their number and their total duration in seconds. */
async function measured(route: string): Promise<readonly [count: number, seconds: number]> {
  const { text } = await relay.metrics.render()
  const value = (name: string): number =>
    Number(new RegExp(`duration_seconds_${name}\\{route="${route}",method="GET",code="200"\\} (.*)`).exec(text)?.[1] ?? 0)
  return [value('count'), value('sum')]
}

it.each([
  ['to its end', '/whole', (response: IncomingMessage) => response.resume()],
  ['until its source failed', '/failing', (response: IncomingMessage) => response.resume()],
  ['until its client left', '/long', (response: IncomingMessage) => void setTimeout(() => response.destroy(), 300)],
])('[OPS-4] [OPS-5] the duration of a streamed reply is measured %s, once', async (_, route, take) => {
  const response = await begin(route)
  expect([answered(route), await measured(route)]).toEqual([[], [0, 0]])
  const closed = new Promise((resolve) => response.on('error', () => undefined).once('close', resolve))
  take(response)
  await closed
  await vi.waitFor(() => expect(answered(route)).toHaveLength(1), patience(5_000))
  expect(answered(route)).toMatchObject([{ status: 200, method: 'GET' }])
  expect(answered(route)[0]?.durationMs).toBeGreaterThan(250)
  const [count, seconds] = await measured(route)
  expect(count).toBe(1)
  expect(seconds).toBeGreaterThan(0.25)
})

it('[OPS-4] [OPS-5] the duration of a HEAD reply, which has no body, is measured at once', async () => {
  await relay.call('HEAD', '/headed')
  expect(answered('/headed')).toMatchObject([{ status: 200, method: 'HEAD' }])
})
