import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenBlobLedger } from '../blobs/blob-ledger.contract.ts'
import { aGrant, granted, newHash } from '../blobs/testing/ledger-requests.ts'
import { patience } from '../kernel/testing/patience.ts'
import type { OpenRecoveryStore } from '../recovery/recovery-store.contract.ts'
import type { CallStore, CallWrite } from './call-store.port.ts'
import type { OpenDocumentStore } from './document-store.contract.ts'
import type { DocumentHead, DocumentWrite } from './document-store.port.ts'
import { change, creation, textOf, written } from './testing/document-writes.ts'

export interface OpenCallStore extends OpenDocumentStore, OpenRecoveryStore, OpenBlobLedger {
  readonly calls: CallStore
  /** Stores calls directly, the last one with the version before that of the document. Hundreds of real writes would take seconds. */
  record(head: DocumentHead, calls: readonly CallWrite[]): Promise<void>
}

const ALL = { beforeVersion: null, limit: 1000 }
const MIB = 1_048_576

/** Registers the tests that every driver of `CallStore` passes. */
export function describeCallStoreContract(name: string, open: () => Promise<OpenCallStore>): void {
  describe(`CallStore: ${name}`, () => {
    let store: OpenCallStore
    let made = 0
    const aCall = (more: Partial<CallWrite> = {}): CallWrite => ({
      callId: `call-${++made}`,
      tool: 'set_prose',
      sub: 'ann',
      client: '\\Scribe \ud800',
      caller: 'digest-of-a-session',
      changed: 2,
      removed: 1,
      record: new TextEncoder().encode('{"prose":{}}'),
      blobReferences: [],
      undoes: [],
      answer: null,
      ...more,
    })
    const create = async (workspaceId = `ws ${randomUUID()}`) =>
      written(await store.documents.write(creation({ workspaceId, id: `doc-${randomUUID()}` }, '{}')))
    const write = (head: DocumentHead, call: CallWrite, more: Partial<DocumentWrite> = {}) =>
      store.documents.write(change(head, `{"n":${head.version}}`, { call, ...more }))
    const listed = async ({ key }: DocumentHead) => (await store.calls.list(key, ALL)).map(({ callId }) => callId)

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[AG-66] a call is stored with its write, also after a restart, and listed newest first in pages', async () => {
      const head = await create()
      const [first, second] = [aCall(), aCall({ client: null, caller: null, record: null })]
      const next = written(await write(head, first, { nowMs: 5000 }))
      written(await write(next, second, { nowMs: 6000 }))
      await store.reopen()
      const { record, blobReferences: _, undoes: __, answer, ...told } = first
      const older = { ...told, atMs: 5000, version: 2, hasRecord: true, undoneBy: null }
      const [newest, ...rest] = await store.calls.list(head.key, ALL)
      expect([newest?.callId, newest?.client, newest?.caller, newest?.hasRecord, rest]).toEqual([
        ...[second.callId, null, null, false],
        [older],
      ])
      expect(await store.calls.list(head.key, { beforeVersion: 3, limit: 5 })).toEqual([older])
      expect(await store.calls.list(head.key, { beforeVersion: null, limit: 1 })).toEqual([newest])
      const [read] = await store.calls.read(head.key, [first.callId, 'call-none'])
      expect({ ...read, record: textOf(read?.record ?? undefined) }).toEqual({
        ...older,
        record: textOf(record ?? undefined),
        answer,
      })
      expect(await store.calls.read((await create()).key, [first.callId])).toEqual([])
    })

    it('[AG-66] a refused write stores no call', async () => {
      const head = await create()
      expect((await write({ ...head, version: 9 }, aCall())).kind).toBe('conflict')
      expect((await write(head, aCall(), { quotaBytes: 1 })).kind).toBe('over-quota')
      expect(await listed(head)).toEqual([])
    })

    it('[AG-72] a call can be undone once; a second undo answers not-undoable and writes nothing', async () => {
      const head = await create()
      const [call, undo] = [aCall(), aCall({ tool: 'undo', answer: '{"kept":"\\\\ \\u0000"}' })]
      const next = written(await write(head, call))
      const undone = written(await write(next, { ...undo, undoes: [call.callId] }))
      const [again, missing] = [aCall({ undoes: [call.callId] }), aCall({ undoes: ['call-none'] })]
      expect([(await write(undone, again)).kind, (await write(undone, missing)).kind]).toEqual(['not-undoable', 'not-undoable'])
      expect(await store.calls.read(head.key, [call.callId, undo.callId])).toMatchObject([
        { callId: undo.callId, answer: undo.answer, undoneBy: null },
        { callId: call.callId, undoneBy: undo.callId, hasRecord: true },
      ])
    })

    it('[AG-68] an undo of two calls is refused when one was undone before, even if nothing of it is left', async () => {
      const [first, second, undo] = [aCall(), aCall(), aCall({ tool: 'undo' })]
      const next = written(await write(written(await write(await create(), first)), second))
      const undone = written(await write(next, { ...undo, undoes: [second.callId], targets: [second.callId] }))
      const late = aCall({ undoes: [first.callId], targets: [second.callId, first.callId] })
      expect((await write(undone, late)).kind).toBe('not-undoable')
      expect((await write(undone, { ...late, targets: [first.callId] })).kind).toBe('written')
    })

    it(
      '[AG-67] a document keeps at most its newest 500 calls, and at most 16 MiB of calls',
      async () => {
        let head = await create()
        await store.record(
          head,
          Array.from({ length: 498 }, () => aCall()),
        )
        for (let i = 0; i < 5; i++) head = written(await write(head, aCall()))
        const versions = [...Array.from({ length: 5 }, (_, i) => 6 - i), ...Array.from({ length: 495 }, (_, i) => 0 - i)]
        expect((await store.calls.list(head.key, ALL)).map(({ version }) => version)).toEqual(versions)
        const large = new Uint8Array(MIB - 1000)
        for (let i = 0; i < 18; i++) head = written(await write(head, aCall({ record: large })))
        expect(await store.calls.list(head.key, ALL)).toHaveLength(16)
      },
      patience(90_000),
    )

    it(
      '[AG-67] a workspace keeps 64 MiB of calls: the oldest go first, and the newest is never removed',
      async () => {
        const workspaceId = `ws ${randomUUID()}`
        const heads = await Promise.all(Array.from({ length: 5 }, () => create(workspaceId)))
        const record = new Uint8Array(MIB - 1000)
        const first = heads[0] as DocumentHead
        const [oldest, newest] = [aCall({ record }), aCall({ record })]
        heads[0] = written(await write(first, oldest, { nowMs: 2000 }))
        for (const [index, given] of heads.entries()) {
          let head = given
          for (let i = 0; i < 13; i++) head = written(await write(head, aCall({ record }), { nowMs: 3000 + 100 * index + i }))
          heads[index] = head
        }
        written(await write(heads[4] as DocumentHead, newest, { nowMs: 1000 }))
        const kept = await Promise.all(heads.map(listed))
        expect([kept.flat().length, kept[0]?.includes(oldest.callId), kept[4]?.[0]]).toEqual([64, false, newest.callId])
      },
      patience(90_000),
    )

    it('[AG-67] [LIFE-30] expired records, and the oldest ones above a total size, are removed in bounded batches', async () => {
      const head = await create()
      let next = head
      for (const nowMs of [-9000, -8000, -7000, 9e12]) next = written(await write(next, aCall(), { nowMs }))
      const bounds = { mostBytes: Number.MAX_SAFE_INTEGER, nowMs: 0 }
      expect(await store.calls.purge({ ...bounds, beforeMs: -7500, limit: 1 })).toBe(1)
      expect(await store.calls.purge({ ...bounds, beforeMs: -7500, limit: 9 })).toBe(1)
      const total = await store.calls.totalBytes()
      expect(await store.calls.purge({ beforeMs: -99_000, mostBytes: total - 1, limit: 9, nowMs: 0 })).toBe(1)
      expect((await store.calls.list(head.key, ALL)).map(({ atMs }) => atMs)).toEqual([9e12])
      expect(await store.calls.totalBytes()).toBeLessThan(total)
    })

    it('[AG-67] records are removed with their document and take no bytes afterwards', async () => {
      const head = await create()
      const before = await store.calls.totalBytes()
      const next = written(await write(head, aCall({ blobReferences: [newHash()] })))
      expect(await store.calls.totalBytes()).toBeGreaterThan(before)
      await store.documents.remove(next, next.key, 9000)
      expect([await listed(head), await store.calls.totalBytes()]).toEqual([[], before])
    })

    it('[AG-67] [BLOB-16] a blob that only a call references is kept without being metered, and is released after the call is gone', async () => {
      const head = await create()
      const hash = newHash()
      const { workspaceId } = head
      await granted(store.blobs, { ...aGrant(workspaceId, hash), sizeBytes: 70 })
      const held = written(await store.documents.write(change(head, JSON.stringify({ blobRef: hash }), { nowMs: 2000 })))
      const gone = written(await write(held, aCall({ blobReferences: [hash] }), { nowMs: 3000 }))
      await store.blobs.releaseUnreferenced(4000, 1000, 400_000)
      expect(await store.blobs.find(workspaceId, hash)).not.toBeNull()
      expect(await store.blobs.meteredBytes(workspaceId)).toBe(0)
      await store.calls.purge({ beforeMs: 3001, mostBytes: Number.MAX_SAFE_INTEGER, limit: 1000, nowMs: 5000 })
      expect(await listed(gone)).toEqual([])
      await store.blobs.releaseUnreferenced(6000, 1000, 400_000)
      expect(await store.blobs.find(workspaceId, hash)).toBeNull()
    })

    describe('points before removals', () => {
      const points = async ({ key }: DocumentHead) => (await store.recovery.list(key)).map(({ version }) => version)
      const removal = (sub = 'ann') => ({ capture: { reason: 'removal', sub } }) as const
      const MINUTE_MS = 60_000

      it('[AG-31] the state before a large removal is kept, unless the newest point is younger than a minute and nobody else wrote since', async () => {
        let head = await create()
        const step = async (atMs: number, more: Partial<DocumentWrite>) => {
          head = written(await write(head, aCall(), { nowMs: atMs, ...more }))
          return points(head)
        }
        expect(await step(1_000_000, removal())).toEqual([1])
        expect(await step(1_001_000, removal())).toEqual([1])
        expect(await step(1_000_000 + MINUTE_MS, removal())).toEqual([3, 1])
        // First another person writes a call; then a write without a call follows.
        head = written(await write(head, aCall({ sub: 'bob' }), { nowMs: 1_061_000 }))
        expect(await step(1_062_000, removal())).toEqual([5, 3, 1])
        head = written(await store.documents.write(change(head, '{"by":"hand"}', { nowMs: 1_063_000 })))
        expect(await step(1_064_000, removal())).toEqual([7, 5, 3, 1])
      })

      it('[AG-31] [LIFE-21] a ring has at most 5 points from before removals, and these never push out a point of another kind', async () => {
        let head = await create()
        for (let i = 0; i < 18; i++) {
          head = written(await store.documents.write(change(head, `{"i":${i}}`, { nowMs: 1e9 + i * 10 * MINUTE_MS })))
        }
        const others = await points(head)
        for (let i = 0; i < 8; i++) head = written(await write(head, aCall(), { nowMs: 2e9 + i * MINUTE_MS, ...removal() }))
        const after = await points(head)
        expect(after.length).toBeLessThanOrEqual(20)
        expect(others.filter((version) => !after.includes(version))).toEqual([])
        expect(after.filter((version) => !others.includes(version)).length).toBeLessThanOrEqual(5)
      })
    })
  })
}
