import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from '../documents/document-store.contract.ts'
import type { DocumentHead, DocumentWrite } from '../documents/document-store.port.ts'
import { bodyOf, change, creation, textOf, update, written } from '../documents/testing/document-writes.ts'
import type { PointHead, RecoveryStore, RestoreRequest } from './recovery-store.port.ts'

export interface OpenRecoveryStore extends OpenDocumentStore {
  /** A store that keeps 20 points per document, with an interval of 600 s. */
  readonly recovery: RecoveryStore
}

const RING = 20
const INTERVAL_MS = 600_000
const ZEROING = { capture: { reason: 'zeroing' } } as const

/** Registers the contract of every driver of `RecoveryStore`, together with the `DocumentStore` that captures points within its writes. */
export function describeRecoveryStoreContract(name: string, open: () => Promise<OpenRecoveryStore>): void {
  describe(`RecoveryStore: ${name}`, () => {
    let store: OpenRecoveryStore
    const create = async (text: string, more: Partial<DocumentWrite> = {}) =>
      written(await store.documents.write(creation({ workspaceId: randomUUID(), id: 'doc' }, text, more)))
    const write = async (head: DocumentHead, text: string, more: Partial<DocumentWrite> = {}) =>
      written(await store.documents.write(change(head, text, more)))
    const pointOf = async (key: number, { pointId }: PointHead) => {
      const point = await store.recovery.read(key, pointId)
      return point.kind === 'point' ? textOf(point.body) : point.kind
    }
    /** Returns the bodies of the points, newest first. */
    const contents = async (key: number) => Promise.all((await store.recovery.list(key)).map((head) => pointOf(key, head)))
    const restored = async (request: RestoreRequest) => {
      const outcome = await store.recovery.restore(request)
      if (outcome.kind !== 'restored') throw new Error('not restored')
      return outcome
    }
    const requestOf = (source: DocumentHead, text: string): RestoreRequest => {
      const newRef = { workspaceId: source.workspaceId, id: `doc-${randomUUID()}` }
      return { source, newRef, body: bodyOf(text, { title: 'Back' }), nowMs: source.updatedAtMs + 1 }
    }

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    describe('points made by writes', () => {
      it('[LIFE-19] the first change makes a point of the state before it, a creation makes none, and later changes wait for the interval', async () => {
        const first = await create('{"n":1}', { nowMs: 1000 })
        expect(await store.recovery.list(first.key)).toEqual([])
        const second = await write(first, '{"n":2}', { nowMs: 5000 })
        expect(await contents(first.key)).toEqual(['{"n":1}'])
        const third = await write(second, '{"n":3}', { nowMs: 5000 + INTERVAL_MS - 1 })
        expect(await contents(first.key)).toEqual(['{"n":1}'])
        const fourth = await write(third, '{"n":4}', { nowMs: 5000 + INTERVAL_MS })
        expect(await contents(first.key)).toEqual(['{"n":3}', '{"n":1}'])
        // When the clock is set back a long way, the next write takes a point at once.
        await write(fourth, '{"n":5}', { nowMs: 1 })
        expect(await contents(first.key)).toEqual(['{"n":4}', '{"n":3}', '{"n":1}'])
      })

      it('[LIFE-19] a write without a new version or without a body makes no recovery point', async () => {
        const head = await create('{"n":1}')
        const shared = await write(head, '', { set: { sharedWith: ['ben'] } })
        await write(shared, '{"n":1}', { bump: false })
        expect(await store.recovery.list(head.key)).toEqual([])
      })

      it('[LIFE-18] emptying a document makes a point of the state before in the same commit, however new the last point; a refused write makes none', async () => {
        const first = await create('{"shapes":3}')
        const second = await write(first, '{"shapes":4}', { nowMs: 2000 })
        const stale = change(first, '{}', ZEROING)
        expect((await store.documents.write(stale)).kind).toBe('conflict')
        expect(await contents(first.key)).toEqual(['{"shapes":3}'])
        await write(second, '{"shapes":0}', { ...ZEROING, nowMs: 2001 })
        const points = await store.recovery.list(first.key)
        expect(points).toEqual([
          { pointId: '2001-v2', createdAtMs: 2001, version: 2, sizeBytes: 12, reason: 'zeroing' },
          { pointId: '2000-v1', createdAtMs: 2000, version: 1, sizeBytes: 12, reason: 'interval' },
        ])
        expect(await contents(first.key)).toEqual(['{"shapes":4}', '{"shapes":3}'])
      })

      it('[LIFE-20] a write over a state equal to the newest point makes no new point', async () => {
        const one = await create('{"n":1,"modifiedAt":1}')
        const two = await write(one, '{"n":2,"modifiedAt":2}', ZEROING)
        const three = await write(two, '{"n":1,"modifiedAt":3}', ZEROING)
        expect(await contents(one.key)).toEqual(['{"n":2,"modifiedAt":2}', '{"n":1,"modifiedAt":1}'])
        const four = await write(three, '{"n":1,"modifiedAt":4}', ZEROING)
        await write(four, '{"n":1,"modifiedAt":5}', ZEROING)
        expect(await contents(one.key)).toEqual(['{"n":1,"modifiedAt":3}', '{"n":2,"modifiedAt":2}', '{"n":1,"modifiedAt":1}'])
      })

      it('[LIFE-21] the newest twenty points of a document are kept until its deletion, with rising times even when the clock stops', async () => {
        let head = await create('{"n":0}')
        for (let n = 1; n <= RING + 3; n++) head = await write(head, `{"n":${n}}`, { ...ZEROING, nowMs: 7000 })
        const points = await store.recovery.list(head.key)
        expect(await contents(head.key)).toEqual(Array.from({ length: RING }, (_, i) => `{"n":${RING + 2 - i}}`))
        expect(points.map(({ createdAtMs }) => createdAtMs)).toEqual(Array.from({ length: RING }, (_, i) => 7022 - i))
        await store.documents.remove(head, head.key, 1)
        expect(await store.recovery.list(head.key)).toEqual([])
      })
    })

    describe('capturing a point', () => {
      it('[LIFE-19] [LIFE-21] a capture stores the current body with its facts; the point survives a restart', async () => {
        const text = '{"name":"Plan","text":"a \\"quoted\\" é 😀"}'
        const head = await create(text, {
          set: { ownerId: 'ada', ownerName: 'Ada', body: bodyOf(text, { title: 'Plan', shapeCount: 3 }) },
        })
        const point = {
          pointId: '9000-v1',
          createdAtMs: 9000,
          version: 1,
          sizeBytes: Buffer.byteLength(text),
          reason: 'demand' as const,
        }
        expect(await store.recovery.capture(head.key, 'demand', 9000)).toEqual({ kind: 'captured', point })
        await store.reopen()
        expect(await store.recovery.list(head.key)).toEqual([point])
        const read = await store.recovery.read(head.key, '9000-v1')
        expect(read).toMatchObject({ kind: 'point', head: point, facts: { title: 'Plan', shapeCount: 3 } })
        expect(await pointOf(head.key, point)).toBe(text)
      })

      it('[LIFE-20] capturing an equal state makes no point; only the members that every save sets are ignored', async () => {
        const stamped = (n: number) =>
          `{"n":1,"modifiedAt":${n},"lastModifiedBy":"u${n}","lastModifiedByName":"U${n}","deep":{"modifiedAt":0}}`
        const head = await create(stamped(1))
        expect((await store.recovery.capture(head.key, 'demand', 1)).kind).toBe('captured')
        expect(await store.recovery.capture(head.key, 'demand', 2)).toEqual({ kind: 'unchanged' })
        const saved = await write(head, stamped(2))
        expect(await store.recovery.capture(head.key, 'last-leave', 3)).toEqual({ kind: 'unchanged' })
        await write(saved, stamped(2).replace('"modifiedAt":0', '"modifiedAt":1'))
        expect((await store.recovery.capture(head.key, 'demand', 4)).kind).toBe('captured')
      })

      it('[LIFE-20] R-10: sixteen simultaneous captures of one state make one point', async () => {
        const head = await create('{"n":1}')
        const outcomes = await Promise.all(
          Array.from({ length: 16 }, (_, i) => store.recovery.capture(head.key, 'demand', 100 + i)),
        )
        expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['captured', ...Array.from({ length: 15 }, () => 'unchanged')])
        expect(await store.recovery.list(head.key)).toHaveLength(1)
      })

      it('[LIFE-23] capturing an unknown or deleted document answers gone, and reading an unknown point answers absent', async () => {
        const head = await create('{}')
        await store.recovery.capture(head.key, 'demand', 5)
        const other = await create('{}')
        expect(await store.recovery.read(other.key, '5-v1')).toEqual({ kind: 'absent' })
        expect(await store.recovery.read(head.key, '5-v2')).toEqual({ kind: 'absent' })
        await store.documents.remove(head, head.key, 6)
        expect(await store.recovery.read(head.key, '5-v1')).toEqual({ kind: 'absent' })
        expect(await store.recovery.capture(head.key, 'demand', 7)).toEqual({ kind: 'gone' })
        expect(await store.recovery.capture(-1, 'demand', 7)).toEqual({ kind: 'gone' })
      })

      it('[LIFE-19] [LIFE-12] when the body of a version is stored later, the point has the state and the version before it', async () => {
        const head = await create('{"n":1}')
        const live = { kind: 'live' as const, append: [{ actor: 'ada', update: update(1) }], bodyLater: { grownBytes: 1 } }
        const told = await write(head, '', { set: {}, log: { ...live, lastSeq: 0 }, nowMs: 9000 })
        const late = { kind: 'live' as const, lastSeq: 1, append: [] }
        await write(told, '{"n":22}', { bump: false, log: late, nowMs: 9500 })
        expect((await store.recovery.list(head.key)).map(({ version }) => version)).toEqual([1])
        expect(await contents(head.key)).toEqual(['{"n":1}'])
      })
    })

    describe('restoring', () => {
      it('[LIFE-22] [REST-27] a restore makes a new document with sharing and points of the source, and tombstones the source, in one commit', async () => {
        const sharing = { collectionId: 'c', sharedWith: [{ userId: 'ben', permission: 'edit' }] }
        const first = await create('{"n":1}', { set: { ownerId: 'ada', ownerName: 'Ada', body: bodyOf('{"n":1}'), ...sharing } })
        const source = await write(first, '{"n":2}', { nowMs: 3000 })
        const request = requestOf(source, '{"n":1,"back":true}')
        const { head, tombstone } = await restored(request)
        expect(head).toMatchObject({
          ...{ ...request.newRef, version: 1, ownerId: 'ada', ownerName: 'Ada', ...sharing },
          ...{ facts: { title: 'Back' }, lastSeq: 0, coveredSeq: 0, bodyAhead: true, createdAtMs: request.nowMs },
        })
        expect(head.key).not.toBe(source.key)
        expect(tombstone).toMatchObject({ id: 'doc', lastServerVersion: 2, ownerId: 'ada', deletedAtMs: request.nowMs })
        expect(tombstone.successor).toBe(request.newRef.id)
        await store.reopen()
        expect(await store.documents.state(source)).toEqual({ kind: 'tombstone', tombstone })
        expect(await store.documents.state(request.newRef)).toEqual({ kind: 'document', head })
        expect(textOf((await store.documents.read(request.newRef))?.body)).toBe('{"n":1,"back":true}')
        expect(await contents(head.key)).toEqual(['{"n":2}', '{"n":1}'])
        expect(await store.recovery.list(source.key)).toEqual([])
      })

      it('[LIFE-22] the number of points stays limited and continues in the new document', async () => {
        let head = await create('{"n":0}')
        for (let n = 1; n <= RING; n++) head = await write(head, `{"n":${n}}`, { ...ZEROING, nowMs: 7000 })
        const { head: copy } = await restored(requestOf(head, '{"n":7}'))
        expect((await contents(copy.key))[0]).toBe(`{"n":${RING}}`)
        expect(await store.recovery.list(copy.key)).toHaveLength(RING)
        expect((await store.recovery.capture(copy.key, 'demand', 1)).kind).toBe('captured')
        const points = await store.recovery.list(copy.key)
        expect(points).toHaveLength(RING)
        expect(points[0]?.createdAtMs).toBeGreaterThan(points[1]?.createdAtMs as number)
      })

      it('[YDOC-8] [LIFE-23] the log of the source is deleted, and no late write brings it back', async () => {
        const head = await create('{"n":1}')
        await store.updates.append([{ key: head.key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
        const state = await store.documents.state(head)
        if (state.kind !== 'document') throw new Error('gone')
        const live = { kind: 'live', lastSeq: 1, append: [] } as const
        const source = await write(state.head, '{"n":2}', { log: live })
        const { head: copy } = await restored(requestOf(source, '{"n":1}'))
        expect(await store.updates.append([{ key: source.key, afterSeq: 0, actor: 'ada', atMs: 2, update: update(2) }])).toEqual([
          { kind: 'gone' },
        ])
        expect(await store.updates.load(source.key)).toEqual({ kind: 'gone' })
        expect(await store.updates.load(copy.key)).toEqual({ kind: 'loaded', snapshot: null, records: [], removals: [] })
        expect((await store.documents.write(change(source, '{"n":3}'))).kind).toBe('conflict')
      })

      it('[LIFE-22] a restore with another version, an unstored edit, a taken id or a deleted source is a conflict', async () => {
        const first = await create('{"n":1}')
        const source = await write(first, '{"n":2}')
        const unchanged = async () => {
          expect(await store.documents.state(first)).toMatchObject({ kind: 'document' })
          expect(await contents(first.key)).toEqual(['{"n":1}'])
        }
        expect(await store.recovery.restore(requestOf(first, '{}'))).toEqual({ kind: 'conflict' })
        await unchanged()
        const taken = { ...requestOf(source, '{}'), newRef: { workspaceId: source.workspaceId, id: 'doc' } }
        expect(await store.recovery.restore(taken)).toEqual({ kind: 'conflict' })
        await unchanged()
        await store.updates.append([{ key: source.key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }])
        expect(await store.recovery.restore(requestOf(source, '{}'))).toEqual({ kind: 'conflict' })
        await unchanged()
        await store.documents.remove(first, first.key, 1)
        expect(await store.recovery.restore(requestOf(source, '{}'))).toEqual({ kind: 'conflict' })
      })

      it('[LIFE-22] R-4: of two simultaneous restores of a document one succeeds', async () => {
        const source = await write(await create('{"n":1}'), '{"n":2}')
        const outcomes = await Promise.all([1, 2].map((n) => store.recovery.restore(requestOf(source, `{"n":${n}}`))))
        expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['conflict', 'restored'])
        expect(await store.documents.list(source.workspaceId)).toHaveLength(1)
      })
    })
  })
}
