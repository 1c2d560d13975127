import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { bodyOf, change, creation, textOf, written } from '../../documents/testing/document-writes.ts'
import type { LogFields, Logger } from '../../kernel/log.ts'
import { silentLogger } from '../../kernel/log.ts'
import { rowChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'
import { openDatabase } from './database.ts'
import type { Database } from './engine.ts'
import type { StorageHost } from './storage-host.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

const HASH = (digit: string) => digit.repeat(64)
const ZEROING = { capture: { reason: 'zeroing' } } as const

function describeRecovery(name: string, open: () => Promise<{ url: string; remove(): Promise<void> | void }>): void {
  describe(`recovery points in the store: ${name}`, () => {
    let store: Awaited<ReturnType<typeof open>>
    let host: StorageHost
    let holdsCommits = false
    const errors: string[] = []
    const recorded = (event: string, _msg: string, _fields?: LogFields) => void errors.push(event)
    const log: Logger = { ...silentLogger, error: recorded }
    const start = async () => {
      host = await openHost(store.url, { log, recovery: { points: 3, intervalMs: 600_000 }, isCommitHeld: () => holdsCommits })
    }

    /** Runs `work` on the tables themselves while the store is closed. */
    async function behind<T>(work: (database: Database) => Promise<T>): Promise<T> {
      await host[Symbol.asyncDispose]()
      const database = await openDatabase(store.url, { synchronous: 'FULL' }, silentLogger)
      const result = await work(database)
      await database.close()
      await start()
      return result
    }
    const create = async (text: string) =>
      written(await host.documents.write(creation({ workspaceId: randomUUID(), id: 'doc' }, text)))
    const write = async (head: DocumentHead, text: string, nowMs = head.updatedAtMs + 1) =>
      written(await host.documents.write(change(head, text, { ...ZEROING, nowMs })))
    const spoilBody = (key: number) =>
      behind(({ writer }) => writer.updateTable('bodies').set({ crc32: 1 }).where('key', '=', key).execute())
    const newest = async (key: number) => (await host.recovery.list(key))[0]?.pointId ?? ''

    beforeAll(async () => {
      store = await open()
      await start()
    })
    afterAll(async () => {
      await host[Symbol.asyncDispose]()
      await store.remove()
    })

    it('[LIFE-21] a damaged body makes no recovery point: a write over it succeeds and logs the damage, a capture is refused', async () => {
      const head = await create('{"n":1}')
      await spoilBody(head.key)
      await expect(host.recovery.capture(head.key, 'demand', 5)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      errors.length = 0
      const next = await write(head, '{"n":2}')
      expect(errors).toContain('recovery.unreadable')
      expect(await host.recovery.list(head.key)).toEqual([])
      expect((await host.recovery.capture(head.key, 'demand', 6)).kind).toBe('captured')
      expect(next.version).toBe(2)
    })

    it('[LIFE-8] [LIFE-21] a newest point with unreadable facts stops neither a write nor a capture', async () => {
      const head = await create('{"n":1}')
      await host.recovery.capture(head.key, 'demand', 5)
      await behind(({ writer }) =>
        writer.updateTable('recovery_points').set({ facts: '{"be' }).where('key', '=', head.key).execute(),
      )
      expect(await host.recovery.capture(head.key, 'demand', 9)).toMatchObject({ kind: 'captured' })
      await behind(({ writer }) =>
        writer.updateTable('recovery_points').set({ facts: '{"be' }).where('key', '=', head.key).execute(),
      )
      await write(head, '{"n":2}')
      expect(await host.recovery.list(head.key)).toHaveLength(3)
    })

    it('[LIFE-21] a stored body that is not JSON makes no recovery point', async () => {
      const head = await create('{"n":1,}')
      await write(head, '{"n":2}')
      expect(await host.recovery.list(head.key)).toEqual([])
    })

    it('[LIFE-22] a document whose current body is damaged can be restored', async () => {
      const source = await write(await create('{"n":1}'), '{"n":2}')
      await spoilBody(source.key)
      const newRef = { workspaceId: source.workspaceId, id: 'copy' }
      const outcome = await host.recovery.restore({ source, newRef, body: bodyOf('{"n":1}'), nowMs: 9 })
      expect(outcome).toMatchObject({ kind: 'restored', head: { version: 1 } })
      expect(textOf((await host.documents.read(newRef))?.body)).toBe('{"n":1}')
    })

    it.each([
      ['body', { body: Buffer.from('{"n":7}') }],
      ['version', { digest: contentDigest(Buffer.from('{"n":3}')) }],
      ['facts', { facts: '{}' }],
    ])('[LIFE-21] a recovery point whose %s was changed is unreadable, other points are readable', async (_part, change) => {
      const two = await write(await create('{"n":1}'), '{"n":2}')
      await write(two, '{"n":3}')
      const [second, first] = await host.recovery.list(two.key)
      await behind(({ writer }) =>
        writer.updateTable('recovery_points').set(change).where('key', '=', two.key).where('version', '=', 1).execute(),
      )
      expect(await host.recovery.read(two.key, first?.pointId ?? '')).toEqual({ kind: 'unreadable' })
      expect(await host.recovery.read(two.key, second?.pointId ?? '')).toMatchObject({ kind: 'point' })
    })

    it('[LIFE-19] finding the newest recovery point reads no body', async (context) => {
      if (name !== 'SQLite') return context.skip('PostgreSQL keeps long values apart by itself')
      const { rows } = await behind(({ reader }) =>
        sql`explain query plan select created_at_ms, digest from recovery_points where key = 1 order by point desc limit 1`.execute(
          reader,
        ),
      )
      expect(JSON.stringify(rows)).toContain('COVERING INDEX')
    })

    it('[LIFE-22] [LIFE-23] restoring a document ends the share links of the old one', async () => {
      const source = await write(await create('{"n":1}'), '{"n":2}')
      const columns = { id: randomUUID(), token_hash: randomUUID(), key: source.key, created_by: 'ada' }
      const links = await behind(async ({ writer }) => {
        await writer
          .insertInto('share_links')
          .values({ ...columns, created_at_ms: 1, expires_at_ms: 9e12, crc32: 0 })
          .execute()
        return writer.selectFrom('share_links').select('id').where('key', '=', source.key).execute()
      })
      expect(links).toHaveLength(1)
      const newRef = { workspaceId: source.workspaceId, id: 'copy' }
      expect((await host.recovery.restore({ source, newRef, body: bodyOf('{}'), nowMs: 9 })).kind).toBe('restored')
      const left = await behind(({ reader }) =>
        reader.selectFrom('share_links').select('id').where('id', '=', columns.id).execute(),
      )
      expect(left).toEqual([])
    })

    it('[LIFE-20] recovery points from releases without digests are read, compared and moved like others', async () => {
      const head = await create('{"n":1}')
      await host.recovery.capture(head.key, 'demand', 1000)
      const checksum = rowChecksum(`${head.key} 1 1000`, Buffer.from('{"n":1}'))
      const undigest = ({ writer }: Database) =>
        writer.updateTable('recovery_points').set({ digest: null, crc32: checksum }).where('key', '=', head.key).execute()
      await behind(undigest)
      expect(await host.recovery.read(head.key, '1000-v1')).toMatchObject({ kind: 'point' })
      expect(await host.recovery.capture(head.key, 'demand', 2000)).toEqual({ kind: 'unchanged' })
      await behind(undigest)
      const newRef = { workspaceId: head.workspaceId, id: 'copy' }
      const outcome = await host.recovery.restore({ source: head, newRef, body: bodyOf('{}'), nowMs: 3000 })
      if (outcome.kind !== 'restored') throw new Error('not restored')
      expect(await host.recovery.list(outcome.head.key)).toHaveLength(1)
      expect(await host.recovery.read(outcome.head.key, '1000-v1')).toMatchObject({ kind: 'point' })
    })

    describe('recovery points of long bodies', () => {
      const long = (n: number) => JSON.stringify({ n, text: 'long "x" '.repeat(150_000) })
      const bodies = async (key: number) => {
        const heads = await host.recovery.list(key)
        const points = await Promise.all(heads.map(({ pointId }) => host.recovery.read(key, pointId)))
        return points.map((point) => (point.kind === 'point' ? textOf(point.body) : point.kind))
      }
      const shown = (texts: readonly string[]) => texts.map((text) => `${text.slice(0, 7)} ${text.length}`)

      it('[LIFE-19] [LIFE-20] long bodies are captured, compared and restored like short ones', async () => {
        const first = await create(long(1))
        const second = written(await host.documents.write(change(first, long(2), { nowMs: 50 })))
        const third = await write(second, '{"n":3}')
        expect(await host.recovery.capture(first.key, 'demand', 90)).toMatchObject({ kind: 'captured' })
        const fourth = await write(third, long(4))
        const source = await write(fourth, long(4))
        const newRef = { workspaceId: source.workspaceId, id: 'copy' }
        const outcome = await host.recovery.restore({ source, newRef, body: bodyOf('{}'), nowMs: 99 })
        if (outcome.kind !== 'restored') throw new Error('not restored')
        expect(shown(await bodies(outcome.head.key))).toEqual(shown([long(4), '{"n":3}', long(2)]))
      })

      it('[LIFE-21] damage of a long body is found and refused like that of a short one', async () => {
        const head = await create(long(1))
        await spoilBody(head.key)
        await expect(host.recovery.capture(head.key, 'demand', 5)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
        await write(head, long(2))
        expect(await host.recovery.list(head.key)).toEqual([])
      })

      it('[LIFE-20] [LIFE-21] a capture of a long body that is replaced within its version makes a readable point', async () => {
        const head = await create(long(1))
        holdsCommits = true
        // A live document writes like this when an edit of a tool has raised its version before.
        const stored = host.documents.write(change(head, long(2), { bump: false }))
        const captured = host.recovery.capture(head.key, 'demand', 5)
        // Waits until the present body has been read.
        await sleep(1_500)
        holdsCommits = false
        expect([(await stored).kind, (await captured).kind]).toEqual(['written', 'captured'])
        expect(shown(await bodies(head.key))).toEqual(shown([long(2)]))
        expect(await host.recovery.capture(head.key, 'demand', 9)).toEqual({ kind: 'unchanged' })
      })

      it('[LIFE-8] [LIFE-21] a capture of a long body that changed meanwhile never stores the body of another version', async () => {
        let head = await create(long(0))
        for (let n = 1; n <= 6; n++) {
          const captures = [1, 2].map(() => host.recovery.capture(head.key, 'demand', n))
          const [next] = await Promise.all([write(head, long(n)), ...captures])
          head = next
        }
        const kept = await bodies(head.key)
        expect(kept).toHaveLength(3)
        expect(new Set(kept).size).toBe(3)
        for (const text of kept) expect([3, 4, 5, 6].map(long)).toContain(text)
      })
    })

    describe('recovery points and blobs', () => {
      const blob = (digit: string) => `{"text":"blob://${HASH(digit)}"}`
      const refsOf = async (key: number) =>
        behind(async ({ reader }) => {
          const rows = await reader.selectFrom('point_refs').select('hash').where('key', '=', key).orderBy('hash').execute()
          return rows.map(({ hash }) => hash.charAt(0))
        })
      const grant = (workspaceId: string, digit: string) =>
        behind(({ writer }) =>
          writer
            .insertInto('blob_grants')
            .values({
              ...{ workspace_id: workspaceId, hash: HASH(digit), size_bytes: 1, mime_type: 'text/plain', created_at_ms: 1 },
              ...{ metered: 0, unreferenced_at_ms: null, provenance: null, crc32: 0 },
            })
            .execute(),
        )
      const unreferencedSince = (workspaceId: string) =>
        behind(async ({ reader }) => {
          const rows = await reader
            .selectFrom('blob_grants')
            .select(['hash', 'unreferenced_at_ms'])
            .where('workspace_id', '=', workspaceId)
            .execute()
          return Object.fromEntries(rows.map(({ hash, unreferenced_at_ms }) => [hash.charAt(0), unreferenced_at_ms]))
        })

      it('[BLOB-16] a recovery point keeps the blob references of its body until it is dropped, also after a restore', async () => {
        const first = await create(blob('a'))
        const source = await write(await write(first, blob('b')), '{}')
        expect(await refsOf(first.key)).toEqual(['a', 'b'])
        const newRef = { workspaceId: source.workspaceId, id: 'copy' }
        const outcome = await host.recovery.restore({ source, newRef, body: bodyOf('{"n":0}'), nowMs: 9 })
        if (outcome.kind !== 'restored') throw new Error('not restored')
        expect(await refsOf(source.key)).toEqual([])
        expect(await refsOf(outcome.head.key)).toEqual(['a', 'b'])
        await write(outcome.head, '{"n":1}')
        expect(await refsOf(outcome.head.key)).toEqual(['b'])
      })

      it('[BLOB-15] [BLOB-16] when the last point that references a blob is dropped, the grace period of the blob begins', async () => {
        let head = await create(blob('c'))
        const { workspaceId } = head
        for (const text of [blob('d'), '{"n":1}', '{"n":2}']) head = await write(head, text, 50)
        await grant(workspaceId, 'c')
        await grant(workspaceId, 'd')
        expect(await unreferencedSince(workspaceId)).toEqual({ c: null, d: null })
        head = await write(head, '{"n":3}', 70)
        expect(await unreferencedSince(workspaceId)).toEqual({ c: 70, d: null })
        await host.documents.remove(head, head.key, 90)
        expect(await unreferencedSince(workspaceId)).toEqual({ c: 70, d: 90 })
        expect(await newest(head.key)).toBe('')
      })
    })
  })
}

describeRecovery('SQLite', async () => temporaryStore())

const postgres = await openPostgresUnderTest()
if (typeof postgres === 'string') {
  process.stderr.write(`skipped: ${postgres}\n`)
  describe.skip(`PostgreSQL (${postgres})`, () => undefined)
} else {
  describeRecovery('PostgreSQL', async () => ({ url: postgres.url, remove: async () => postgres[Symbol.asyncDispose]() }))
}
