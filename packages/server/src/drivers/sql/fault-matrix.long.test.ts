import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { bodyOf, creation, endOfLog, update, written } from '../../documents/testing/document-writes.ts'
import type { AppendOutcome } from '../../sync/update-log.port.ts'
import type { CommitFault } from './commit-faults.ts'
import type { StorageHost } from './storage-host.ts'
import { FAULT_OPERATIONS, type FaultOperation } from './testing/fault-operations.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'
import { TORN_LOGS } from './testing/torn-logs.ts'

/**
 * The meaning of each fault on each engine. A commit is torn when a crash leaves only a part of it on the disk. On SQLite that part is in
 * `relay.db-wal`, and the relay ends too: see the tests of `a SQLite commit torn by a crash`. A PostgreSQL server repairs torn writes from its own
 * log before it answers again, so the relay can only see a COMMIT whose answer is lost.
 */
const FAULTS: Readonly<Record<CommitFault, { readonly stored: boolean; readonly sqlite: string; readonly postgres: string }>> = {
  full: { stored: false, sqlite: 'SQLITE_FULL before anything is written', postgres: '53100 disk_full' },
  io: { stored: false, sqlite: 'SQLITE_IOERR_WRITE', postgres: '58030 io_error' },
  cut: { stored: false, sqlite: 'no commit takes place', postgres: '08006, the connection ends before the COMMIT arrives' },
  unanswered: { stored: true, sqlite: 'the commit is flushed and reported as failed', postgres: '08006 after the COMMIT: torn' },
}

const postgres = await openPostgresUnderTest()
if (typeof postgres === 'string') process.stderr.write(`skipped on PostgreSQL: ${postgres}\n`)
afterAll(() => (typeof postgres === 'string' ? undefined : postgres[Symbol.asyncDispose]()))
const sqlite = temporaryStore()
afterAll(() => sqlite.remove())
const engines = [
  { name: 'SQLite', url: sqlite.url },
  ...(typeof postgres === 'string' ? [] : [{ name: 'PostgreSQL', url: postgres.url }]),
]

const record = ({ key }: DocumentHead, afterSeq: number) => ({
  key,
  afterSeq,
  actor: 'ada',
  atMs: 1_700_000_000_000,
  update: update(afterSeq + 1),
})

interface Setting {
  /** The document to write; its log ends at 1. */
  readonly head: DocumentHead
  /** A document that has only been created. */
  readonly other: DocumentHead
}

async function prepare(host: StorageHost, { prepare: more }: FaultOperation, workspaceId: string): Promise<Setting> {
  const set = { ownerId: 'a', ownerName: 'A', titleChangedAtMs: 1, body: bodyOf('{}') }
  const first = written(await host.documents.write(creation({ workspaceId, id: `${workspaceId}-doc` }, '', { set })))
  const other = written(await host.documents.write(creation({ workspaceId, id: `${workspaceId}-other` })))
  await host.updates.append([record(first, 0)])
  const state = await host.documents.state(first)
  if (state.kind !== 'document') throw new Error('the document was not made')
  return { head: (await more?.(host, state.head)) ?? state.head, other }
}

/** Appends records while the commit of the operation runs, so that they are queued when it fails. */
function appendBehind(host: StorageHost, { head, other }: Setting, records: number): Promise<(AppendOutcome | null)[]> {
  const calls = [record(head, 1 + records), record(head, 2 + records), record(other, 0)].map((one) => host.updates.append([one]))
  return Promise.allSettled(calls).then((all) =>
    all.map((result) => (result.status === 'fulfilled' ? (result.value[0] ?? null) : null)),
  )
}

/** Expects that either all parts of the operation are stored or none. Returns whether they are. */
async function isStored(host: StorageHost, operation: FaultOperation, head: DocumentHead): Promise<boolean> {
  const parts = await operation.parts(host, head)
  expect(parts).toEqual(parts.map(() => parts[0]))
  return parts[0] === true
}

/** Expects that the document can be read and written, and that the failed operation can be repeated. */
async function expectWhole(host: StorageHost, operation: FaultOperation, head: DocumentHead, stored: boolean): Promise<void> {
  const log = await host.updates.load(head.key)
  expect(log.kind).toBe((await host.documents.read(head)) === null ? 'gone' : 'loaded')
  if (log.kind === 'loaded') {
    const first = (log.snapshot?.throughSeq ?? 0) + 1
    // A stored record after a lost one would be useless for every client that lacks the lost record.
    const seqs = log.records.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, i) => first + i))
    expect(log.records.map((row) => row.update[0])).toEqual(seqs)
  }
  if (!stored) {
    const state = await host.documents.state(head)
    if (state.kind !== 'document') throw new Error('the document is gone, and nothing removed it')
    const present = (await operation.prepareAgain?.(host, state.head)) ?? state.head
    await operation.run(host, present)
    expect(await isStored(host, operation, present)).toBe(true)
  }
  if ((await host.documents.read(head)) === null) return
  const end = await endOfLog(host.updates, head.key)
  expect(await host.updates.append([record(head, end)])).toEqual([{ kind: 'appended', seq: end + 1 }])
}

