import type { RelayError } from '@docrelay/client/errors'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { commitHold } from '../commit-hold.ts'
import { isCovered, storedHead, storedRows } from '../store-file.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'

/** Wait before a check that something has not come. Expected events are waited for without a limit of this kind. */
const QUIET_MS = 150

const setShape = (client: SyncClient, id: string) => client.doc.getMap('shapes:canvas').set(id, { id, type: 'rectangle', x: 1 })
const shapesOf = (body: unknown) =>
  (body as { pages: { shapes: { id: string }[] }[] }).pages.flatMap(({ shapes }) => shapes.map(({ id }) => id))
const create = (relay: RelayUnderTest, id: string) =>
  relay.rest().putDocument(id, { name: id, pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })

let eviction: Promise<void>
beforeAll(() => {
  eviction = tellOfEviction()
  eviction.catch(() => undefined)
})

describe('while a commit is delayed', () => {
  const commits = commitHold()
  const env = { RELAY_WRITES_PER_SEC: '0', ...commits.env }
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    commits.remove()
  })

  // A failed test must not keep commits held for the next one.
  afterEach(() => commits.release())

  /** Makes an edit while commits are held. Returns which signs of it (broadcast, ack, GET) appear while its commit is held, and in all. */
  async function edit(id: string, heldUntil: (learnt: readonly string[]) => boolean) {
    const learnt: string[] = []
    const ann = relay.sync(id, { sub: 'ann' })
    const ben = relay.sync(id, { sub: 'ben' })
    await saved(ann, ben)
    await until('what the load itself wrote to be in the body', () => isCovered(relay, id))
    commits.hold()
    setShape(ann, 'new')
    const read = async (): Promise<void> => {
      while (!shapesOf(await relay.rest().getDocument(id)).includes('new')) await pause(5)
      learnt.push('GET')
    }
    const learning = [
      until('the broadcast', () => ben.doc.getMap('shapes:canvas').has('new')).then(() => learnt.push('broadcast')),
      until('the ack', () => ann.state.saved === 'saved').then(() => learnt.push('SYNC_ACK')),
      until('the broadcast', () => learnt.includes('broadcast')).then(read),
    ]
    await until('what is learnt while the commit is held', () => heldUntil(learnt))
    await pause(QUIET_MS)
    const held = [...learnt]
    commits.release()
    await Promise.all(learning)
    ann.destroy()
    ben.destroy()
    return { held, all: learnt.toSorted() }
  }

  it('[D-13] [LIFE-2] [WS-38] [WS-40] an edit is broadcast before its commit, but acknowledged and readable only after it', async () => {
    await create(relay, 'held')
    const { held, all } = await edit('held', (learnt) => learnt.includes('broadcast'))
    expect(held).toEqual(['broadcast'])
    expect(all).toEqual(['GET', 'SYNC_ACK', 'broadcast'])
  })

  it('[D-13] [LIFE-2] [REST-13] a PUT is answered, shown and announced only after its commit', async () => {
    await create(relay, 'put')
    const learnt = new Set<string>()
    const watching = relay.sync('put', { sub: 'ben' }, { onEvent: (event) => event.docId === 'put' && learnt.add('DOC_EVENT') })
    await saved(watching)
    await until('the seed to be in the body', () => isCovered(relay, 'put'))
    commits.hold()
    const writing = relay
      .rest()
      .putDocument('put', { name: 'second' })
      .then(() => learnt.add('HTTP'))
    const looking = async (): Promise<void> => {
      while (!learnt.has('GET') || !learnt.has('list')) {
        const body = (await relay.rest().getDocument('put')) as { name: string }
        if (body.name === 'second') learnt.add('GET')
        const listed = (await relay.rest().listDocuments()).find(({ id }) => id === 'put')
        if (listed?.serverVersion === 2) learnt.add('list')
        await pause(5)
      }
    }
    const looked = looking()
    await pause(2 * QUIET_MS)
    expect([...learnt]).toEqual([])
    commits.release()
    await Promise.all([writing, looked])
    await until('the event', () => learnt.has('DOC_EVENT'))
    watching.destroy()
  })

  it('[LIFE-2] the check of delayed commits detects a relay that acknowledges before its commit', async () => {
    await relay.stop()
    await relay.restart({ ...env, RELAY_TEST_ACK_BEFORE_COMMIT: '1' })
    await create(relay, 'too-early')
    await until('the document to be there', () => storedHead(relay, 'too-early') !== null)
    expect((await edit('too-early', (learnt) => learnt.includes('SYNC_ACK'))).held).toContain('SYNC_ACK')
  })

  it('[LIFE-28] a stop beyond its grace period exits with 1 and keeps everything acknowledged', async () => {
    await create(relay, 'overrun')
    await relay.stop()
    await relay.restart({ ...commits.env, RELAY_SHUTDOWN_GRACE_SECS: '1' })
    const [ann, ben] = [relay.sync('overrun'), relay.sync('overrun')]
    await saved(ann, ben)
    setShape(ann, 'acknowledged')
    await saved(ann)
    commits.hold()
    setShape(ann, 'in flight')
    await until('the broadcast', () => ben.doc.getMap('shapes:canvas').has('in flight'))
    const took = stopwatch()
    expect(await relay.stop()).toBe(1)
    expect(took()).toBeLessThan(2_500)
    ann.destroy()
    ben.destroy()
    commits.release()
    await relay.restart({})
    expect(shapesOf(await relay.rest().getDocument('overrun'))).toContain('acknowledged')
  })
})

