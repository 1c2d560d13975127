import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBodies, type Bodies } from '../../documents/bodies.ts'
import { type RestRelay, startRestRelay } from '../../http/testing/rest-relay.ts'
import { silentLogger } from '../../kernel/log.ts'
import { longestPauseMs } from '../../kernel/testing/longest-pause.ts'
import { MAX_RESULT_BYTES } from '@docrelay/model/paging'
import { runTool, toolCall } from '../testing/tool-call.ts'
import type { JsonObject } from '../tool.ts'
import { readTools } from './reads.ts'

/** Longest allowed pause of the event loop on a shared machine; on a quiet one pauses stay below 100 ms. */
const MAX_PAUSE_MS = 250

const pictures = { picture: () => Promise.reject(new Error('no picture is asked for')) }

let relay: RestRelay
let bodies: Bodies
beforeAll(async () => {
  relay = await startRestRelay({ storageThread: true })
  bodies = openBodies({ maxBytes: 64 * 1_048_576, log: silentLogger })
  const shape = (i: number) => ({ id: `s${i}`, type: 'rectangle', x: i, y: i, width: 100, height: 60, label: 'word '.repeat(30) })
  const body = {
    name: 'large',
    pages: [{ id: 'canvas', name: 'C', shapes: Array.from({ length: 10_000 }, (_, i) => shape(i)) }],
    richTextPages: [
      {
        id: 'prose',
        name: 'P',
        content: Array.from({ length: 10_000 }, (_, i) => `<p id="blk-${i}">${'some words '.repeat(20)}</p>`).join(''),
      },
    ],
  }
  const answer = await relay.call('PUT', '/api/docs/large', { as: { sub: 'ann', role: 'member' }, body })
  expect(answer.status).toBe(200)
})
afterAll(async () => {
  await bodies?.[Symbol.asyncDispose]()
  await relay?.[Symbol.asyncDispose]()
})

async function run(name: string, args: JsonObject): Promise<JsonObject> {
  const tools = readTools({ documents: relay.documents, bodies, pictures, wasDeleted: async () => false })
  const result = await runTool(tools, name, toolCall({ docId: 'large', ...args }))
  if (result['code'] !== undefined) throw new Error(JSON.stringify(result))
  return result
}

it('[CONC-13] [TOOL-23] reads of a 5 MB document come in parts and do not block the event loop', async () => {
  await run('get_document', {})
  const { result: results, pauseMs } = await longestPauseMs(async () => {
    const answers = []
    for (const [name, args] of [
      ['get_document', {}],
      ['get_page', { pageId: 'canvas' }],
      ['get_prose', {}],
      ['get_prose', { pageId: 'prose', format: 'markdown' }],
      ['get_outline', { pageId: 'prose' }],
      ['get_shape', { pageId: 'canvas', id: 's9999' }],
    ] as const)
      answers.push(await run(name, args))
    return answers
  })
  expect(pauseMs).toBeLessThan(MAX_PAUSE_MS)
  for (const result of results) expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(MAX_RESULT_BYTES)
  expect(results[1]).toMatchObject({ shapeCount: 10_000, nextCursor: expect.any(String) })
})

it('[TOOL-24] the parts of a page together are the whole page', async () => {
  const ids: string[] = []
  let cursor: unknown
  let parts = 0
  do {
    const part = await run('get_page', { pageId: 'canvas', limit: 900, ...(cursor !== undefined && { cursor }) })
    ids.push(...(part['shapes'] as readonly { readonly id: string }[]).map(({ id }) => id))
    cursor = part['nextCursor']
    parts++
  } while (cursor !== undefined)
  expect(ids).toEqual(Array.from({ length: 10_000 }, (_, i) => `s${i}`))
  expect(parts).toBeGreaterThan(12)
})

it('[CONC-13] [PROSE-21] a body above 64 KiB is parsed in another thread', async () => {
  // With a deadline of 0 ms every task thread is too late, while the main thread has no deadline.
  await using hurried = openBodies({ maxBytes: 1_048_576, log: silentLogger, deadlineMs: 0 })
  const facts = { id: 'd', serverVersion: 1, source: 'relay', modifiedAt: 0, access: 'view', collectionId: null } as const
  const read = (bytes: number) => {
    const body = { richTextPages: [{ id: 'r', name: 'R', content: '' }] }
    const content = `<p>${'a'.repeat(bytes - JSON.stringify(body).length - 7)}</p>`
    const text = JSON.stringify({ richTextPages: [{ id: 'r', name: 'R', content }] })
    return hurried.read({ bytes: new TextEncoder().encode(text), read: 'get_outline', args: { pageId: 'r' }, facts })
  }
  expect(await read(65_536)).toMatchObject({ kind: 'read' })
  await expect(read(65_537)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})
