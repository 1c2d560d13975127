import { describe, expect, it } from 'vitest'
import { RelayError } from '../../kernel/errors.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { createStoreWatch, failureKind } from './s3-watch.ts'

function watched() {
  const time = manualTime()
  const lines: string[] = []
  const counted: string[] = []
  const watch = createStoreWatch({
    clock: time.clock,
    log: {
      error: (event, _, fields) => void lines.push(`error ${event} ${JSON.stringify(fields)}`),
      info: (event, _, fields) => void lines.push(`info ${event} ${JSON.stringify(fields)}`),
    },
    metrics: { add: (name, by, ...labels) => void counted.push(`${name} ${by} ${JSON.stringify(labels[0])}`) },
  })
  const error = new RelayError('BLOB_STORE_ERROR', 'It failed.', { status: 503, reason: 'SlowDown' })
  return { time, lines, counted, ok: () => watch({ kind: 'ok' }), fail: () => watch({ kind: 'failed', error }) }
}

describe('[BLOB-20] logging outages of the object store', () => {
  it('[BLOB-20] an outage of the object store is logged as an error with its reason, and its end is logged too', async () => {
    const { time, lines, ok, fail } = watched()
    ok()
    fail()
    await time.advance(5_000)
    fail()
    ok()
    ok()
    expect(lines).toEqual([
      'error blobs.store_failing {"status":503,"reason":"SlowDown","failures":1}',
      'info blobs.store_back {"failures":2,"durationMs":5000}',
    ])
  })

  it('[BLOB-20] a lasting outage of the object store is logged once a minute with the number of failures', async () => {
    const { time, lines, fail } = watched()
    for (let second = 0; second < 121; second++) {
      fail()
      await time.advance(1_000)
    }
    expect(lines.map((line) => /"failures":(\d+)/.exec(line)?.[1])).toEqual(['1', '61', '121'])
  })

  it('[BLOB-20] outages of a store that fails now and then are logged at most once a minute', async () => {
    const { time, lines, ok, fail } = watched()
    for (let second = 0; second < 100; second++) {
      fail()
      ok()
      await time.advance(1_000)
    }
    expect(lines.map((line) => line.split(' ')[1])).toEqual([
      'blobs.store_failing',
      'blobs.store_back',
      'blobs.store_failing',
      'blobs.store_back',
    ])
  })

  it('[BLOB-20] every call of the object store is counted by its outcome', () => {
    const { counted, ok, fail } = watched()
    ok()
    fail()
    expect(counted).toEqual([
      'relay_blob_store_calls_total 1 {"outcome":"ok"}',
      'relay_blob_store_calls_total 1 {"outcome":"answer"}',
    ])
  })

  it.each([
    [undefined, 'ECONNREFUSED', 'connection'],
    [404, 'NoSuchBucket', 'bucket'],
    [301, 'PermanentRedirect', 'bucket'],
    [400, 'AuthorizationHeaderMalformed', 'bucket'],
    [403, 'SignatureDoesNotMatch', 'denied'],
    [503, 'SlowDown', 'answer'],
  ] as const)('[BLOB-20] a store failure with status %s and reason %s has the kind %s', (status, reason, kind) => {
    expect(failureKind({ details: { ...(status !== undefined && { status }), reason } })).toBe(kind)
  })
})
