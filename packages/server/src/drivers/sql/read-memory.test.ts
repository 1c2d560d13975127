import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentRecord, DocumentStore } from '../../documents/document-store.port.ts'
import { change, creation, endOfLog, textOf, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { STORAGE_THREAD } from '../../test/relay-program.ts'
import { ChangeStamps } from './change-stamps.ts'
import type { CommitFault } from './commit-faults.ts'
import { rememberingRead } from './read-memory.ts'
import { storageFromPort } from './storage-client.ts'
import type { StorageHost } from './storage-host.ts'
import { openStorage } from './storage.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

let store: ReturnType<typeof temporaryStore>
let host: StorageHost
let stamps: ChangeStamps
let fault: CommitFault | null
let nowMs: number
/** Number of readings from the store. */
let reads: number
/** What happens after a record was read from the store and before the caller gets it. */
let meanwhile: () => Promise<void>
let read: DocumentStore['read']

beforeEach(async () => {
  store = temporaryStore()
  stamps = new ChangeStamps()
  fault = null
  nowMs = 0
  reads = 0
  host = await openHost(store.url, {
    commitDelayMs: 0,
    stamps,
    commitFaults() {
      const now = fault
      fault = null
      return now
    },
  })
  meanwhile = async () => undefined
  const counted: DocumentStore['read'] = async (ref) => {
    reads++
    const record = await host.documents.read(ref)
    await meanwhile()
    return record
  }
  read = rememberingRead(counted, stamps, { nowMs: () => 0, monotonicMs: () => nowMs })
})
afterEach(async () => {
  await host[Symbol.asyncDispose]()
  store.remove()
})

const create = async (id: string, text = '{}') => written(await host.documents.write(creation({ workspaceId: 'w', id }, text)))
const append = async (key: number) => {
  const afterSeq = await endOfLog(host.updates, key)
  return host.updates.append([{ key, afterSeq, actor: 'ada', atMs: 5, update: update(1) }])
}
/** Reads so often that the document is remembered. */
async function readTwice(head: DocumentHead): Promise<DocumentRecord | null> {
  await read(head)
  return read(head)
}

describe('a reading that remembers documents', () => {
  it('[LIFE-11] an unchanged document is read from the store twice, and then given from memory', async () => {
    const head = await create('a')
    const second = await readTwice(head)
    expect(await read(head)).toBe(second)
    expect(await read({ workspaceId: 'w', id: 'a' })).toBe(second)
    expect(reads).toBe(2)
    expect(second).toEqual(await host.documents.read(head))
  })

  it('[LIFE-11] a reading after an acknowledged change of a remembered document shows the change', async () => {
    const head = await create('a')
    await readTwice(head)
    const changed = written(await host.documents.write(change(head, '{"n":1}')))
    expect(textOf((await read(head))?.body)).toBe('{"n":1}')
    await readTwice(head)
    await append(head.key)
    expect((await read(head))?.head).toEqual({ ...changed, lastSeq: 1 })
    await readTwice(head)
    await host.documents.remove(head, head.key, 9)
    expect(await read(head)).toBeNull()
    const deleted = { kind: 'tombstone', lastServerVersion: changed.version } as const
    const next = written(await host.documents.write(creation(head, '{"n":2}', { expect: deleted })))
    expect((await read(head))?.head).toEqual(next)
  })

  it('[C7] a reading of a remembered document shows an append whose outcome was unknown to its caller', async () => {
    const head = await create('a')
    await readTwice(head)
    fault = 'unanswered'
    await expect(append(head.key)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    expect((await read(head))?.head.lastSeq).toBe(1)
  })

  it('[LIFE-11] a record that was read while its document changed is not given a second time', async () => {
    const head = await create('a')
    meanwhile = async () => {
      if (reads === 2) await append(head.key)
    }
    await read(head)
    expect((await read(head))?.head.lastSeq).toBe(0)
    expect((await read(head))?.head.lastSeq).toBe(1)
  })

  it('[LIFE-11] a reading shows a change by a tool beside the relay after one second', async () => {
    const head = await create('a')
    await readTwice(head)
    const beside = new DatabaseSync(store.path)
    beside.exec(`update log_heads set last_seq = 7 where key = ${head.key}`)
    beside.close()
    nowMs = 999
    expect((await read(head))?.head.lastSeq).toBe(0)
    nowMs = 1000
    expect((await read(head))?.head.lastSeq).toBe(7)
  })

  it('[LIFE-11] a document above 128 KiB is read from the store each time, and remembered documents take at most 8 MiB together', async () => {
    const large = await create('large', JSON.stringify('x'.repeat(128 << 10)))
    await readTwice(large)
    await read(large)
    expect(reads).toBe(3)
    const heads: DocumentHead[] = []
    for (let n = 0; n < 100; n++) heads.push(await create(`d${n}`, JSON.stringify('x'.repeat(100_000))))
    for (const head of heads) await readTwice(head)
    reads = 0
    await read(heads[99] as DocumentHead)
    expect(reads).toBe(0)
    await read(heads[0] as DocumentHead)
    expect(reads).toBe(1)
  })

  it('[LIFE-11] after any writes and readings a remembering reading gives what is stored', async () => {
    let names = 0
    const kinds = fc.constantFrom('create', 'change', 'append', 'remove', 'read', 'read', 'read')
    const step = fc.record({ kind: kinds, at: fc.nat(3), later: fc.nat(500) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        for (const { kind, at, later } of steps) {
          nowMs += later
          const present = await host.documents.list('w')
          const head = present[at % Math.max(1, present.length)]
          if (kind === 'create' || head === undefined) await create(`d${names++ % 4}-${names}`)
          else if (kind === 'change') await host.documents.write(change(head, `{"n":${nowMs}}`))
          else if (kind === 'append') await append(head.key)
          else if (kind === 'remove') await host.documents.remove(head, head.key, nowMs)
          else expect(await read(head)).toEqual(await host.documents.read(head))
        }
        for (const head of await host.documents.list('w')) expect(await read(head)).toEqual(await host.documents.read(head))
      }),
      { numRuns: 40 },
    )
  })
})

it('[LIFE-11] the main thread of a relay does not give a remembered document after a document worker has appended to its log', async () => {
  const { url, remove } = temporaryStore()
  {
    await using storage = await openStorage({ url, commitDelayMs: 0, log: silentLogger, thread: STORAGE_THREAD })
    const head = written(await storage.documents.write(creation({ workspaceId: 'w', id: 'a' })))
    await storage.documents.read(head)
    const remembered = await storage.documents.read(head)
    expect(await storage.documents.read(head)).toBe(remembered)
    const { updates } = storageFromPort(storage.workerPort())
    await updates.append([{ key: head.key, afterSeq: 0, actor: 'ada', atMs: 5, update: update(1) }])
    expect((await storage.documents.read(head))?.head.lastSeq).toBe(1)
  }
  remove()
})
