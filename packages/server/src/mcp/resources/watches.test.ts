import { beforeEach, describe, expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import { createDocumentChanges } from '../../documents/document-changes.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { ResourceSink, ResourceWatch } from '../content.ts'
import type { McpCaller } from '../tool.ts'
import { createWatches, type WatchesDeps } from './watches.ts'
import { PRIVATE_DOCS } from '../../access/testing/policies.ts'

const callerOf = (sub: string): McpCaller => ({
  access: { sub, workspaceId: 'w', role: 'member', limits: NO_LIMITS },
  isStatic: false,
})
const REF = { workspaceId: 'w', id: 'd' }
const [DOC, A, B] = ['relay://doc/d', 'relay://doc/d/prose/a.md', 'relay://doc/d/prose/b.md']

function setUp() {
  const time = manualTime()
  const changes = createDocumentChanges()
  const marks = new Map([
    ['prose a', '1'],
    ['prose b', '1'],
  ])
  const state = { reads: 0, failing: false, forbidden: new Set<string>(), warned: 0, title: 'One' }
  const head = (): DocumentHead => ({ ...REF, key: 1, ownerId: 'ann', sharedWith: [], facts: { title: state.title } }) as never
  const allow = (sub: string): void => {
    if (state.failing) throw new RelayError('UNAVAILABLE', 'away')
    if (state.forbidden.has(sub)) throw new RelayError('VIEW_FORBIDDEN', 'no')
  }
  const deps: WatchesDeps = {
    changes,
    documents: {
      async get({ sub }) {
        allow(sub)
        state.reads++
        return { record: { body: new Uint8Array() } } as never
      },
      async require({ sub }) {
        allow(sub)
        return head()
      },
    },
    views: { look: async () => ({ kind: 'marks', marks: new Map(marks) }) },
    store: { list: async () => [head()], state: async () => ({ kind: 'document', head: head() }) },
    accessPolicy: PRIVATE_DOCS,
    clock: time.clock,
    timers: time.timers,
    log: { debug() {}, info() {}, error() {}, warn: () => void state.warned++ },
  }
  const watch = createWatches(deps)
  const told: string[] = []
  const sink: ResourceSink = { updated: (uri) => void told.push(uri), listChanged: () => void told.push('list') }
  return { time, changes, marks, state, head, watch, told, sink }
}

let test: ReturnType<typeof setUp>
let watching: ResourceWatch
beforeEach(async () => {
  test = setUp()
  watching = test.watch(callerOf('ann'), test.sink)
})
const settle = () => test.time.advance(0)
const edit = (page?: 'a' | 'b') => {
  if (page) test.marks.set(`prose ${page}`, `${Math.random()}`)
  test.changes.edited(REF)
}

describe('a watched page', () => {
  beforeEach(async () => {
    watching.add(A)
    watching.add(B)
    await settle()
  })

  it('[RES-10] a watched page notifies for its own changes only, a watched document for all of them', async () => {
    watching.add(DOC)
    await settle()
    edit('a')
    await test.time.advance(400)
    expect(test.told.sort()).toEqual([DOC, A])
    edit()
    await test.time.advance(2_000)
    expect(test.told.sort()).toEqual([DOC, DOC, A])
  })

  it('[RES-11] a change is notified within 0.5 s, then at most once a second, and the last change always', async () => {
    edit('a')
    await test.time.advance(499)
    expect(test.told).toEqual([A])
    for (let i = 0; i < 30; i++) {
      edit('a')
      await test.time.advance(100)
    }
    expect(test.told.length).toBeLessThanOrEqual(4)
    const before = test.told.length
    await test.time.advance(1_500)
    expect(test.told.length).toBe(before + 1)
    await test.time.advance(5_000)
    expect(test.told.length).toBe(before + 1)
  })

  it('[RES-11] a notification for one page does not delay a notification for another page', async () => {
    edit('a')
    await test.time.advance(100)
    expect(test.told).toEqual([A])
    edit('b')
    await test.time.advance(499)
    expect(test.told).toEqual([A, B])
  })

  it('[RES-11] a caller who lost the right to read gets no notification', async () => {
    test.state.forbidden.add('ann')
    edit('a')
    await test.time.advance(3_000)
    expect(test.told).toEqual([])
  })

  it('[RES-10] [RES-11] a deletion is notified once to those who could read the document, and to nobody else', async () => {
    const others: string[] = []
    const bob = test.watch(callerOf('bob'), { updated: (uri) => void others.push(uri), listChanged() {} })
    bob.add(A)
    bob.add(DOC)
    watching.add(DOC)
    await settle()
    test.state.forbidden = new Set(['ann', 'bob'])
    const deleted = { kind: 'deleted', ref: REF, before: test.head(), tombstone: {} as never, actor: 'ann' } as const
    test.changes.published(deleted)
    await test.time.advance(499)
    expect(test.told.filter((uri) => uri !== 'list').sort()).toEqual([DOC, A, B])
    await test.time.advance(2_000)
    expect(test.told.filter((uri) => uri !== 'list')).toHaveLength(3)
    // A new document takes the id: a right to read it gives no right to learn of the deletion.
    test.told.length = 0
    test.changes.published({ kind: 'created', head: { ...test.head(), ownerId: 'zoe' }, actor: 'zoe' })
    await test.time.advance(2_000)
    expect([test.told, others]).toEqual([[], []])
  })

  it('[RES-11] a change is notified later when storage fails', async () => {
    test.state.failing = true
    edit('a')
    await test.time.advance(3_000)
    expect([test.told, test.state.warned > 0]).toEqual([[], true])
    test.state.failing = false
    await test.time.advance(3_000)
    expect(test.told).toEqual([A])
  })

  it('[RES-12] a watched page is not read while nothing changes, nor after the last watcher leaves', async () => {
    const { reads } = test.state
    await test.time.advance(60_000)
    expect(test.state.reads).toBe(reads)
    edit('a')
    watching.remove(A)
    watching.remove(B)
    await test.time.advance(3_000)
    edit('a')
    await test.time.advance(3_000)
    expect([test.told, test.state.reads]).toEqual([[], reads])
    watching.close()
    expect(test.time.waiting()).toBe(0)
  })
})

it('[RES-10] a change made while the watched pages are first read is notified', async () => {
  watching.add(A)
  edit('a')
  await test.time.advance(500)
  expect(test.told).toEqual([A])
})

describe('notifications of the document list', () => {
  const publish = (kind: 'created' | 'updated') => test.changes.published({ kind, head: test.head(), actor: 'ann' })

  it('[RES-12] the document list notifies when a document is created, renamed or deleted, and not when it is edited', async () => {
    await settle()
    publish('updated')
    await test.time.advance(2_000)
    expect(test.told).toEqual([])
    publish('created')
    await test.time.advance(2_000)
    test.state.title = 'Two'
    publish('updated')
    await test.time.advance(2_000)
    const tombstone = { ...REF, deletedAtMs: 0, lastServerVersion: 1, ownerId: 'ann' }
    test.changes.published({ kind: 'deleted', ref: REF, before: test.head(), tombstone, actor: 'ann' })
    await test.time.advance(2_000)
    expect(test.told).toEqual(['list', 'list', 'list'])
  })

  it('[RES-12] a new title of a live document is notified once it is stored, however long people type', async () => {
    await settle()
    for (let i = 0; i < 50; i++) {
      test.changes.edited(REF)
      await test.time.advance(200)
    }
    test.state.title = 'Live'
    await test.time.advance(3_100)
    expect(test.told).toEqual(['list'])
  })

  it('[RES-12] changes of the document list are notified only to callers who may read the document', async () => {
    const told: string[] = []
    test.watch(callerOf('eve'), { updated() {}, listChanged: () => void told.push('eve') })
    await settle()
    publish('created')
    await test.time.advance(2_000)
    expect([test.told, told]).toEqual([['list'], []])
  })
})
