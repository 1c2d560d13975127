import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { SILENCE_MS } from './s3-calls.ts'
import { readPieces } from './s3-reading.ts'

it('[BLOB-19] a read fails when the store falls silent within an object, but not because its reader is slow', async () => {
  const time = manualTime()
  const body = new PassThrough()
  const pieces = readPieces({ body, sizeBytes: 10 }, time.timers)[Symbol.asyncIterator]()
  body.write('begin')
  expect((await pieces.next()).value).toEqual(Buffer.from('begin'))
  await time.advance(10 * SILENCE_MS)
  expect([body.destroyed, time.waiting()]).toEqual([false, 0])
  const awaited = pieces.next()
  await time.advance(SILENCE_MS - 1)
  expect(body.destroyed).toBe(false)
  await Promise.all([expect(awaited).rejects.toMatchObject({ code: 'BLOB_STORE_ERROR' }), time.advance(1)])
  expect([body.destroyed, time.waiting()]).toEqual([true, 0])
})
