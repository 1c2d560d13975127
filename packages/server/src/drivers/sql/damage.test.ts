import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { change, creation, textOf, update, written } from '../../documents/testing/document-writes.ts'
import { type Logger, silentLogger } from '../../kernel/log.ts'
import type { StorageHost } from './storage-host.ts'
import { openHost, temporaryStores } from './testing/store-under-test.ts'

const newStore = temporaryStores()

const refOf = (id: string) => ({ workspaceId: 'w', id })

/** A document whose log has two snapshots (through 4 and 6) and the records 5 to 8. */
async function fill(host: StorageHost, id: string): Promise<number> {
  const head = written(await host.documents.write(creation(refOf(id), `{"of":"${id}"}`)))
  const { key } = head
  const append = (...numbers: number[]) =>
    host.updates.append(
      numbers.map((n) => ({ key, afterSeq: n - 1, actor: 'ada', atMs: 1_700_000_000_000, update: update(n, n, n) })),
    )
  const compact = (throughSeq: number) =>
    host.updates.compact(key, { update: update(100, throughSeq), stateVector: update(throughSeq), throughSeq })
  await append(1, 2, 3, 4)
  await compact(4)
  await append(5, 6)
  await compact(6)
  await append(7, 8)
  written(await host.documents.write(change(head, `{"of":"${id}","body":2}`, { log: { kind: 'live', lastSeq: 8, append: [] } })))
  return key
}

async function filledStore(ids: readonly string[]): Promise<{ url: string; path: string; keys: number[] }> {
  const store = newStore()
  const host = await openHost(store.url)
  const keys: number[] = []
  for (const id of ids) keys.push(await fill(host, id))
  await host[Symbol.asyncDispose]()
  return { ...store, keys }
}

/** Changes the file of a stopped store directly, without the relay. */
function tamper(path: string, ...statements: string[]): void {
  const db = new DatabaseSync(path)
  for (const statement of statements) db.exec(statement)
  db.close()
}

async function onHost<T>(url: string, work: (host: StorageHost) => Promise<T>, log: Logger = silentLogger): Promise<T> {
  const host = await openHost(url, { log })
  try {
    return await work(host)
  } finally {
    await host[Symbol.asyncDispose]()
  }
}

const NEWEST = { kind: 'loaded', snapshot: { update: update(100, 6), stateVector: update(6), throughSeq: 6 } }
const seqs = (...numbers: number[]) => numbers.map((seq) => expect.objectContaining({ seq, update: update(seq, seq, seq) }))