describe.each(engines)('single failing commits on $name', ({ url }) => {
  const cells = Object.keys(FAULT_OPERATIONS).flatMap((operation) =>
    (Object.keys(FAULTS) as CommitFault[]).map((fault) => [operation, fault] as const),
  )

  it.each(cells)(
    '[LIFE-3] [LIFE-5] %s that fails with "%s" loses nothing acknowledged and leaves its document consistent',
    async (name, fault) => {
      const operation = FAULT_OPERATIONS[name] as FaultOperation
      let due: CommitFault | null = null
      const behind: ReturnType<typeof appendBehind>[] = []
      const host = await openHost(url, {
        commitDelayMs: 0,
        commitFaults() {
          const taken = due
          due = null
          if (taken !== null) behind.push(appendBehind(host, setting, operation.records))
          return taken
        },
      })
      const setting = await prepare(host, operation, `${name}-${fault}`)
      const { head, other } = setting
      due = fault
      await expect(operation.run(host, head)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
      const [confirmed = []] = await Promise.all(behind)
      await host[Symbol.asyncDispose]()
      const again = await openHost(url)
      const { stored } = FAULTS[fault]
      expect(await isStored(again, operation, head)).toBe(stored)
      const isGone = (await again.documents.read(head)) === null
      // Queued records are stored when the records of the operation are, and refused when those are missing.
      const expected = isGone ? 'gone' : stored || operation.records === 0 ? 'appended' : 'conflict'
      expect(confirmed.map((outcome) => outcome?.kind)).toEqual([expected, expected, 'appended'])
      const log = await again.updates.load(head.key)
      const seqs = log.kind === 'loaded' ? log.records.map(({ seq }) => seq) : []
      for (const outcome of confirmed.slice(0, 2)) if (outcome?.kind === 'appended') expect(seqs).toContain(outcome.seq)
      expect(await again.updates.load(other.key)).toMatchObject({ records: [{ seq: 1 }] })
      await expectWhole(again, operation, head, stored)
      await again[Symbol.asyncDispose]()
    },
  )
})

describe('a SQLite commit torn by a crash', () => {
  it.each(Object.keys(FAULT_OPERATIONS))(
    '[LIFE-3] [LIFE-5] %s torn by a crash is absent after the start, and everything before it is there',
    async (name) => {
      const operation = FAULT_OPERATIONS[name] as FaultOperation
      const store = temporaryStore()
      const crashed = temporaryStore()
      const { setting, before, after } = await crashWithin(operation, name, store, dirname(crashed.path))
      store.remove()
      for (const [left, tear] of Object.entries(TORN_LOGS)) {
        const folder = `${dirname(crashed.path)}-${left.replaceAll(' ', '-')}`
        cpSync(dirname(crashed.path), folder, { recursive: true })
        writeFileSync(join(folder, 'relay.db-wal'), tear(before, after))
        const again = await openHost(`sqlite:${join(folder, 'relay.db')}`)
        expect([left, await isStored(again, operation, setting.head)]).toEqual([left, false])
        await expectWhole(again, operation, setting.head, false)
        await again[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true })
      }
      crashed.remove()
    },
  )
})

/**
 * Leaves in `folder` the files as they are on the disk while the commit of the operation is being written. `before` and `after` receive the bytes of
 * the log.
 */
async function crashWithin(
  operation: FaultOperation,
  workspaceId: string,
  store: { readonly url: string; readonly path: string },
  folder: string,
): Promise<{ readonly setting: Setting; readonly before: Buffer; readonly after: Buffer }> {
  const log = () => readFileSync(`${store.path}-wal`)
  let phase: 'before' | 'writing' | 'crashed' = 'before'
  let before = Buffer.alloc(0)
  const behind: ReturnType<typeof appendBehind>[] = []
  const host = await openHost(store.url, {
    commitDelayMs: 0,
    commitFaults() {
      if (phase === 'before') return null
      if (phase === 'crashed') return 'cut'
      phase = 'crashed'
      cpSync(dirname(store.path), folder, { recursive: true })
      for (const left of ['relay.db.lock', 'relay.db-shm']) rmSync(join(folder, left), { force: true })
      before = log()
      behind.push(appendBehind(host, setting, operation.records))
      return 'unanswered'
    },
  })
  const setting = await prepare(host, operation, workspaceId)
  phase = 'writing'
  await expect(operation.run(host, setting.head)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
  const after = log()
  // The process has ended, so queued records were never committed.
  expect(await Promise.all(behind)).toEqual([[null, null, null]])
  await host[Symbol.asyncDispose]()
  return { setting, before, after }
}
