import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { change, creation, update, written } from '../../documents/testing/document-writes.ts'
import { type Logger, silentLogger } from '../../kernel/log.ts'
import { storageFromPort } from './storage-client.ts'
import { packAppends, unpackAppends } from './storage-wire.ts'
import { openStorage } from './storage.ts'
import { temporaryStore } from './testing/store-under-test.ts'

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.remove())

const open = (log: Logger = silentLogger) => openStorage({ url: store.url, commitDelayMs: 4, log })
const ref = { workspaceId: 'w', id: 'doc' }

describe('the storage thread', () => {
  it('[LIFE-4] two ports of the storage thread see the same data, and errors keep their code', async () => {
    await using storage = await open()
    const [one, two] = [storageFromPort(storage.workerPort()), storageFromPort(storage.workerPort())]
    const head = written(await storage.documents.write(creation(ref)))
    const bytes = new Uint8Array([0, 1, 2, 3]).subarray(1, 3)
    const record = { key: head.key, afterSeq: 0, actor: 'ada', atMs: 1, update: bytes }
    const outcomes = await Promise.all([one, two].map(({ updates }) => updates.append([record])))
    expect(outcomes.map(([outcome]) => outcome?.kind).sort()).toEqual(['appended', 'conflict'])
    expect(await two.updates.append([{ ...record, afterSeq: 1 }])).toEqual([{ kind: 'appended', seq: 2 }])
    expect([...bytes]).toEqual([1, 2])
    expect(await one.updates.load(head.key)).toMatchObject({ records: [{ update: update(1, 2) }, { update: update(1, 2) }] })
    const snapshot = { update: bytes, stateVector: bytes, throughSeq: 9 }
    await expect(two.updates.compact(head.key, snapshot)).rejects.toMatchObject({ name: 'RelayError', code: 'INTERNAL' })
    expect([...bytes]).toEqual([1, 2])
    const stats = await storage.stats()
    expect([stats.appendSeconds.length, stats.queuedBytes, stats.failures]).toEqual([3, 0, 1])
    expect((await storage.stats()).appendSeconds).toEqual([])
    await storage.ping()
  })

  it('[LIFE-4] calls to the storage thread in one turn keep their order, whatever their kinds', async () => {
    await using storage = await open()
    const { documents, updates } = storage
    const head = written(await documents.write(creation(ref)))
    const record = (n: number) => ({ key: head.key, afterSeq: n - 1, actor: 'ada', atMs: n, update: update(n) })
    const live = change(head, '{"live":1}', { log: { kind: 'live', lastSeq: 2, append: [{ actor: 'bob', update: update(3) }] } })
    const results = await Promise.all([
      updates.append([record(1)]),
      updates.append([record(2)]),
      documents.write(live),
      updates.append([record(4)]),
    ])
    expect(results[0].concat(results[1], results[3])).toEqual([1, 2, 4].map((seq) => ({ kind: 'appended', seq })))
    expect(results[2]).toMatchObject({ kind: 'written', head: { lastSeq: 3, coveredSeq: 3 } })
  })

  it('[LIFE-28] disposing of the storage confirms earlier calls and refuses later ones', async () => {
    const storage = await open()
    const worker = storageFromPort(storage.workerPort())
    const head = written(await storage.documents.write(creation(ref)))
    const last = worker.updates.append(
      Array.from({ length: 300 }, (_, i) => ({ key: head.key, afterSeq: i, actor: 'ada', atMs: i, update: update(1) })),
    )
    const fatal: Error[] = []
    storage.onFatal((error) => fatal.push(error))
    await Promise.all([last, storage[Symbol.asyncDispose]()])
    expect(await last).toHaveLength(300)
    const late = worker.updates.append([{ key: 1, afterSeq: 0, actor: 'a', atMs: 1, update: update(1) }])
    // The thread refuses the call, or its port has closed, and then it is unknown what became of the call.
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/^(?:UNAVAILABLE|NOT_PERSISTED)$/) })
    await expect(storage.documents.state(ref)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(fatal).toEqual([])
    await storage[Symbol.asyncDispose]()
    await using again = await open()
    expect(await again.documents.state(ref)).toMatchObject({ head: { lastSeq: 300 } })
  })

  it('[LIFE-6] a closed storage port rejects writes with NOT_PERSISTED and reads with UNAVAILABLE', async () => {
    const { port1, port2 } = new MessageChannel()
    const client = storageFromPort(port1)
    const calls = Promise.allSettled([
      client.updates.append([{ key: 1, afterSeq: 0, actor: 'a', atMs: 1, update: update(1) }]),
      client.documents.state(ref),
      client.documents.read(ref),
      client.documents.formerClients(ref, 1),
      client.documents.purgeTombstones(1, 1),
    ])
    port2.close()
    expect(await calls).toMatchObject([
      { status: 'rejected', reason: { code: 'NOT_PERSISTED' } },
      { status: 'rejected', reason: { code: 'UNAVAILABLE' } },
      { status: 'rejected', reason: { code: 'UNAVAILABLE' } },
      { status: 'rejected', reason: { code: 'UNAVAILABLE' } },
      { status: 'rejected', reason: { code: 'NOT_PERSISTED' } },
    ])
  })

  it('[LIFE-6] failed commits are logged in the parent, and a probe commit succeeds once the fault is gone', async () => {
    const lines: string[] = []
    const log = { ...silentLogger, error: (event: string) => lines.push(event) }
    await (await open())[Symbol.asyncDispose]()
    const sabotage = (sql: string) => {
      const db = new DatabaseSync(store.path, { timeout: 5000 })
      db.exec(sql)
      db.close()
    }
    await using storage = await open(log)
    sabotage(`create table sabotage (key integer references documents (key) deferrable initially deferred);
      create trigger bad_document after insert on documents begin insert into sabotage values (-1); end;
      create trigger bad_probe after insert on store_facts begin insert into sabotage values (-1); end`)
    await expect(storage.documents.write(creation(ref))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    await expect.poll(() => lines).toEqual(['storage.commit-failed'])
    await expect(storage.ping()).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    sabotage('drop trigger bad_document; drop trigger bad_probe')
    await storage.ping()
    expect(written(await storage.documents.write(creation(ref))).version).toBe(1)
  })

  it.each([
    ['sqlite:/dev/null/relay.db', /relay.db|ENOTDIR|null/],
    ['mysql://host/db', /unknown scheme "mysql:"/],
    ['postgres://nobody:hidden@127.0.0.1:1/none', /^cannot use the database server at 127.0.0.1:1: (?!.*hidden)/s],
  ])('[LIFE-29] opening %s fails with the reason and without a secret', async (url, sentence) => {
    await expect(openStorage({ url, commitDelayMs: 4, log: silentLogger })).rejects.toThrow(sentence)
  })

  it('[LIFE-28] an idle storage thread does not keep a process alive', async () => {
    const url = new URL('./storage.ts', import.meta.url).href
    const script = `${store.path}.mjs`
    writeFileSync(
      script,
      `const { openStorage } = await import(${JSON.stringify(url)})
       const storage = await openStorage({ url: ${JSON.stringify(store.url)}, commitDelayMs: 4, log: {} })
       await storage.documents.usedBytes('w')`,
    )
    const child = fork(script, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    expect((await once(child, 'exit'))[0]).toBe(0)
  })
})

