import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { createRoundTurns } from '../kernel/round-turns.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createArrivals } from './arrivals.ts'
import { requestChunks } from './request-body.ts'

/** Makes a request whose body arrives in `chunks`. */
function requestOf(chunks: readonly string[], isComplete: boolean): IncomingMessage {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  return Object.assign(body, { httpVersion: '1.1', headers: {}, complete: isComplete }) as unknown as IncomingMessage
}

function take(incoming: IncomingMessage, soon: (work: () => void) => void): AsyncGenerator<Uint8Array, void> {
  const parts = createRoundTurns({ perRound: 1, soon })
  return requestChunks(incoming, {} as ServerResponse, { ...manualTime(), arrivals: createArrivals(), parts, workspaceId: 'w' })
}

/** Waits until everything has happened that needs no turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('[H3] each part of a body waits for a turn of its workspace before it is read', async () => {
  const due: (() => void)[] = []
  const chunks = take(requestOf(['a', 'b', 'c'], false), (work) => due.push(work))
  expect(String((await chunks.next()).value)).toBe('a')
  expect(String((await chunks.next()).value)).toBe('b')
  let third: unknown = null
  void chunks.next().then(({ value }) => (third = value))
  await settle()
  expect(third).toBeNull()
  due.shift()?.()
  await settle()
  expect(String(third)).toBe('c')
})

it('[H3] a body that has arrived completely is read without waiting for turns', async () => {
  const seen: string[] = []
  for await (const chunk of take(requestOf(['a', 'b', 'c'], true), () => undefined)) seen.push(String(chunk))
  expect(seen).toEqual(['a', 'b', 'c'])
})
