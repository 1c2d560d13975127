import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from '../documents/document-store.contract.ts'
import { change, creation, update, written } from '../documents/testing/document-writes.ts'
import type { AppendRecord, LogRecord } from './update-log.port.ts'

/** Registers the tests that every driver of `UpdateLog` must pass. */
export function describeUpdateLogContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`UpdateLog: ${name}`, () => {
    let store: OpenDocumentStore
    const newDocument = async () => written(await store.documents.write(creation({ workspaceId: randomUUID(), id: 'doc' })))
    const record = (key: number, afterSeq: number, ...bytes: number[]): AppendRecord => ({
      key,
      afterSeq,
      actor: 'ada',
      atMs: 5,
      update: update(...bytes),
    })
    const seqsOf = (records: readonly LogRecord[]) => records.map(({ seq }) => seq)
    const loaded = async (key: number) => {
      const log = await store.updates.load(key)
      if (log.kind !== 'loaded') throw new Error(`not loaded: ${JSON.stringify(log)}`)
      return log
    }

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[LIFE-1] [LIFE-3] appended records survive a restart with actor, time and bytes', async () => {
      const { key } = await newDocument()
      const records = [
        { key, afterSeq: 0, actor: 'ada', atMs: 10, update: update(1, 2, 3) },
        { key, afterSeq: 1, actor: 'odd \0 \ud800 \\', atMs: 1_763_000_000_123, update: update() },
        { key, afterSeq: 2, actor: '\\', atMs: 0, update: new Uint8Array(300_000).fill(7) },
      ]
      expect(await store.updates.append(records)).toEqual([1, 2, 3].map((seq) => ({ kind: 'appended', seq })))
      await store.reopen()
      const expected = records.map(({ actor, atMs, update: bytes }, i) => ({ seq: i + 1, actor, atMs, update: bytes }))
      expect(await loaded(key)).toEqual({ kind: 'loaded', snapshot: null, records: expected, removals: [] })
      expect(await store.updates.append([record(key, 3, 4)])).toEqual([{ kind: 'appended', seq: 4 }])
    })

    it('[AG-110] the removals of the last minute are loaded with the log, also when a snapshot contains their records', async () => {
      const { key } = await newDocument()
      const other = await newDocument()
      const remembering = (of: number, afterSeq: number, atMs: number, removals: string) => ({
        ...record(of, afterSeq),
        atMs,
        removals,
      })
      await store.updates.append([
        remembering(key, 0, 1_000, 'long ago'),
        remembering(key, 1, 2_000, 'odd \\u0000 ü §'),
        record(key, 2),
        remembering(key, 3, 61_500, 'newest'),
        remembering(other.key, 0, 61_500, 'other'),
      ])
      await store.reopen()
      expect((await loaded(key)).removals).toEqual(['odd \\u0000 ü §', 'newest'])
      await store.updates.compact(key, { update: update(), stateVector: update(), throughSeq: 4 })
      expect(await loaded(key)).toMatchObject({ records: [], removals: ['odd \\u0000 ü §', 'newest'] })
      expect(await store.updates.append([remembering(key, 2, 62_000, 'refused')])).toEqual([{ kind: 'conflict' }])
      expect((await loaded(key)).removals).toHaveLength(2)
      expect(await store.updates.purgeRemovals(61_500, 1)).toBe(1)
      expect(await store.updates.purgeRemovals(61_500, 5)).toBe(1)
      expect(await store.updates.purgeRemovals(61_500, 5)).toBe(0)
      expect((await loaded(key)).removals).toEqual(['newest'])
      expect((await loaded(other.key)).removals).toEqual(['other'])
    })

    it('[AG-110] a document keeps only its newest 1,000 removals, and of long removals only the newest 4 MiB', async () => {
      const [{ key }, long] = [await newDocument(), await newDocument()]
      const remembering = (of: number, afterSeq: number, removals: string) => ({ ...record(of, afterSeq), removals })
      await store.updates.append(Array.from({ length: 1_002 }, (_, i) => remembering(key, i, String(i + 1))))
      const { removals } = await loaded(key)
      expect([removals.length, removals[0], removals.at(-1)]).toEqual([1_000, '3', '1002'])
      for (let i = 0; i < 6; i++) await store.updates.append([remembering(long.key, i, String(i).repeat(1_000_000))])
      expect((await loaded(long.key)).removals.map((notes) => notes[0])).toEqual(['2', '3', '4', '5'])
      expect(await store.updates.purgeRemovals(6, 2_000)).toBe(1_004)
    })

    it('[LIFE-5] every document has its own sequence without gaps, in the order of the calls', async () => {
      const keys = await Promise.all(Array.from({ length: 4 }, async () => (await newDocument()).key))
      const ends = new Map(keys.map((key) => [key, 0]))
      const next = (key: number): number => {
        const end = ends.get(key) as number
        ends.set(key, end + 1)
        return end
      }
      const calls = Array.from({ length: 60 }, (_, i) =>
        keys.slice(0, 1 + (i % 4)).flatMap((key) => [record(key, next(key), i, 0), record(key, next(key), i, 1)]),
      )
      const outcomes = await Promise.all(calls.map((records) => store.updates.append(records)))
      for (const key of keys) {
        const mine = calls.flatMap((records, call) =>
          records.flatMap((r, i) => (r.key === key ? [{ r, outcome: outcomes[call]?.[i] }] : [])),
        )
        expect(mine.map(({ outcome }) => outcome)).toEqual(mine.map((_, i) => ({ kind: 'appended', seq: i + 1 })))
        expect((await loaded(key)).records.map((r) => r.update)).toEqual(mine.map(({ r }) => r.update))
      }
    })

    it('[LIFE-8] an append to a deleted document answers gone, and other documents of the same call are appended', async () => {
      const [gone, kept] = [await newDocument(), await newDocument()]
      await store.documents.remove(gone, gone.key, 1)
      const outcomes = await store.updates.append([
        record(gone.key, 0, 1),
        record(kept.key, 0, 2),
        record(gone.key, 1, 3),
        record(kept.key, 1, 4),
      ])
      expect(outcomes).toEqual([{ kind: 'gone' }, { kind: 'appended', seq: 1 }, { kind: 'gone' }, { kind: 'appended', seq: 2 }])
      expect(await store.updates.append([])).toEqual([])
    })

    it('[LIFE-5] [LIFE-26] a record that does not follow the end of the log answers conflict and is not stored', async () => {
      const [behind, ahead, sound] = [await newDocument(), await newDocument(), await newDocument()]
      await store.updates.append([record(behind.key, 0, 1), record(behind.key, 1, 2)])
      const outcomes = await store.updates.append([
        record(behind.key, 1, 3),
        record(ahead.key, 1, 4),
        record(sound.key, 0, 5),
        record(ahead.key, 2, 6),
      ])
      expect(outcomes).toEqual([{ kind: 'conflict' }, { kind: 'conflict' }, { kind: 'appended', seq: 1 }, { kind: 'conflict' }])
      expect(seqsOf((await loaded(behind.key)).records)).toEqual([1, 2])
      expect((await loaded(ahead.key)).records).toEqual([])
    })

    it('[LIFE-5] in one call the records of a reset room are answered conflict, and the records of the reloaded room are appended', async () => {
      const { key } = await newDocument()
      const reset = [record(key, 1, 2), record(key, 2, 3)]
      const anew = [record(key, 0, 4), record(key, 1, 5)]
      expect((await store.updates.append([...reset, ...anew])).map(({ kind }) => kind)).toEqual([
        'conflict',
        'conflict',
        'appended',
        'appended',
      ])
      expect((await loaded(key)).records.map((r) => r.update)).toEqual([update(4), update(5)])
    })

    it('[LIFE-26] when two writers append after the same sequence at the same time, exactly one of them succeeds', async () => {
      const { key } = await newDocument()
      const both = await Promise.all([1, 2].map((n) => store.updates.append([record(key, 0, n), record(key, 1, n)])))
      expect(both.map((outcomes) => outcomes.map(({ kind }) => kind)).sort()).toEqual([
        ['appended', 'appended'],
        ['conflict', 'conflict'],
      ])
      expect(seqsOf((await loaded(key)).records)).toEqual([1, 2])
    })

    it('[LIFE-11] an append makes the log newer than the body', async () => {
      const document = await newDocument()
      await store.updates.append([record(document.key, 0, 1)])
      const state = await store.documents.state(document)
      expect(state).toEqual({ kind: 'document', head: { ...document, lastSeq: 1, coveredSeq: 0, bodyAhead: true } })
    })

    it('[LIFE-15] [YDOC-8] when two rooms catch up with the same cold write, exactly one of them appends it', async () => {
      const document = await newDocument()
      const catchUp = { version: 1 }
      const both = await Promise.all([1, 2].map((n) => store.updates.append([{ ...record(document.key, 0, n), catchUp }])))
      expect(both.flat()).toEqual([{ kind: 'appended', seq: 1 }, { kind: 'conflict' }])
      expect(await store.documents.state(document)).toMatchObject({ head: { lastSeq: 1, bodyAhead: false } })
      expect((await loaded(document.key)).records).toHaveLength(1)
    })

    it('[LIFE-15] a catch-up with an older version than the stored one is answered conflict, and a current one is appended in order', async () => {
      const document = await newDocument()
      const { key } = document
      written(await store.documents.write(change(document, '{"b":1}')))
      const late = { ...record(key, 0, 1), catchUp: { version: 1 } }
      const good = { ...record(key, 0, 3), catchUp: { version: 2 } }
      expect(await store.updates.append([late, good, record(key, 1, 4)])).toEqual([
        { kind: 'conflict' },
        { kind: 'appended', seq: 1 },
        { kind: 'appended', seq: 2 },
      ])
      expect((await loaded(key)).records.map((r) => r.update)).toEqual([update(3), update(4)])
      await store.documents.remove(document, key, 1)
      expect(await store.updates.append([{ ...record(key, 2, 5), catchUp: { version: 2 } }])).toEqual([{ kind: 'gone' }])
    })

    it('[LIFE-25] the records after a sequence can be read', async () => {
      const { key } = await newDocument()
      await store.updates.append([record(key, 0, 1), record(key, 1, 2), record(key, 2, 3)])
      expect(seqsOf(await store.updates.after(key, 0))).toEqual([1, 2, 3])
      expect(await store.updates.after(key, 2)).toEqual([{ seq: 3, actor: 'ada', atMs: 5, update: update(3) }])
      expect(await store.updates.after(key, 3)).toEqual([])
      expect(await store.updates.after(-1, 0)).toEqual([])
      expect(await store.updates.load(-1)).toEqual({ kind: 'gone' })
    })

    describe('compaction', () => {
      const snapshot = (throughSeq: number) => ({
        update: update(200, throughSeq),
        stateVector: update(100, throughSeq),
        throughSeq,
      })

      it('[LIFE-7] loading returns the newest snapshot and later records; the records since the previous snapshot stay readable', async () => {
        const { key } = await newDocument()
        await store.updates.append([1, 2, 3].map((n) => record(key, n - 1, n)))
        expect(await store.updates.compact(key, snapshot(2))).toBe('stored')
        expect(await store.updates.load(key)).toEqual({
          kind: 'loaded',
          snapshot: snapshot(2),
          records: [expect.objectContaining({ seq: 3 })],
          removals: [],
        })
        expect(seqsOf(await store.updates.after(key, 0))).toEqual([1, 2, 3])
        await store.updates.append([record(key, 3, 4)])
        expect(await store.updates.compact(key, snapshot(4))).toBe('stored')
        expect(await store.updates.load(key)).toEqual({ kind: 'loaded', snapshot: snapshot(4), records: [], removals: [] })
        expect(seqsOf(await store.updates.after(key, 0))).toEqual([3, 4])
        await store.reopen()
        expect(await store.updates.append([record(key, 4, 5)])).toEqual([{ kind: 'appended', seq: 5 }])
        expect((await loaded(key)).records).toEqual([expect.objectContaining({ seq: 5 })])
      })

      it('[LIFE-7] an older or equal snapshot changes nothing, and a snapshot beyond the end of the log is refused', async () => {
        const { key } = await newDocument()
        await store.updates.append([1, 2, 3].map((n) => record(key, n - 1, n)))
        await store.updates.compact(key, snapshot(2))
        expect(await store.updates.compact(key, snapshot(2))).toBe('stale')
        expect(await store.updates.compact(key, snapshot(1))).toBe('stale')
        await expect(store.updates.compact(key, snapshot(4))).rejects.toMatchObject({ code: 'INTERNAL' })
        expect((await loaded(key)).snapshot).toEqual(snapshot(2))
      })
    })

    it('[YDOC-11] [WS-61] a rebuilt log continues after the old one with a new lineage', async () => {
      const document = await newDocument()
      const lineageNow = async () => {
        const state = await store.documents.state(document)
        return state.kind === 'document' ? state.head.lineage : null
      }
      const lineage = await lineageNow()
      const { key } = document
      await store.updates.append([record(key, 0, 1), record(key, 1, 2)])
      const rebuilt = { lastSeq: 2, update: update(50), stateVector: update(51), detail: 'undecodable', nowMs: 1 }
      expect(await store.updates.rebuild(key, { ...rebuilt, lastSeq: 1 })).toBe('conflict')
      expect(seqsOf((await loaded(key)).records)).toEqual([1, 2])
      expect(await lineageNow()).toBe(lineage)
      expect(await store.updates.rebuild(key, rebuilt)).toBe('rebuilt')
      expect(await lineageNow()).toMatch(/^[A-Za-z0-9_-]{16}$/)
      expect(await lineageNow()).not.toBe(lineage)
      const snapshot = { update: update(50), stateVector: update(51), throughSeq: 3 }
      expect(await store.updates.load(key)).toEqual({ kind: 'loaded', snapshot, records: [], removals: [] })
      expect(await store.documents.state(document)).toMatchObject({ head: { lastSeq: 3, coveredSeq: 3, bodyAhead: false } })
      expect(await store.updates.append([record(key, 3, 4)])).toEqual([{ kind: 'appended', seq: 4 }])
      expect(await store.documents.remove(document, key, 5)).toMatchObject({ kind: 'removed' })
    })
  })
}
