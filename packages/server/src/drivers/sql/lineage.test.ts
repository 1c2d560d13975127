import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { change, creation, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from './database.ts'
import { applySteps, setFact } from './migrations/migrate.ts'
import type { StorageHost } from './storage-host.ts'
import { enginesUnderTest } from './testing/engines-under-test.ts'
import { openHost } from './testing/store-under-test.ts'

const LINEAGE = /^[A-Za-z0-9_-]{16}$/
const ref = (n: number) => ({ workspaceId: 'w', id: `doc-${String(n).padStart(4, '0')}` })

const engines = await enginesUnderTest()

describe.each(engines)('documents of an older release on $name', ({ open }) => {
  let store: Awaited<ReturnType<typeof open>>
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.remove())

  async function using<T>(work: (host: StorageHost) => Promise<T>): Promise<T> {
    const host = await openHost(store.url)
    try {
      return await work(host)
    } finally {
      await host[Symbol.asyncDispose]()
    }
  }

  /** Creates documents and removes their lineages, as the release before lineages left them. */
  async function leave(count: number): Promise<void> {
    await using(async ({ documents }) => {
      for (let n = 0; n < count; n++) await documents.write(creation(ref(n)))
    })
    const database = await connect(store.url, { synchronous: 'FULL' }, silentLogger)
    await database.writer.updateTable('documents').set({ lineage: null, lineage_crc32: null }).execute()
    await database.close()
  }

  async function storedLineages(): Promise<(string | null)[]> {
    const database = await connect(store.url, { synchronous: 'FULL' }, silentLogger)
    const rows = await database.writer.selectFrom('documents').select('lineage').orderBy('id').execute()
    await database.close()
    return rows.map(({ lineage }) => lineage)
  }

  it('[WS-61] [LIFE-29] opening a store of format 3 gives each document one lineage', async () => {
    const database = await connect(store.url, { synchronous: 'FULL' }, silentLogger)
    await database.writer.transaction().execute(async (writer) => {
      await applySteps(writer, database.engine.columnTypes, ['0001-initial', '0002-workspace', '0003-remembered-writes'])
      await setFact(writer, 'format', '1')
    })
    await database.close()
    await using(async ({ documents }) => {
      await documents.write(creation(ref(1)))
      expect(await documents.list('w')).toMatchObject([{ lineage: expect.stringMatching(LINEAGE) }])
    })
  })

  it('[WS-61] [LIFE-30] documents get lineages in bounded batches, and keep those from before an interruption', async () => {
    await leave(7)
    await using(async ({ documents }) => {
      const first = await documents.giveLineages(0, 3)
      expect([first.more, await documents.giveLineages(first.lastKey, 3).then(({ more }) => more)]).toEqual([true, true])
    })
    const broken = await storedLineages()
    expect(broken.filter((lineage) => lineage !== null)).toHaveLength(6)
    await using(async ({ documents }) => {
      let at = { lastKey: 0, more: true }
      while (at.more) at = await documents.giveLineages(at.lastKey, 3)
      // All documents have a lineage now, so the next call continues after the last key.
      expect(await documents.giveLineages(at.lastKey, 3)).toEqual({ lastKey: at.lastKey, more: false })
    })
    const all = await storedLineages()
    expect(all.slice(0, 6)).toEqual(broken.slice(0, 6))
    expect(new Set(all).size).toBe(7)
  })

  it('[WS-61] [LIFE-29] a document that is read before its batch gets its lineage then, the same in every read', async () => {
    await leave(6)
    await using(async ({ documents }) => {
      const state = await documents.state(ref(0))
      const head = state.kind === 'document' ? state.head : null
      expect(head?.lineage).toMatch(LINEAGE)
      const body = await documents.read(ref(1))
      expect(body?.head.lineage).toMatch(LINEAGE)
      if (head === null) return
      const write = await documents.write(change({ ...head, id: ref(2).id, key: head.key + 2 }, '{"a":1}'))
      const changed = written(write)
      expect(changed.lineage).toMatch(LINEAGE)
      const listed = await documents.list('w')
      const named = new Map(listed.map(({ id, lineage }) => [id, lineage]))
      expect(new Set(named.values()).size).toBe(6)
      expect([named.get(ref(0).id), named.get(ref(1).id), named.get(ref(2).id)]).toEqual([
        head.lineage,
        body?.head.lineage,
        changed.lineage,
      ])
    })
  })

  it('[WS-61] two simultaneous readers of a document get the same lineage', async () => {
    await leave(1)
    await using(async ({ documents }) => {
      const seen = await Promise.all(Array.from({ length: 8 }, () => documents.state(ref(0))))
      expect(new Set(seen.map((state) => (state.kind === 'document' ? state.head.lineage : ''))).size).toBe(1)
    })
  })

  it('[WS-61] [LIFE-5] a lineage changed in the file makes its document unavailable', async () => {
    await using(({ documents }) => documents.write(creation(ref(0))))
    const database = await connect(store.url, { synchronous: 'FULL' }, silentLogger)
    await database.writer.updateTable('documents').set({ lineage: 'AAAAAAAAAAAAAAAA' }).execute()
    await database.close()
    await using(async ({ documents }) => {
      await expect(documents.state(ref(0))).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /lineage/ })
    })
  })
})