it('[D-13] [LIFE-4] edits of many documents share commits', async () => {
  const holdMs = 300
  const hooks = { RELAY_TEST_HOOKS: '1', RELAY_TEST_COMMIT_HOLD_MS: String(holdMs), RELAY_COMMIT_DELAY_MS: '50' }
  await using relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0', ...hooks } })
  const ids = Array.from({ length: 8 }, (_, i) => `shared-${i}`)
  await Promise.all(ids.map((id) => create(relay, id)))
  const clients = ids.map((id) => relay.sync(id))
  await saved(...clients)
  await until('the seeds to be in the bodies', () => ids.every((id) => isCovered(relay, id)))
  const took = stopwatch()
  for (const client of clients) setShape(client, 'one')
  await saved(...clients)
  // One commit per edit would be eight held ones in a row. Records of the same moment need at most two commits.
  expect(took()).toBeLessThan(4 * holdMs)
  for (const client of clients) client.destroy()
})

/** Waits half a minute for an eviction. Runs concurrently with the other tests of this file. */
async function tellOfEviction(): Promise<void> {
  await using relay = await startRelayUnderTest()
  await create(relay, 'evicted')
  const ann = relay.sync('evicted')
  await saved(ann)
  setShape(ann, 'kept')
  await saved(ann)
  ann.destroy()
  const startedAt = performance.now()
  // An eviction stores a snapshot of the whole log; nothing else in this test does.
  const query = 'select through_seq from snapshots join documents using (key) where id = ? order by through_seq desc'
  const isCompacted = () => storedRows(relay, query, 'evicted')[0]?.['through_seq'] === storedHead(relay, 'evicted')?.lastSeq
  // Waits first, because each check opens the store.
  await pause(28_500)
  await until('the eviction', isCompacted, 12_000)
  expect(performance.now() - startedAt).toBeGreaterThan(29_000)
  const joins = Array.from({ length: 5 }, () => relay.sync('evicted'))
  await saved(...joins)
  for (const ben of joins) expect(ben.doc.getMap('shapes:canvas').has('kept')).toBe(true)
  for (const ben of joins.slice(0, 1)) setShape(ben, 'more')
  await until('all to see it', () => joins.every((ben) => ben.doc.getMap('shapes:canvas').has('more')))
  expect(shapesOf(await relay.rest().getDocument('evicted')).sort()).toEqual(['kept', 'more'])
}

