import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentStore } from '../documents/document-store.port.ts'
import { change, creation, update, written } from '../documents/testing/document-writes.ts'
import type { RecoveryStore } from '../recovery/recovery-store.port.ts'
import type { Incarnation, Ownership, Tenure } from './ownership.port.ts'
import type { AppendRecord, UpdateLog } from './update-log.port.ts'

/** The ports of one node to a store that it shares with others. */
export interface NodeStores {
  readonly inc: Incarnation
  readonly ownership: Ownership
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: RecoveryStore
}

/** A store that nodes share. No heartbeats happen except by these methods. */
export interface OpenNodes extends AsyncDisposable {
  /** Registers a node whose last heartbeat is now. */
  join(): Promise<NodeStores>
  /** Sets the last heartbeat of a node to `ms` ago. */
  silence(inc: Incarnation, ms: number): Promise<void>
  /** Removes the row of a node, as the node itself does when it ends normally. */
  leave(inc: Incarnation): Promise<void>
  /** Returns how many documents other nodes have taken from a node. */
  robbedOf(inc: Incarnation): Promise<number>
  /** Makes the last takeover of a document `ms` older. */
  dateBackTakeover(key: number, ms: number): Promise<void>
}

const LEASE_MS = 15_000

/** Registers the tests that every driver of `Ownership` must pass, together with the stores that compare the owner. */
export function describeOwnershipContract(name: string, open: () => Promise<OpenNodes>): void {
  describe(`Ownership: ${name}`, () => {
    let store: OpenNodes
    let a: NodeStores
    let b: NodeStores
    let document: DocumentHead
    let key: number
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())
    beforeEach(async () => {
      a = await store.join()
      b = await store.join()
      document = written(await a.documents.write(creation({ workspaceId: randomUUID(), id: 'doc' }, '{"n":1}')))
      key = document.key
    })

    const acquire = async (node: NodeStores, seen?: Tenure): Promise<Tenure & { readonly takeovers: number }> => {
      const outcome = await node.ownership.acquire(key, seen)
      if (outcome.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(outcome)}`)
      return { owner: node.inc, epoch: outcome.epoch, takeovers: outcome.takeovers }
    }
    const takeFromDead = async (node: NodeStores, dead: NodeStores) => {
      await store.silence(dead.inc, LEASE_MS + 1000)
      return acquire(node)
    }
    const record = (afterSeq: number, epoch?: number): AppendRecord => ({
      ...{ key, afterSeq, actor: 'ada', atMs: 5, update: update(afterSeq + 1) },
      ...(epoch !== undefined && { epoch }),
    })
    const append = async (node: NodeStores, afterSeq: number, epoch?: number) =>
      (await node.updates.append([record(afterSeq, epoch)]))[0]?.kind
    const headNow = async (): Promise<DocumentHead> => {
      const state = await a.documents.state(document)
      if (state.kind !== 'document') throw new Error(`no document: ${state.kind}`)
      return state.head
    }
    const lengthOfLog = async () => (await a.updates.after(key, 0)).length
    const live = (lastSeq: number, epoch: number, ...updates: Uint8Array[]) => ({
      log: { kind: 'live' as const, lastSeq, epoch, append: updates.map((bytes) => ({ actor: 'ada', update: bytes })) },
    })

    describe('acquiring', () => {
      it('[LIFE-26] a document that nobody owns is acquired with the first epoch and the end of its log', async () => {
        await append(a, 0)
        expect(await a.ownership.acquire(key)).toEqual({ kind: 'acquired', owner: a.inc, epoch: 1, lastSeq: 1, takeovers: 0 })
      })

      it('[LIFE-25] the head of a document names its owner, in a single read and in a list', async () => {
        expect(document.owner).toBeNull()
        await b.documents.list(document.workspaceId)
        await acquire(a)
        const owner = { owner: a.inc, epoch: 1 }
        expect((await headNow()).owner).toEqual(owner)
        expect((await b.documents.list(document.workspaceId)).map((head) => head.owner)).toEqual([owner])
        await a.ownership.release(key, 1)
        expect((await b.documents.list(document.workspaceId)).map((head) => head.owner)).toEqual([null])
      })

      it('[LIFE-26] acquiring a document of another live node answers owned, and changes nothing', async () => {
        await acquire(a)
        expect(await b.ownership.acquire(key)).toEqual({ kind: 'owned', by: { owner: a.inc, epoch: 1 } })
        expect(await append(a, 0, 1)).toBe('appended')
        expect(await store.robbedOf(a.inc)).toBe(0)
      })

      it('[LIFE-26] the owner can acquire its own document again with the next epoch, and then the former epoch is fenced', async () => {
        await acquire(a)
        expect(await acquire(a)).toMatchObject({ epoch: 2, takeovers: 0 })
        expect(await append(a, 0, 1)).toBe('fenced')
        expect(await append(a, 0, 2)).toBe('appended')
      })

      it('[LIFE-26] a document is taken from a node whose lease is over, and is counted in the row of that node', async () => {
        await acquire(a)
        expect(await takeFromDead(b, a)).toEqual({ owner: b.inc, epoch: 2, takeovers: 1 })
        expect(await store.robbedOf(a.inc)).toBe(1)
      })

      it('[LIFE-26] a document is taken from a node that has left', async () => {
        await acquire(a)
        await store.leave(a.inc)
        expect(await acquire(b)).toEqual({ owner: b.inc, epoch: 2, takeovers: 1 })
      })

      it('[LIFE-23] acquire, release and handOver answer gone for a deleted document', async () => {
        await a.documents.remove(document, key, 1)
        expect(await a.ownership.acquire(key)).toEqual({ kind: 'gone' })
        expect(await a.ownership.release(key, 1)).toBe('gone')
        expect(await a.ownership.handOver(key, 1, b.inc)).toBe('gone')
      })
    })

    describe('robbing an owner that cannot be reached', () => {
      it('[LIFE-26] acquire with the current tenure takes a document from an owner silent for more than 3 s', async () => {
        const seen = await acquire(a)
        await store.silence(a.inc, 3500)
        expect(await b.ownership.acquire(key)).toEqual({ kind: 'owned', by: { owner: a.inc, epoch: 1 } })
        expect(await acquire(b, seen)).toEqual({ owner: b.inc, epoch: 2, takeovers: 1 })
        expect(await store.robbedOf(a.inc)).toBe(1)
      })

      it('[LIFE-26] an owner whose heartbeat is 2 s old keeps its document', async () => {
        const seen = await acquire(a)
        await store.silence(a.inc, 2000)
        expect((await b.ownership.acquire(key, seen)).kind).toBe('owned')
      })

      it('[LIFE-26] acquire with a tenure that is not current takes no document from a silent owner', async () => {
        const seen = await acquire(a)
        await acquire(a)
        await store.silence(a.inc, 3500)
        expect(await b.ownership.acquire(key, seen)).toEqual({ kind: 'owned', by: { owner: a.inc, epoch: 2 } })
        expect((await b.ownership.acquire(key, { owner: b.inc, epoch: 2 })).kind).toBe('owned')
      })

      it('[LIFE-26] a document is not taken twice within 5 s', async () => {
        await acquire(b, await silent(a))
        const seen = await silentAgain(b)
        expect((await a.ownership.acquire(key, seen)).kind).toBe('owned')
        await store.dateBackTakeover(key, 5001)
        expect((await a.ownership.acquire(key, seen)).kind).toBe('acquired')
      })

      const silent = async (node: NodeStores) => {
        const seen = await acquire(node)
        await store.silence(node.inc, 3500)
        return seen
      }
      const silentAgain = async (node: NodeStores): Promise<Tenure> => {
        await store.silence(node.inc, 3500)
        return (await headNow()).owner as Tenure
      }
    })

    it('[LIFE-26] the answer to acquire says whether the document was taken from a node that was silent or had ended', async () => {
      const how = async (node: NodeStores, seen?: Tenure) => {
        const outcome = await node.ownership.acquire(key, seen)
        return outcome.kind === 'acquired' ? (outcome.taken ?? 'from nobody') : outcome.kind
      }
      expect([await how(a), await how(a), await how(b)]).toEqual(['from nobody', 'from nobody', 'owned'])
      await store.silence(a.inc, 3500)
      expect(await how(b, { owner: a.inc, epoch: 2 })).toBe('silent')
      await store.silence(b.inc, LEASE_MS + 1000)
      expect(await how(a)).toBe('ended')
      await store.leave(a.inc)
      expect(await how(b)).toBe('ended')
      await b.ownership.release(key, 5)
      expect(await how(b)).toBe('from nobody')
    })

    it('[LIFE-26] five takeovers in a row, as of a document that crashes its owners, are all counted', async () => {
      await acquire(a)
      const counts: number[] = []
      for (const [taker, dead] of [
        [b, a],
        [a, b],
        [b, a],
        [a, b],
        [b, a],
      ] as const) {
        counts.push((await takeFromDead(taker, dead)).takeovers)
        await store.silence(dead.inc, 0)
      }
      expect(counts).toEqual([1, 2, 3, 4, 5])
    })

    describe('giving up', () => {
      it('[LIFE-26] a released document can be acquired by another node, with the next epoch', async () => {
        await acquire(a)
        expect(await a.ownership.release(key, 1)).toBe('released')
        expect(await acquire(b)).toEqual({ owner: b.inc, epoch: 2, takeovers: 0 })
      })

      it('[LIFE-26] a release by a former owner and a second release by the owner are fenced', async () => {
        await acquire(a)
        await takeFromDead(b, a)
        expect(await a.ownership.release(key, 1)).toBe('fenced')
        expect(await a.ownership.release(key, 2)).toBe('fenced')
        expect(await append(b, 0, 2)).toBe('appended')
        expect(await b.ownership.release(key, 2)).toBe('released')
        expect(await b.ownership.release(key, 2)).toBe('fenced')
      })

      it('[LIFE-28] only the new owner can write a document that was handed over', async () => {
        await acquire(a)
        expect(await a.ownership.handOver(key, 1, b.inc)).toBe(2)
        expect((await headNow()).owner).toEqual({ owner: b.inc, epoch: 2 })
        expect(await append(a, 0, 1)).toBe('fenced')
        expect(await append(b, 0, 2)).toBe('appended')
        expect(await a.ownership.handOver(key, 1, a.inc)).toBe('fenced')
      })

      it('[LIFE-26] takeovers are counted until the document is released or handed over', async () => {
        await acquire(a)
        expect([(await takeFromDead(b, a)).takeovers, (await takeFromDead(a, b)).takeovers]).toEqual([1, 2])
        expect(await acquire(a)).toMatchObject({ epoch: 4, takeovers: 2 })
        await a.ownership.release(key, 4)
        expect(await acquire(a)).toMatchObject({ epoch: 5, takeovers: 0 })
        expect((await takeFromDead(b, a)).takeovers).toBe(1)
        await b.ownership.handOver(key, 6, a.inc)
        expect((await takeFromDead(b, a)).takeovers).toBe(1)
      })

      it('[LIFE-26] takeovers of more than 10 min ago are not counted', async () => {
        await acquire(a)
        await takeFromDead(b, a)
        await store.dateBackTakeover(key, 600_001)
        expect(await acquire(b)).toMatchObject({ takeovers: 0 })
        expect((await takeFromDead(a, b)).takeovers).toBe(1)
      })
    })

    describe('a former owner', () => {
      beforeEach(async () => {
        await acquire(a)
        await append(a, 0, 1)
        await takeFromDead(b, a)
      })

      it('[LIFE-26] an append of a former owner is refused, with or without a catch-up', async () => {
        expect(await append(a, 1, 1)).toBe('fenced')
        expect(await a.updates.append([{ ...record(1, 1), catchUp: { version: 1 } }])).toEqual([{ kind: 'fenced' }])
        expect(await lengthOfLog()).toBe(1)
        expect((await headNow()).bodyAhead).toBe(true)
      })

      it('[LIFE-26] an append of a former owner is refused, and an append to another document in the same call is stored', async () => {
        const other = written(await a.documents.write(creation({ workspaceId: randomUUID(), id: 'other' })))
        await a.ownership.acquire(other.key)
        const outcomes = await a.updates.append([record(1, 1), { ...record(0, 1), key: other.key }, record(2, 1)])
        expect(outcomes).toEqual([{ kind: 'fenced' }, { kind: 'appended', seq: 1 }, { kind: 'fenced' }])
      })

      it('[LIFE-26] a save of a former owner is refused, even when the version has changed since', async () => {
        const save = (head: DocumentHead) => a.documents.write(change(head, '{"zombie":1}', live(1, 1)))
        expect(await save(document)).toEqual({ kind: 'fenced', current: await headNow() })
        const saved = written(await b.documents.write(change(document, '{"n":2}', live(1, 2))))
        expect(await save(document)).toEqual({ kind: 'fenced', current: saved })
        expect(await headNow()).toEqual(saved)
      })

      it('[LIFE-26] an edit of a former owner, which appends and saves at once, is refused', async () => {
        const edit = change(document, '{"zombie":1}', live(1, 1, update(9)))
        expect((await a.documents.write(edit)).kind).toBe('fenced')
        expect(await lengthOfLog()).toBe(1)
        expect((await b.documents.write(change(document, '{"n":2}', live(1, 2, update(9))))).kind).toBe('written')
      })

      it('[LIFE-26] a snapshot of a former owner is refused', async () => {
        const snapshot = { update: update(1), stateVector: update(2), throughSeq: 1 }
        expect(await a.updates.compact(key, snapshot, 1)).toBe('fenced')
        expect(await b.updates.compact(key, snapshot, 2)).toBe('stored')
      })

      it('[LIFE-26] a rebuilt log of a former owner is refused', async () => {
        const rebuilt = { lastSeq: 1, update: update(1), stateVector: update(2), detail: 'undecodable', nowMs: 1 }
        expect(await a.updates.rebuild(key, rebuilt, 1)).toBe('fenced')
        expect(await lengthOfLog()).toBe(1)
        expect(await b.updates.rebuild(key, rebuilt, 2)).toBe('rebuilt')
      })

      it('[LIFE-26] a recovery point of a former owner is refused', async () => {
        expect(await a.recovery.capture(key, 'last-leave', 9, 1)).toEqual({ kind: 'fenced' })
        expect(await a.recovery.list(key)).toEqual([])
        expect(await b.recovery.capture(key, 'last-leave', 9, 2)).toMatchObject({ kind: 'captured' })
      })

      it('[LIFE-26] writes that a former owner began stay refused after it acquires the document again', async () => {
        await store.silence(b.inc, LEASE_MS + 1000)
        expect(await acquire(a)).toMatchObject({ epoch: 3 })
        const outcomes = await a.updates.append([record(1, 1), record(1, 3), record(2, 3), record(3, 1)])
        expect(outcomes.map(({ kind }) => kind)).toEqual(['fenced', 'appended', 'appended', 'fenced'])
      })
    })

    describe('cold writes', () => {
      it('[LIFE-25] a cold write to a document of another live node is answered owned, with the tenure', async () => {
        await acquire(a)
        expect(await b.documents.write(change(document, '{"n":2}'))).toEqual({
          ...{ kind: 'owned', by: { owner: a.inc, epoch: 1 }, current: await headNow() },
        })
        expect((await headNow()).version).toBe(1)
      })

      it('[LIFE-25] a cold write by the owner is stored, and after the release also one by another node', async () => {
        await acquire(a)
        const second = written(await a.documents.write(change(document, '{"n":2}')))
        await a.ownership.release(key, 1)
        expect(written(await b.documents.write(change({ ...second, owner: null }, '{"n":3}'))).version).toBe(3)
      })

      it('[LIFE-26] a cold write to a document of a dead node is answered unsettled until the document is acquired', async () => {
        await acquire(a)
        await store.silence(a.inc, LEASE_MS + 1000)
        expect((await b.documents.write(change(document, '{"n":2}'))).kind).toBe('unsettled')
        await acquire(b)
        expect((await b.documents.write(change(document, '{"n":2}'))).kind).toBe('written')
      })

      it('[LIFE-13] a change of the shares of a document that another node owns is stored', async () => {
        await acquire(a)
        const share = change(document, '', { set: { sharedWith: ['ben'] }, log: { kind: 'none' } })
        expect((await b.documents.write(share)).kind).toBe('written')
      })
    })

    it('[LIFE-26] an append or a save without an epoch is stored whoever owns the document', async () => {
      await acquire(a)
      expect(await append(b, 0)).toBe('appended')
      expect(await append(b, 0)).toBe('conflict')
      const save = change(document, '{"n":2}', { log: { kind: 'live', lastSeq: 1, append: [] } })
      expect((await b.documents.write(save)).kind).toBe('written')
    })
  })
}
