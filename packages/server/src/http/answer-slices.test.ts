import { expect, it } from 'vitest'
import { createRoundTurns } from '../kernel/round-turns.ts'
import { slicedAnswer } from './answer-slices.ts'

const KIB = 1_024

/** Makes turns whose rounds the test starts. */
function rounds(perRound: number) {
  const due: (() => void)[] = []
  const turns = createRoundTurns({ perRound, soon: (work) => due.push(work) })
  return { turns, next: () => due.shift()?.() }
}

/** Returns the value that a read has got without a further round; `waits` when it has none yet. */
async function taken(promise: Promise<{ readonly value?: Uint8Array | undefined }>): Promise<Uint8Array | undefined | 'waits'> {
  const settled = new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')))
  return Promise.race([promise.then(({ value }) => value), settled])
}

it('[H10] a long answer is sent in slices that wait for turns of its workspace', async () => {
  const { turns, next } = rounds(1)
  const stream = slicedAnswer([new Uint8Array(600 * KIB).fill(1), new Uint8Array([2])], 'w', turns) as ReadableStream<Uint8Array>
  const reader = stream.getReader()
  expect((await taken(reader.read())) as Uint8Array).toHaveLength(256 * KIB)
  const second = reader.read()
  expect(await taken(second)).toBe('waits')
  next()
  expect((await taken(second)) as Uint8Array).toHaveLength(256 * KIB)
})

it('[H10] the slices of a long answer are its bytes in order', async () => {
  const parts = [new Uint8Array(600 * KIB).map((_, i) => i), new Uint8Array([7, 8]), new Uint8Array(300 * KIB).fill(9)]
  const body = slicedAnswer(parts, 'w', createRoundTurns({ perRound: 2 }))
  const sent = Buffer.from(await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
  expect(sent.equals(Buffer.concat(parts))).toBe(true)
})

it('[H10] a short answer is sent at once', () => {
  const { turns } = rounds(0)
  const parts = [new Uint8Array([1, 2]), new Uint8Array([3])]
  expect(slicedAnswer(parts, 'w', turns)).toEqual(parts)
})

it('[H10] a long answer whose client leaves while it waits for a turn ends', async () => {
  const { turns, next } = rounds(1)
  const stream = slicedAnswer([new Uint8Array(600 * KIB)], 'w', turns) as ReadableStream<Uint8Array>
  const reader = stream.getReader()
  await reader.read()
  const waiting = reader.read()
  await reader.cancel()
  next()
  expect((await waiting).done).toBe(true)
})
