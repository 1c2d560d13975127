import { expect, it } from 'vitest'
import type { DocumentEvent } from '../documents/document-events.port.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import { noFacts } from '../documents/testing/document-writes.ts'
import { type Logger, silentLogger } from '../kernel/log.ts'
import type { ChangeRow } from './change-feed.port.ts'
import { createFeedConsumer } from './feed-consumer.ts'

const headOf = (id: string, version: number, more: Partial<DocumentHead> = {}): DocumentHead => ({
  workspaceId: 'w',
  id,
  key: 7,
  lineage: 'l',
  version,
  ownerId: 'ada',
  ownerName: 'Ada',
  collectionId: null,
  sharedWith: [],
  createdAtMs: 1,
  updatedAtMs: version,
  titleChangedAtMs: 1,
  sizeBytes: 2,
  facts: noFacts,
  lastSeq: version,
  coveredSeq: version,
  bodyAhead: false,
  owner: null,
  ...more,
})

let nextId = 1
const toldOf = ({ workspaceId, id, key, version, lastSeq }: DocumentHead) => {
  const named = { id: nextId++, atMs: 1, workspaceId, docId: id, key, version, seq: lastSeq }
  return { ...named, actor: 'bob', isOwn: false }
}
const row = (
  kind: 'created' | 'updated' | 'shared',
  head: DocumentHead,
  more: { readonly isSharingChanged?: boolean; readonly restoredFrom?: string; readonly isOwn?: boolean } = {},
): ChangeRow => ({ ...toldOf(head), kind, head, isSharingChanged: false, ...more })
const deletion = (before: DocumentHead, successor?: string): ChangeRow => ({
  ...toldOf(before),
  kind: 'deleted',
  before,
  tombstone: {
    workspaceId: before.workspaceId,
    id: before.id,
    deletedAtMs: 9,
    lastServerVersion: before.version,
    ownerId: before.ownerId,
    ...(successor !== undefined && { successor }),
  },
})

function bench(log: Logger = silentLogger) {
  const done: string[] = []
  const events: DocumentEvent[] = []
  const gates = new Map<string, { readonly promise: Promise<void>; readonly open: () => void }>()
  const gate = (name: string): { readonly open: () => void } => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.set(name, { promise, open: resolve })
    return { open: resolve }
  }
  const consumer = createFeedConsumer({
    rooms: {
      sharingChanged: (head) => void done.push(`sharing ${head.id} ${head.version}`),
      bodyChanged: (ref, version) => void done.push(`body ${ref.id} ${version}`),
      ownedElsewhere: ({ id }) => void done.push(`owned elsewhere ${id}`),
      repaired: ({ id, key }, seq) => void done.push(`repaired ${id} ${key} ${seq}`),
      async dropLife({ id, key }) {
        done.push(`drop ${id} ${key}`)
        await gates.get(`drop ${id}`)?.promise
      },
      handedOut: ({ id }, seq) => gates.get(`${id} ${seq}`)?.promise ?? null,
    },
    events: {
      publish(event) {
        const ref = event.kind === 'deleted' ? event.ref : event.head
        done.push(`${event.kind} ${ref.id}`)
        if (ref.id === 'broken') throw new Error('a socket is odd')
        events.push(event)
      },
    },
    edited: ({ id }) => void done.push(`edited ${id}`),
    changedElsewhere: ({ docId }) => void done.push(`elsewhere ${docId}`),
    log,
  })
  return { consumer, done, events, gate }
}

it('[WS-52] rows of the feed become events: a change of shares is an update, and a materialisation causes no event', () => {
  const { consumer, events, done } = bench()
  const shared = headOf('a', 3)
  for (const each of [row('created', headOf('a', 1)), row('updated', headOf('a', 2)), row('shared', shared)]) consumer.tell(each)
  consumer.tell({ ...toldOf(headOf('a', 4)), kind: 'edited' })
  consumer.tell({ kind: 'unknown', id: 99, atMs: 1 })
  const before = headOf('a', 4)
  consumer.tell(deletion(before))
  expect(events.map(({ kind }) => kind)).toEqual(['created', 'updated', 'updated'])
  expect(events[2]).toEqual({ kind: 'updated', head: shared, actor: 'bob' })
  expect(done.filter((what) => what.startsWith('edited'))).toEqual(['edited a'])
})

