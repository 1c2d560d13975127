import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import { expect, it } from 'vitest'
import { silentLogger } from '../kernel/log.ts'
import { openBodies, OverdueBody } from './bodies.ts'

/** A search in this many paragraphs takes more than 0.5 s. The pool ends an aborted task only after it ran that long. */
const LONG = 100_000

const query = (() => {
  const read = readQuery('medlar')
  if (isRefusal(read)) throw new Error(read.message)
  return read
})()

/** Returns a search in one body with this number of paragraphs. */
function searchIn(paragraphs: number) {
  const content = '<p>quince <b>and</b> medlar</p>'.repeat(paragraphs)
  const bytes = new TextEncoder().encode(JSON.stringify({ name: 't', richTextPages: [{ id: 'p', name: 'P', content }] }))
  const wanted = [{ matched: 1, placeClass: 'rest', exact: true, from: 0, count: 1 }] as const
  return { query, naming: 'bare', bytes, bodies: [{ length: bytes.byteLength, wanted }] } as const
}

it('[AG-63] an aborted search frees its thread, and a search aborted before it starts never runs', async () => {
  await using bodies = openBodies({ maxBytes: 1_048_576, log: silentLogger, deadlineMs: 300_000 })
  const over = new AbortController()
  const searching = bodies.search(searchIn(LONG), over.signal)
  // No other work is waiting, so the search reaches its thread by the next round of the event loop.
  await new Promise(setImmediate)
  over.abort()
  await expect(searching).rejects.toBeInstanceOf(OverdueBody)
  await expect(bodies.search(searchIn(LONG), over.signal)).rejects.toBeInstanceOf(OverdueBody)
  expect(await bodies.search(searchIn(1_000))).toMatchObject([[[{ snippet: 'quince and medlar' }]]])
})