describe('damage of one document', () => {
  it.each([
    ['changed bytes of a record', "update updates set bytes = x'070706' where seq = 7", 6],
    ['a changed actor of a record', "update updates set actor = 'adb' where seq = 8", 7],
    ['a changed time of a record', 'update updates set at_ms = at_ms + 1 where seq = 8', 7],
    ['a missing record', 'delete from updates where seq = 7', 6],
    ['missing records at its end', 'delete from updates where seq > 6', 6],
    [
      'exchanged records',
      'update updates set seq = case seq when 7 then 80 else 7 end where seq > 6; update updates set seq = 8 where seq = 80',
      6,
    ],
  ])('[LIFE-5] a log with %s is loaded as damaged, with the last readable sequence', async (_, statement, safeThroughSeq) => {
    const { url, path, keys } = await filledStore(['hurt', 'whole'])
    tamper(path, `${statement.replaceAll('where', `where key = ${keys[0]} and`)}`)
    await onHost(url, async (host) => {
      const log = await host.updates.load(keys[0] ?? 0)
      expect(log).toEqual({ kind: 'damaged', safeThroughSeq, detail: expect.stringMatching(/record/) })
      expect(await host.updates.load(keys[1] ?? 0)).toMatchObject({ ...NEWEST, records: seqs(7, 8) })
      expect(textOf((await host.documents.read(refOf('hurt')))?.body)).toContain('"body":2')
    })
  })

  it('[LIFE-5] a damaged newest snapshot is replaced by the previous one and all records after it', async () => {
    const { url, path, keys } = await filledStore(['doc'])
    tamper(path, "update snapshots set bytes = x'6407' where through_seq = 6")
    const log = await onHost(url, (host) => host.updates.load(keys[0] ?? 0))
    expect(log).toMatchObject({ kind: 'loaded', snapshot: { throughSeq: 4, update: update(100, 4) }, records: seqs(5, 6, 7, 8) })
  })

  it('[LIFE-5] without a readable snapshot the log is reported as damaged from the start', async () => {
    const { url, path, keys } = await filledStore(['doc'])
    tamper(path, "update snapshots set state_vector = x'63'")
    const log = await onHost(url, (host) => host.updates.load(keys[0] ?? 0))
    expect(log).toMatchObject({ kind: 'damaged', safeThroughSeq: 0, detail: expect.stringMatching(/snapshot through 6/) })
  })

  it.each([
    ['body', "update bodies set body = x'7b7d' where key = 1"],
    ['body row', 'delete from bodies where key = 1'],
    ['sharing', "update documents set shared_with = '[1]' where key = 1"],
    ['version', 'update documents set version = version + 1 where key = 1'],
  ])('[LIFE-5] a document whose %s was changed in the file is unavailable, other documents are not', async (_, statement) => {
    const { url, path } = await filledStore(['hurt', 'whole'])
    tamper(path, statement)
    await onHost(url, async (host) => {
      await expect(host.documents.read(refOf('hurt'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect(textOf((await host.documents.read(refOf('whole')))?.body)).toContain('"of":"whole"')
      expect((await host.documents.list('w')).map((head) => head.id)).toContain('whole')
    })
  })

  it('[LIFE-5] each damage of the store that a read meets is logged', async () => {
    const { url, path, keys } = await filledStore(['doc'])
    tamper(path, 'update documents set version = 9', "update updates set bytes = x'00' where seq = 7")
    const lines: [string, unknown][] = []
    const log = { ...silentLogger, error: (event: string, _: string, fields?: object) => lines.push([event, fields]) }
    const unavailable = { code: 'UNAVAILABLE' }
    await onHost(
      url,
      async (host) => {
        await expect(host.documents.state(refOf('doc'))).rejects.toMatchObject(unavailable)
        await expect(host.updates.after(keys[0] ?? 0, 6)).rejects.toMatchObject(unavailable)
        expect(await host.documents.list('w')).toEqual([])
        await host.updates.load(keys[0] ?? 0)
      },
      log,
    )
    expect(lines.map(([event]) => event)).toEqual([...Array(3).fill('storage.document-damaged'), 'storage.log-damaged'])
    expect(lines[3]?.[1]).toEqual({ key: keys[0], detail: 'record 7 does not have its checksum', safeThroughSeq: 6 })
  })

  it('[YDOC-11] rebuilding a log keeps the unreadable bytes aside', async () => {
    const { url, path, keys } = await filledStore(['doc'])
    tamper(path, "update updates set bytes = x'00' where seq = 7")
    const key = keys[0] ?? 0
    await onHost(url, async (host) => {
      expect(
        await host.updates.rebuild(key, {
          lastSeq: 8,
          update: update(50),
          stateVector: update(51),
          detail: 'record 7 is bad',
          nowMs: 1,
        }),
      ).toBe('rebuilt')
      expect(await host.updates.load(key)).toMatchObject({ kind: 'loaded', snapshot: { throughSeq: 9 }, records: [] })
    })
    const db = new DatabaseSync(path)
    const kept = db.prepare('select kind, seq, hex(bytes) as hex, detail from set_aside order by kind, seq').all()
    db.close()
    expect(kept.map((row) => `${row.kind} ${row.seq}`)).toEqual([
      'snapshot 4',
      'snapshot 6',
      'update 5',
      'update 6',
      'update 7',
      'update 8',
    ])
    expect(kept.find((row) => row.kind === 'update' && row.seq === 7)).toMatchObject({ hex: '00', detail: 'record 7 is bad' })
  })
})

it('[LIFE-5] a flipped bit anywhere in the file is detected or has no effect on what is read', async () => {
  const ids = ['a', 'b', 'c']
  const { path, keys } = await filledStore(ids)
  const original = readFileSync(path)
  const { url: copyUrl, path: copy } = newStore()
  let refused = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(original.byteLength * 8 - 1), async (bit) => {
      const bytes = Buffer.from(original)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      writeFileSync(copy, bytes)
      const host = await openHost(copyUrl).catch((error: Error) => {
        expect(error.message).toContain(copy)
        refused++
        return null
      })
      if (host === null) return
      try {
        for (const [i, id] of ids.entries()) await expectTrueOrUnavailable(host, id, keys[i] ?? 0)
      } finally {
        await closeAnyhow(host)
      }
    }),
    { numRuns: 60 },
  )
  expect(refused).toBeLessThan(60)
})

async function expectTrueOrUnavailable(host: StorageHost, id: string, key: number): Promise<void> {
  const record = await host.documents.read(refOf(id)).catch((error: { code: string }) => error.code)
  if (typeof record === 'string') expect(record).toBe('UNAVAILABLE')
  else expect([textOf(record?.body), record?.head.version]).toEqual([`{"of":"${id}","body":2}`, 2])
  const log = await host.updates.load(key).catch(() => ({ kind: 'damaged' as const }))
  expect(log.kind).not.toBe('gone')
  if (log.kind !== 'loaded') return
  const last = log.records.at(-1)
  expect([last?.seq, last?.update, log.snapshot?.throughSeq === 6 || log.snapshot?.throughSeq === 4]).toEqual([
    8,
    update(8, 8, 8),
    true,
  ])
}

/** Closes a host. Ignores the failure of the final checkpoint on a damaged file. */
async function closeAnyhow(host: StorageHost): Promise<void> {
  try {
    await host[Symbol.asyncDispose]()
  } catch {
    // A close that fails has still released the locks.
  }
}