it('[LIFE-4] appends arrive unchanged after packing into a message', () => {
  const catchUp = { version: 2 }
  const calls = [
    { id: 7, records: [{ key: 1, afterSeq: 2 ** 40, actor: 'ada', atMs: 1_763_000_000_000, update: update(1, 2) }] },
    { id: 8, records: [] },
    {
      id: 9,
      records: [
        { key: 2, afterSeq: 0, actor: 'bob', atMs: 2, update: update(), catchUp },
        { key: 1, afterSeq: 7, actor: 'ada', atMs: 3, update: update(3) },
      ],
    },
  ]
  expect(unpackAppends(structuredClone(packAppends(calls)))).toEqual(calls)
})

it('[LIFE-5] an append message with columns of different length is refused instead of filled up', () => {
  const record = { key: 1, afterSeq: 0, actor: 'ada', atMs: 3, update: update(3) }
  const packed = packAppends([{ id: 1, records: [record, { ...record, afterSeq: 1 }] }])
  for (const column of ['keys', 'afterSeqs', 'timesMs'] as const) {
    expect(() => unpackAppends({ ...packed, [column]: new Float64Array([1]) })).toThrow(RangeError)
  }
  expect(() => unpackAppends({ ...packed, actors: [] })).toThrow(RangeError)
  expect(() => unpackAppends({ ...packed, counts: [] })).toThrow(RangeError)
})
