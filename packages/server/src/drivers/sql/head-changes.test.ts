import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { change, creation, endOfLog, update, written } from '../../documents/testing/document-writes.ts'
import type { CommitFault } from './commit-faults.ts'
import { HeadChanges } from './head-changes.ts'
import { rememberingList } from './head-memory.ts'
import { STAMP } from './head-stamps.ts'
import type { StorageHost } from './storage-host.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

describe('what a relay remembers of its changes', () => {
  it('[REST-21] a mark gives each key that was noted after it, once, and no key noted before', () => {
    const changes = new HeadChanges()
    changes.note(1)
    const mark = changes.mark
    expect(changes.since(mark)).toEqual([])
    for (const key of [1, 2, 1]) changes.note(key)
    expect(changes.since(mark)).toEqual([1, 2])
    changes.forget()
    expect(changes.since(mark)).toBeNull()
    expect(changes.since(changes.mark)).toEqual([])
  })

  it('[REST-21] a mark is useless after too many later changes', () => {
    const changes = new HeadChanges()
    const first = changes.mark
    for (let n = 0; n < 1001; n++) changes.note(n)
    expect(changes.since(first)).toBeNull()
    const later = changes.mark
    for (let n = 0; n < 100_000; n++) changes.note(n % 2)
    expect(changes.since(later)).toBeNull()
    const last = changes.mark
    changes.note(7)
    expect(changes.since(last)).toEqual([7])
  })
})

describe('a list that reads only what has changed', () => {
  let store: ReturnType<typeof temporaryStore>
  let host: StorageHost
  let fault: CommitFault | null
  /** Number of documents whose stamps were read. */
  let stamped: number
  let list: (workspaceId: string) => Promise<readonly DocumentHead[]>

  beforeEach(async () => {
    store = temporaryStore()
    fault = null
    host = await openHost(store.url, {
      commitDelayMs: 0,
      commitFaults() {
        const now = fault
        fault = null
        return now
      },
    })
    stamped = 0
    list = rememberingList({
      heads: (keys) => host.heads.heads(keys),
      async stamps(workspaceId, since) {
        const stamps = await host.heads.stamps(workspaceId, since)
        stamped += stamps.numbers.byteLength / 8 / STAMP.length
        return stamps
      },
    })
  })
  afterEach(async () => {
    await host[Symbol.asyncDispose]()
    store.remove()
  })

  const create = async (id: string, workspaceId = 'w', nowMs = 1000) =>
    written(await host.documents.write(creation({ workspaceId, id }, '{}', { nowMs })))
  const append = async (key: number) => {
    const afterSeq = await endOfLog(host.updates, key)
    return host.updates.append([{ key, afterSeq, actor: 'ada', atMs: 5, update: update(1) }])
  }

  it('[REST-21] [AG-63] a list of documents reads no stamp without a change, and one stamp after one change', async () => {
    const heads = [await create('a'), await create('b'), await create('c')]
    const other = await create('o', 'other')
    const first = await list('w')
    expect(stamped).toBe(3)
    await append(other.key)
    expect(await list('w')).toBe(first)
    expect(await list('w')).toBe(first)
    expect(stamped).toBe(3)
    await append(heads[1]?.key ?? 0)
    expect(await list('w')).toEqual([heads[0], { ...heads[1], lastSeq: 1 }, heads[2]])
    expect(stamped).toBe(4)
  })

  it('[REST-21] a document list shows a write of a tool beside the relay', async () => {
    const head = await create('a')
    await list('w')
    const beside = new DatabaseSync(store.path)
    beside.exec(`update log_heads set last_seq = 7 where key = ${head.key}`)
    beside.close()
    expect(await list('w')).toEqual([{ ...head, lastSeq: 7 }])
  })

  it('[REST-21] a document list shows a commit whose outcome was unknown', async () => {
    const head = await create('a')
    await list('w')
    fault = 'unanswered'
    await expect(append(head.key)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    expect(await list('w')).toEqual([{ ...head, lastSeq: 1 }])
  })

  it('[REST-21] after any writes a document list equals the list in the store', async () => {
    let names = 0
    let nowMs = 1000
    const step = fc.record({ kind: fc.constantFrom('create', 'change', 'append', 'remove'), at: fc.nat(5), later: fc.nat(2) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const { kind, at, later } of steps) {
          const present = await host.documents.list('w')
          const head = present[at % Math.max(1, present.length)]
          nowMs += later
          if (kind === 'create' || head === undefined) await create(`d${(names * 7) % 100}-${names++}`, 'w', nowMs)
          else if (kind === 'change') await host.documents.write({ ...change(head, `{"n":${nowMs}}`), nowMs })
          else if (kind === 'append') await append(head.key)
          else await host.documents.remove(head, head.key, nowMs)
        }
        expect(await list('w')).toEqual(await host.documents.list('w'))
      }),
      { numRuns: 40 },
    )
  })
})