describe('a stop under load', () => {
  it('[D-12] [LIFE-28] a stop with 200 sockets and unacknowledged edits exits with 0 in time, and no edit is lost', {
    timeout: patience(60_000),
  }, async () => {
    await using relay = await startRelayUnderTest({
      env: { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '300' },
    })
    // Few clients per document, because each gets the edits of all others in it.
    const ids = Array.from({ length: 25 }, (_, i) => `stopped-${i}`)
    await Promise.all(ids.map((id) => create(relay, id)))
    const clients = ids.flatMap((id) => Array.from({ length: 8 }, (_, i) => relay.sync(id, { sub: `person-${i}` })))
    await until('everyone to be in', () => clients.every(({ state }) => state.synced && state.saved === 'saved'), 20_000)
    // The close code of the socket that was open when the relay stopped. Later attempts to connect fail while it is away.
    const closes = clients.map(
      (client) => new Promise<number>((resolve) => client.on('state', ({ closed }) => closed && resolve(closed.code))),
    )
    let typing = true
    const work = clients.map(async (client, i) => {
      for (let j = 0; typing; j++) {
        setShape(client, `${i}.${j}`)
        await pause(150 + (i % 100))
      }
    })
    await pause(500)
    const took = stopwatch()
    expect(await relay.stop()).toBe(0)
    expect(took()).toBeLessThan(15_000)
    typing = false
    await Promise.all(work)
    expect(new Set(await Promise.all(closes))).toEqual(new Set([1012]))
    await relay.restart()
    await until('everyone to be back', () => clients.every(({ state }) => state.synced && state.saved === 'saved'), 30_000)
    for (const [i, id] of ids.entries()) {
      const typed = clients.slice(i * 8, i * 8 + 8).flatMap(({ doc }) => [...doc.getMap('shapes:canvas').keys()])
      expect(new Set(shapesOf(await relay.rest().getDocument(id)))).toEqual(new Set(typed))
    }
  })
})

const isRoot = process.getuid?.() === 0
if (!isRoot) process.stderr.write('skipped: a full disk needs root for a small tmpfs\n')

describe.skipIf(!isRoot)('a disk without free space', () => {
  let folder: string
  let relay: RelayUnderTest
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'docrelay-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder])
    relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' }, dataDir: join(folder, 'data') })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  })

  it('[LIFE-6] [D-5] a full disk refuses writes, resets the room and fails /readyz; all recovers when there is space', {
    timeout: patience(40_000),
  }, async () => {
    await create(relay, 'full')
    const errors: string[] = []
    const closes: string[] = []
    const ann = relay.sync(
      'full',
      {},
      {
        onError: ({ code }) => errors.push(code),
        onState: ({ closed }) => closed !== null && closes.push(`${closed.code} ${closed.reason.replace(/;.*/, '')}`),
      },
    )
    await saved(ann)
    setShape(ann, 'before')
    await saved(ann)
    await until('the edit to be in the body', () => isCovered(relay, 'full'))
    fill(join(folder, 'filler'))
    ann.doc.getMap('shapes:canvas').set('large', { id: 'large', text: 'x'.repeat(200_000) })
    await until('the reset', () => closes.includes('1012 room-reset'))
    expect(errors).toContain('ERR_NOT_PERSISTED')
    expect(ann.state.saved).not.toBe('saved')
    // A commit that failed half-way leaves some room in the file; these smaller writes use it up.
    const writeLittle = () => relay.rest().putDocument(`little-${errors.length}`, { name: 'little' })
    await until('readiness to end', async () => {
      await writeLittle().catch((error: RelayError) => errors.push(error.code))
      return (await fetch(`${relay.baseUrl}/readyz`)).status === 503
    })
    expect(new Set(errors)).toEqual(new Set(['ERR_NOT_PERSISTED', 'NOT_PERSISTED']))
    const large = { name: 'large', custom: 'x'.repeat(200_000) }
    await expect(relay.rest().putDocument('other', large)).rejects.toMatchObject({ status: 503, code: 'NOT_PERSISTED' })
    await expect(relay.rest().getDocument('other')).rejects.toSatisfy((error: RelayError) => error.status === 404)
    expect(shapesOf(await relay.rest().getDocument('full'))).toEqual(['before'])
    rmSync(join(folder, 'filler'))
    const took = stopwatch()
    await until('readiness', async () => (await fetch(`${relay.baseUrl}/readyz`)).status === 200)
    expect(took()).toBeLessThan(5_000)
    await until('the edit to come back', () => ann.state.synced && ann.state.saved === 'saved', 15_000)
    expect(shapesOf(await relay.rest().getDocument('full'))).toEqual(['before', 'large'])
    await relay.rest().putDocument('other', large)
    ann.destroy()
  })
})

it(
  '[LIFE-17] a document without connections is evicted after 30 s, and a later client sees all edits',
  () => eviction,
  patience(50_000),
)

function fill(path: string): void {
  const bytes = Buffer.alloc(64 * 1024)
  for (let size = bytes.length; size >= 4096; size /= 2) {
    try {
      for (;;) writeFileSync(path, bytes.subarray(0, size), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
