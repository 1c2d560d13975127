import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UpdateLog } from '../sync/update-log.port.ts'
import type { DocumentHead, DocumentRef, DocumentStore } from './document-store.port.ts'
import { bodyOf, change, creation, endOfLog, noFacts, textOf, update, written } from './testing/document-writes.ts'

export interface OpenDocumentStore extends AsyncDisposable {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  /** Closes everything and opens it again, as a restart does. */
  reopen(): Promise<void>
}

/** Registers the tests that every driver of `DocumentStore` passes. */
export function describeDocumentStoreContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`DocumentStore: ${name}`, () => {
    let store: OpenDocumentStore
    const documents = () => store.documents
    const newRef = (workspaceId = randomUUID()): DocumentRef => ({ workspaceId, id: `doc-${randomUUID()}` })
    const create = async (ref = newRef(), text = '{}') => written(await documents().write(creation(ref, text)))
    const stateOf = (head: DocumentHead) => documents().state({ workspaceId: head.workspaceId, id: head.id })
    const headNow = async (head: DocumentHead): Promise<DocumentHead> => {
      const state = await stateOf(head)
      if (state.kind !== 'document') throw new Error(`no document: ${state.kind}`)
      return state.head
    }
    const append = async (key: number, ...updates: Uint8Array[]) => {
      const afterSeq = await endOfLog(store.updates, key)
      return store.updates.append(
        updates.map((bytes, i) => ({ key, afterSeq: afterSeq + i, actor: 'ada', atMs: 5, update: bytes })),
      )
    }

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    describe('writing', () => {
      it('[LIFE-1] [LIFE-3] a written document is complete after a restart', async () => {
        const ref = newRef()
        const facts = {
          ...noFacts,
          title: 'Plan',
          createdAt: 7,
          shapeCount: 3,
          carried: { tags: ['a', { deep: null }] },
          clientVersion: 4,
        }
        const set = {
          ownerId: 'ada',
          ownerName: 'Ada',
          collectionId: 'col-1',
          sharedWith: [{ userId: 'bob' }, 'odd', null],
          titleChangedAtMs: 900,
          body: bodyOf('{"id":"x"}', facts),
        }
        const head = written(await documents().write(creation(ref, '', { set })))
        expect(head).toEqual({
          ...ref,
          key: head.key,
          lineage: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/),
          version: 1,
          ownerId: 'ada',
          ownerName: 'Ada',
          collectionId: 'col-1',
          sharedWith: [{ userId: 'bob' }, 'odd', null],
          createdAtMs: 1000,
          updatedAtMs: 1000,
          titleChangedAtMs: 900,
          // The body, and `[{"userId":"bob"},"odd",null]` beside it. [BODY-14]
          sizeBytes: 10 + 29,
          facts,
          lastSeq: 0,
          coveredSeq: 0,
          bodyAhead: true,
          owner: null,
        })
        await store.reopen()
        expect(await documents().state(ref)).toEqual({ kind: 'document', head })
        const record = await documents().read(ref)
        expect(record?.head).toEqual(head)
        expect(textOf(record?.body)).toBe('{"id":"x"}')
      })

      it('[LIFE-12] a write with bump raises the version by 1 and sets updatedAt; without bump both stay', async () => {
        const head = await create()
        const second = written(await documents().write(change(head, '{"a":1}', { nowMs: 2000 })))
        expect([second.version, second.updatedAtMs, second.createdAtMs]).toEqual([2, 2000, 1000])
        const third = written(await documents().write(change(second, '{"a":2}', { bump: false, nowMs: 3000 })))
        expect([third.version, third.updatedAtMs]).toEqual([2, 2000])
        expect(await headNow(head)).toEqual(third)
        expect(textOf((await documents().read(head))?.body)).toBe('{"a":2}')
      })

      it('[LIFE-12] of 16 writes that expect one version exactly one is stored, and the others get the stored state', async () => {
        const head = await create()
        const outcomes = await Promise.all(Array.from({ length: 16 }, (_, i) => documents().write(change(head, `{"n":${i}}`))))
        const winners = outcomes.filter((outcome) => outcome.kind === 'written')
        expect(winners).toHaveLength(1)
        const current = { kind: 'document', head: winners.map(written)[0] }
        expect(outcomes.filter((outcome) => outcome.kind === 'conflict')).toEqual(Array(15).fill({ kind: 'conflict', current }))
        expect((await headNow(head)).version).toBe(2)
      })

      it('[LIFE-12] of 16 creations of one id exactly one is stored', async () => {
        const ref = newRef()
        const outcomes = await Promise.all(Array.from({ length: 16 }, () => documents().write(creation(ref))))
        expect(outcomes.filter((outcome) => outcome.kind === 'written')).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome.kind === 'conflict')).toHaveLength(15)
      })

      it('[LIFE-13] members missing from a write keep their values, also nullable ones', async () => {
        const head = await create()
        const moved = written(
          await documents().write(change(head, '', { set: { collectionId: 'col-9' }, log: { kind: 'none' } })),
        )
        const shared = written(
          await documents().write(change(moved, '', { set: { sharedWith: ['bob'] }, bump: false, log: { kind: 'none' } })),
        )
        const changed = {
          collectionId: 'col-9',
          sharedWith: ['bob'],
          sizeBytes: head.sizeBytes + 7,
          version: 2,
          updatedAtMs: 2000,
        }
        expect(shared).toEqual({ ...head, ...changed })
        const out = written(await documents().write(change(shared, '', { set: { collectionId: null }, log: { kind: 'none' } })))
        expect(out.collectionId).toBeNull()
        expect(textOf((await documents().read(head))?.body)).toBe('{}')
      })

      it('[LIFE-1] any user name and any body bytes are stored and read unchanged', async () => {
        const odd = '\\ \0 \ud800 é 😀'
        const ref = newRef(`ws ${odd}${randomUUID()}`)
        const set = {
          ownerId: odd,
          ownerName: `\\${odd}`,
          collectionId: odd,
          sharedWith: [{ odd }],
          body: bodyOf('{"\\u0000":"\\ud800"}', { title: odd }),
        }
        const head = written(await documents().write(creation(ref, '', { set })))
        expect([head.ownerId, head.ownerName, head.collectionId]).toEqual([odd, `\\${odd}`, odd])
        expect(await documents().state(ref)).toEqual({ kind: 'document', head })
        expect(textOf((await documents().read(ref))?.body)).toBe('{"\\u0000":"\\ud800"}')
        expect(await documents().list(ref.workspaceId)).toEqual([head])
      })

      it('[LIFE-1] the same id in two workspaces names two documents', async () => {
        const one = newRef()
        const two = { workspaceId: randomUUID(), id: one.id }
        await create(one, '{"of":1}')
        expect(await documents().state(two)).toEqual({ kind: 'absent' })
        expect(await documents().read(two)).toBeNull()
        await create(two, '{"of":2}')
        expect(textOf((await documents().read(one))?.body)).toBe('{"of":1}')
      })
    })

    describe('body and log', () => {
      it('[LIFE-15] a cold write keeps the log and marks the body as newer than the log', async () => {
        const head = await create()
        await append(head.key, update(1, 2))
        const settled = written(
          await documents().write(change(head, '{"a":1}', { bump: false, log: { kind: 'live', lastSeq: 1, append: [] } })),
        )
        expect([settled.lastSeq, settled.coveredSeq, settled.bodyAhead]).toEqual([1, 1, false])
        const cold = written(await documents().write(change(settled, '{"a":2}')))
        expect([cold.key, cold.lastSeq, cold.coveredSeq, cold.bodyAhead]).toEqual([head.key, 1, 1, true])
        expect(await store.updates.load(head.key)).toMatchObject({ kind: 'loaded', records: [{ seq: 1, update: update(1, 2) }] })
      })

      it('[LIFE-11] a cold write while the log is ahead of the body answers unsettled and changes nothing', async () => {
        const head = await create()
        await append(head.key, update(1))
        const outcome = await documents().write(change(head, '{"lost":true}'))
        expect(outcome).toEqual({ kind: 'unsettled', current: { ...head, lastSeq: 1 } })
        expect(textOf((await documents().read(head))?.body)).toBe('{}')
        expect((await documents().write(change(head, '', { set: { sharedWith: [] }, log: { kind: 'none' } }))).kind).toBe(
          'written',
        )
      })

      it('[LIFE-13] a live write stores body, version and log records in one commit', async () => {
        const head = await create()
        const live = { kind: 'live' as const, lastSeq: 0, append: [1, 2].map((n) => ({ actor: `user-${n}`, update: update(n) })) }
        const after = written(await documents().write(change(head, '{"live":1}', { log: live, nowMs: 4000 })))
        expect([after.version, after.lastSeq, after.coveredSeq, after.bodyAhead]).toEqual([2, 2, 2, false])
        await store.reopen()
        expect(await headNow(head)).toEqual(after)
        expect(await store.updates.load(head.key)).toEqual({
          kind: 'loaded',
          snapshot: null,
          records: [
            { seq: 1, actor: 'user-1', atMs: 4000, update: update(1) },
            { seq: 2, actor: 'user-2', atMs: 4000, update: update(2) },
          ],
          removals: [],
        })
      })

      it('[LIFE-12] a live write whose body comes later stores records and version; the body is stored later without a new version', async () => {
        const head = await create()
        const live = { kind: 'live' as const, append: [{ actor: 'ada', update: update(1) }], bodyLater: { grownBytes: 7 } }
        const first = written(await documents().write(change(head, '', { set: {}, log: { ...live, lastSeq: 0 }, nowMs: 4000 })))
        expect([first.version, first.updatedAtMs, first.lastSeq, first.coveredSeq]).toEqual([2, 4000, 1, 0])
        const second = written(await documents().write(change(first, '', { set: {}, log: { ...live, lastSeq: 1 }, nowMs: 5000 })))
        await store.reopen()
        expect(await headNow(head)).toEqual({ ...second, version: 3, lastSeq: 2, coveredSeq: 0 })
        expect(textOf((await documents().read(head))?.body)).toBe('{}')
        expect((await store.updates.after(head.key, 0)).map(({ seq, atMs }) => [seq, atMs])).toEqual([
          [1, 4000],
          [2, 5000],
        ])
        expect((await documents().write(change(second, '{"lost":1}'))).kind).toBe('unsettled')
        const late = { kind: 'live' as const, lastSeq: 2, append: [] }
        const stored = written(await documents().write(change(second, '{"late":1}', { bump: false, log: late })))
        expect([stored.version, stored.updatedAtMs, stored.coveredSeq]).toEqual([3, 5000, 2])
        expect(textOf((await documents().read(head))?.body)).toBe('{"late":1}')
      })

      it('[LIFE-12] a live write based on another end of the log answers conflict and appends nothing', async () => {
        const head = await create()
        await append(head.key, update(1), update(2))
        const live = { kind: 'live' as const, lastSeq: 1, append: [{ actor: 'ada', update: update(9) }] }
        const outcome = await documents().write(change(head, '{"x":1}', { log: live }))
        expect(outcome).toEqual({ kind: 'conflict', current: { kind: 'document', head: { ...head, lastSeq: 2 } } })
        expect(await store.updates.after(head.key, 2)).toEqual([])
        expect(textOf((await documents().read(head))?.body)).toBe('{}')
      })

      it('[LIFE-26] a late save is refused when a newer save has changed version and sequence', async () => {
        const head = await create()
        const late = change(head, '{"late":1}', { log: { kind: 'live', lastSeq: 0, append: [] } })
        await append(head.key, update(1))
        const newer = written(
          await documents().write(change(head, '{"newer":1}', { log: { kind: 'live', lastSeq: 1, append: [] } })),
        )
        expect((await documents().write(late)).kind).toBe('conflict')
        expect(await headNow(head)).toEqual(newer)
      })
    })

    describe('deleting', () => {
      it('[LIFE-23] a deletion removes body and log in one commit and leaves a tombstone, and no late write brings the document back', async () => {
        const head = await create()
        await append(head.key, update(1), update(2))
        await store.updates.compact(head.key, { update: update(3), stateVector: update(4), throughSeq: 2 })
        const tombstone = { workspaceId: head.workspaceId, id: head.id, deletedAtMs: 7777, lastServerVersion: 1, ownerId: 'ada' }
        expect(await documents().remove(head, head.key, 7777)).toEqual({ kind: 'removed', tombstone })
        const deleted = { kind: 'tombstone', tombstone }
        expect(await stateOf(head)).toEqual(deleted)
        expect(await documents().read(head)).toBeNull()
        expect(await documents().list(head.workspaceId)).toEqual([])
        expect(await store.updates.load(head.key)).toEqual({ kind: 'gone' })

        expect(await append(head.key, update(5))).toEqual([{ kind: 'gone' }])
        expect(await store.updates.compact(head.key, { update: update(3), stateVector: update(4), throughSeq: 9 })).toBe('gone')
        expect(
          await store.updates.rebuild(head.key, { lastSeq: 2, update: update(3), stateVector: update(4), detail: 'x', nowMs: 1 }),
        ).toBe('gone')
        const save = change(head, '{"zombie":1}', { log: { kind: 'live', lastSeq: 2, append: [] } })
        expect(await documents().write(save)).toEqual({ kind: 'conflict', current: deleted })
        expect(await documents().write(creation(head))).toEqual({ kind: 'conflict', current: deleted })
        expect(await documents().remove(head, head.key, 8888)).toEqual({ kind: 'gone' })
        await store.reopen()
        expect(await stateOf(head)).toEqual(deleted)
      })

      it('[REST-22] a document is removed only in the named state: another version or another last record changes nothing', async () => {
        const head = await create()
        await append(head.key, update(1))
        const now = { version: 1, lastSeq: 1 }
        for (const only of [
          { ...now, version: 2 },
          { ...now, lastSeq: 0 },
        ])
          expect(await documents().remove(head, head.key, 50, 'ada', only)).toEqual({ kind: 'changed' })
        expect((await stateOf(head)).kind).toBe('document')
        expect((await documents().remove(head, head.key, 50, 'ada', now)).kind).toBe('removed')
      })

      it('[REST-18] [YDOC-8] a recreated document continues the version under a new row key', async () => {
        const head = await create()
        const second = written(await documents().write(change(head, '{"a":1}')))
        await append(head.key, update(1))
        await documents().remove(second, second.key, 50)
        const wrong = await documents().write(creation(head, '{}', { expect: { kind: 'tombstone', lastServerVersion: 1 } }))
        expect(wrong.kind).toBe('conflict')
        await store.reopen()
        const again = written(
          await documents().write(creation(head, '{"b":1}', { expect: { kind: 'tombstone', lastServerVersion: 2 } })),
        )
        expect([again.version, again.lastSeq, again.bodyAhead, again.sharedWith]).toEqual([3, 0, true, []])
        expect(again.key).toBeGreaterThan(head.key)
        expect(await append(head.key, update(9))).toEqual([{ kind: 'gone' }])
        expect(await documents().remove(head, head.key, 60)).toEqual({ kind: 'gone' })
        expect((await stateOf(head)).kind).toBe('document')
      })

      it('[WS-61] [REST-18] [YDOC-8] a document keeps its lineage through writes and restarts, and a recreated one gets another', async () => {
        const head = await create()
        const second = written(await documents().write(change(head, '{"a":1}')))
        await append(head.key, update(1))
        await store.reopen()
        const [listed] = await documents().list(head.workspaceId)
        const read = await documents().read(head)
        expect([second, await headNow(head), listed, read?.head].map((seen) => seen?.lineage)).toEqual(
          Array(4).fill(head.lineage),
        )
        await documents().remove(head, head.key, 50)
        const expectation = { kind: 'tombstone', lastServerVersion: 2 } as const
        const again = written(await documents().write(creation(head, '{}', { expect: expectation })))
        expect(again.lineage).toMatch(/^[A-Za-z0-9_-]{16}$/)
        expect(again.lineage).not.toBe(head.lineage)
        expect((await create()).lineage).not.toBe(again.lineage)
      })

      it('[LIFE-24] [LIFE-30] old tombstones are purged in bounded batches, and then the id is unknown and free', async () => {
        const workspaceId = randomUUID()
        const heads = await Promise.all(Array.from({ length: 5 }, () => create(newRef(workspaceId))))
        // Far in the past, so that other tests' tombstones are never among them.
        for (const [i, head] of heads.entries()) await documents().remove(head, head.key, -1000 + i)
        expect(await documents().purgeTombstones(-996, 3)).toBe(3)
        expect(await documents().purgeTombstones(-996, 3)).toBe(1)
        expect(await documents().purgeTombstones(-996, 3)).toBe(0)
        const kinds = await Promise.all(heads.map(async (head) => (await stateOf(head)).kind))
        expect(kinds).toEqual(['absent', 'absent', 'absent', 'absent', 'tombstone'])
        expect((await create(heads[0])).version).toBe(1)
      })
    })

    it('[LIFE-30] documents whose bodies lack logged edits are found in bounded batches', async () => {
      const ref = newRef(`\\ws ${randomUUID()}`)
      const first = await create(newRef())
      const lagging = await create(ref)
      const last = await create(newRef())
      await append(lagging.key, update(1))
      const nextKey = lagging.key
      expect(await documents().behind(first.key - 1, 1)).toEqual({ documents: [], nextKey: first.key })
      expect(await documents().behind(first.key, 1)).toEqual({ documents: [{ ...ref, key: lagging.key }], nextKey })
      expect(await documents().behind(lagging.key, 2)).toEqual({ documents: [], nextKey: null })
      expect((await documents().behind(0, 100_000)).documents).toContainEqual({ ...ref, key: lagging.key })
      await documents().remove(lagging, lagging.key, 50)
      expect(await documents().behind(first.key, 1)).toEqual({ documents: [], nextKey: last.key })
    })

    it('[REST-21] a list is ordered by last change, newest first, and equal times by id', async () => {
      const workspaceId = randomUUID()
      for (const [id, nowMs] of [
        ['b', 2000],
        ['a', 2000],
        ['Z', 2000],
        ['new', 3000],
        ['old', 1000],
      ] as const) {
        written(await documents().write(creation({ workspaceId, id }, '{}', { nowMs })))
      }
      expect((await documents().list(workspaceId)).map((head) => head.id)).toEqual(['new', 'Z', 'a', 'b', 'old'])
      expect(await documents().list(randomUUID())).toEqual([])
      expect(await documents().usedBytes(randomUUID())).toBe(0)
    })
  })
}
