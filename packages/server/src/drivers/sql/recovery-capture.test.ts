import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { change, creation, textOf, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openDatabase } from './database.ts'
import { DEFAULT_RECOVERY_RING } from './recovery.ts'

const RECOVERY_RING = DEFAULT_RECOVERY_RING.points
import type { StorageHost } from './storage-host.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

const CAPTURE = { reason: 'zeroing' } as const

async function pointsOf(url: string, key: number) {
  const database = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
  const rows = await database.reader.selectFrom('recovery_points').selectAll().where('key', '=', key).orderBy('point').execute()
  await database.close()
  return rows
}

function describeCapture(name: string, open: () => Promise<{ url: string; remove(): Promise<void> | void }>): void {
  describe(`recovery points: ${name}`, () => {
    let store: Awaited<ReturnType<typeof open>>
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store.remove())
    const withHost = async <T>(work: (host: StorageHost) => Promise<T>): Promise<T> => {
      const host = await openHost(store.url)
      try {
        return await work(host)
      } finally {
        await host[Symbol.asyncDispose]()
      }
    }

    it('[LIFE-18] the state before the write is kept in the same step, and a refused write keeps nothing', async () => {
      const head = await withHost(async ({ documents }) => {
        const first = written(await documents.write(creation({ workspaceId: 'w', id: 'one' }, '{"shapes":3}')))
        const stale = {
          ...change(first, '{}'),
          expect: { kind: 'document' as const, key: first.key, version: 9 },
          capture: CAPTURE,
        }
        expect((await documents.write(stale)).kind).toBe('conflict')
        return written(await documents.write(change(first, '{"shapes":0}', { capture: CAPTURE, nowMs: 5000 })))
      })
      const points = await pointsOf(store.url, head.key)
      expect(
        points.map(({ reason, created_at_ms, version, body }) => ({ reason, created_at_ms, version, body: textOf(body) })),
      ).toEqual([{ reason: 'zeroing', created_at_ms: 5000, version: 1, body: '{"shapes":3}' }])
    })

    it('[LIFE-18] [LIFE-21] only the newest twenty stay, with rising times though the clock stands still, until the document goes', async () => {
      const head = await withHost(async ({ documents }) => {
        let now = written(await documents.write(creation({ workspaceId: 'w', id: 'many' }, '{"n":0}')))
        for (let n = 1; n <= RECOVERY_RING + 3; n++) {
          now = written(await documents.write(change(now, `{"n":${n}}`, { capture: CAPTURE, nowMs: 7000 })))
        }
        return now
      })
      const points = await pointsOf(store.url, head.key)
      expect(points.map(({ body }) => textOf(body))).toEqual(Array.from({ length: RECOVERY_RING }, (_, i) => `{"n":${i + 3}}`))
      const times = points.map((point) => point.created_at_ms)
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
      await withHost(({ documents }) => documents.remove({ workspaceId: 'w', id: 'many' }, head.key, 1))
      expect(await pointsOf(store.url, head.key)).toEqual([])
    })
  })
}

describeCapture('SQLite', async () => temporaryStore())

const postgres: PostgresUnderTest | string = await openPostgresUnderTest()
if (typeof postgres === 'string') {
  process.stderr.write(`skipped: ${postgres}\n`)
} else {
  describeCapture('PostgreSQL', async () => ({ url: postgres.url, remove: async () => postgres[Symbol.asyncDispose]() }))
}