it('[LIFE-26] the owner of a document is looked up again when another node has stored the body, not when this node has', () => {
  const { consumer, done } = bench()
  consumer.tell({ ...toldOf(headOf('a', 4)), kind: 'edited', isOwn: true })
  expect(done).toEqual(['edited a'])
  consumer.tell({ ...toldOf(headOf('b', 4)), kind: 'edited', isOwn: false })
  expect(done).toEqual(['edited a', 'elsewhere b', 'owned elsewhere b', 'edited b'])
})

it('[CFG-11] a repair of the log closes a live copy of the old log, and causes no event', () => {
  const { consumer, events, done } = bench()
  consumer.tell({ ...toldOf(headOf('a', 4)), kind: 'repaired' })
  expect(done).toEqual(['elsewhere a', 'repaired a 7 4', 'edited a'])
  expect(events).toEqual([])
})

it('[WS-54] a deletion is published after the live copy is dropped, with the document as it was and its successor', async () => {
  const { consumer, done, events, gate } = bench()
  const drop = gate('drop a')
  const before = headOf('a', 4)
  consumer.tell(deletion(before, 'b'))
  consumer.tell(row('created', headOf('a', 1, { key: 8 })))
  expect(done).toEqual(['drop a 7', 'elsewhere a'])
  drop.open()
  await consumer.idle()
  expect(events.map(({ kind }) => kind)).toEqual(['deleted', 'created'])
  expect(events[0]).toMatchObject({ before, actor: 'bob', successor: 'b', ref: { workspaceId: 'w', id: 'a' } })
})

it('[WS-52] the event of a restored document follows the event of the document it replaces; others do not wait', async () => {
  const { consumer, events, gate } = bench()
  const drop = gate('drop a')
  consumer.tell(deletion(headOf('a', 4), 'b'))
  consumer.tell(row('created', headOf('b', 1, { key: 8 }), { restoredFrom: 'a' }))
  consumer.tell(row('updated', headOf('b', 2, { key: 8 })))
  consumer.tell(row('updated', headOf('c', 2, { key: 9 })))
  expect(events.map(({ kind }) => kind)).toEqual(['updated'])
  drop.open()
  await consumer.idle()
  const told = events.map((event) => `${event.kind} ${event.kind === 'deleted' ? event.ref.id : event.head.id}`)
  expect(told).toEqual(['updated c', 'deleted a', 'created b', 'updated b'])
})

it('[WS-53] an event waits until the frames of its change are handed out, and later events of the document wait behind it', async () => {
  const { consumer, events, gate } = bench()
  const frames = gate('a 2')
  consumer.tell(row('updated', headOf('a', 2)))
  consumer.tell(row('updated', headOf('a', 3)))
  expect(events).toEqual([])
  frames.open()
  await consumer.idle()
  expect(events.map((event) => event.kind === 'updated' && event.head.version)).toEqual([2, 3])
})

it('[PERM-2] rights are decided again at once, also while earlier events wait', async () => {
  const { consumer, done, gate } = bench()
  const frames = gate('a 2')
  consumer.tell(row('updated', headOf('a', 2)))
  consumer.tell(row('shared', headOf('a', 3), { isSharingChanged: true }))
  expect(done).toContain('sharing a 3')
  expect(done).not.toContain('updated a')
  frames.open()
  await consumer.idle()
})

it('[LIFE-13] a live document is notified of a body that another node stored, and not of its own writes', () => {
  const { consumer, done } = bench()
  consumer.tell(row('updated', headOf('a', 2)))
  consumer.tell(row('updated', headOf('a', 3), { isOwn: true }))
  consumer.tell(row('created', headOf('b', 1)))
  expect(done.filter((what) => what.startsWith('body'))).toEqual(['body a 2'])
  expect(done.filter((what) => what.startsWith('elsewhere'))).toEqual(['elsewhere a', 'elsewhere b'])
})

it('[OPS-8] an event that cannot be published is logged and stops no other event, also of the same document', async () => {
  const logged: string[] = []
  const { consumer, done, gate } = bench({ ...silentLogger, error: (event) => void logged.push(event) })
  const frames = gate('broken 2')
  consumer.tell(row('updated', headOf('broken', 2)))
  consumer.tell(row('updated', headOf('broken', 3)))
  frames.open()
  await consumer.idle()
  consumer.tell(row('updated', headOf('broken', 4)))
  expect(done.filter((what) => what === 'updated broken')).toHaveLength(3)
  expect(logged).toEqual(['feed.not_told', 'feed.not_told', 'feed.not_told'])
})
