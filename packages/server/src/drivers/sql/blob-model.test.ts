import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { aGrant, aPresigned, aStream, granted, hashOf } from '../../blobs/testing/ledger-requests.ts'
import { bodyOf, change, creation, update, written } from '../../documents/testing/document-writes.ts'
import { BlobModel } from './testing/blob-model.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const WORKSPACES = ['w1', 'w2']
const IDS = ['a', 'b', 'c']
const HASHES = ['one', 'two', 'three', 'four', 'five'].map(hashOf)
const QUOTA_BYTES = 1_500
const RING = 2
const GRACE_MS = 300

const step = fc.record({
  verb: fc.constantFrom(
    ...(['save', 'save', 'save', 'capture', 'edit', 'remove', 'reserve', 'reserve', 'finish', 'abort', 'upload'] as const),
    ...(['collect', 'collect', 'forget', 'reopen'] as const),
  ),
  workspace: fc.constantFrom(...WORKSPACES),
  id: fc.constantFrom(...IDS),
  hash: fc.constantFrom(...HASHES),
  references: fc.subarray(HASHES, { maxLength: 3 }),
  size: fc.integer({ min: 0, max: 300 }),
  gated: fc.boolean(),
  presigned: fc.boolean(),
  passMs: fc.constantFrom(0, 1, 50, 200),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Runs the same steps on the store and on the model. */
class Run {
  readonly #url: string
  readonly #ownsStore: boolean
  readonly #model = new BlobModel(RING)
  #store: Awaited<ReturnType<typeof openHost>>
  #now = 1000
  /** Names of the objects in the blob store. */
  readonly #objects = new Set<string>()
  #count = 0
  /** Whether every save of a workspace so far was checked against the quota. Otherwise its sum may exceed the quota. */
  #gatedOnly = new Map(WORKSPACES.map((workspace) => [workspace, true]))

  static async open(url: string, ownsStore: boolean): Promise<Run> {
    return new Run(url, ownsStore, await openStore(url))
  }

  private constructor(url: string, ownsStore: boolean, store: Awaited<ReturnType<typeof openHost>>) {
    this.#url = url
    this.#ownsStore = ownsStore
    this.#store = store
  }

  async take(given: Step): Promise<void> {
    this.#now += given.passMs
    this.#count++
    await this.#perform(given)
    await this.check()
  }

  async #perform(given: Step): Promise<void> {
    switch (given.verb) {
      case 'save':
      case 'capture':
        return this.#save(given)
      case 'edit':
        return this.#edit(given)
      case 'remove':
        return this.#remove(given)
      case 'reserve':
        return this.#reserve(given)
      case 'finish':
      case 'upload':
        return this.#grant(given)
      case 'abort': {
        const [id] = this.#upload(given)
        this.#model.uploads.delete(id ?? '')
        return this.#store.blobs.release(id ?? 'nothing')
      }
      case 'collect': {
        const beforeMs = this.#now - GRACE_MS
        this.#model.release(beforeMs, this.#now)
        await this.#store.blobs.releaseUnreferenced(beforeMs, 100, this.#now)
        return
      }
      case 'forget': {
        const isOrphan = this.#model.orphans().includes(given.hash)
        if (isOrphan) this.#model.forget(given.hash)
        expect(await this.#store.blobs.strike(given.hash, this.#now)).toBe(isOrphan ? 'struck' : 'held')
        for (const object of await this.#store.blobs.struck(this.#now, 1000)) {
          this.#objects.delete(object)
          await this.#store.blobs.forget(object)
        }
        return
      }
      case 'reopen':
        return this.#reopen()
    }
  }

  /** Every save stores another body, so that each capture becomes a point of its own. */
  async #save({ verb, workspace, id, references, size, gated }: Step): Promise<void> {
    const text = JSON.stringify({ n: this.#count, pad: 'x'.repeat(size), images: references.map((blobRef) => ({ blobRef })) })
    const state = await this.#store.documents.state({ workspaceId: workspace, id })
    const before = this.#model.document(workspace, id)
    const grown = text.length - (before?.bytes ?? 0)
    const usedBytes = this.#model.counted(workspace, this.#now)
    const addedBytes = grown + this.#model.meteredAnew(workspace, references)
    const refused = gated && grown > 0 && usedBytes + addedBytes > QUOTA_BYTES
    const captures = verb === 'capture' && before !== undefined
    const head = state.kind === 'document' ? state.head : null
    const outcome = await this.#store.documents.write({
      ...(head === null ? creation({ workspaceId: workspace, id }, text) : change(head, text, { bump: false })),
      ...(state.kind === 'tombstone' && {
        expect: { kind: 'tombstone', lastServerVersion: state.tombstone.lastServerVersion },
      }),
      nowMs: this.#now,
      quotaBytes: gated ? QUOTA_BYTES : null,
      ...(head !== null && head.lastSeq > head.coveredSeq && { log: { kind: 'live', lastSeq: head.lastSeq, append: [] } }),
      ...(captures && { capture: { reason: 'zeroing' } }),
    })
    if (refused) return expect(outcome).toEqual({ kind: 'over-quota', usedBytes, addedBytes })
    expect(outcome.kind).toBe('written')
    // A save that shrinks the document is stored whatever it references, so the sum may pass the quota.
    if (!gated || (grown <= 0 && addedBytes > 0)) this.#gatedOnly.set(workspace, false)
    this.#model.save(workspace, id, { bytes: text.length, references, captures, nowMs: this.#now })
  }

  /** Appends an edit that no stored body contains yet, so that its references are unknown. */
  async #edit({ workspace, id }: Step): Promise<void> {
    const document = this.#model.document(workspace, id)
    const state = await this.#store.documents.state({ workspaceId: workspace, id })
    if (document === undefined || state.kind !== 'document') return
    document.lagging = true
    const { key, lastSeq } = state.head
    await this.#store.updates.append([{ key, afterSeq: lastSeq, actor: 'ada', atMs: this.#now, update: update(1) }])
  }

  async #remove({ workspace, id }: Step): Promise<void> {
    const state = await this.#store.documents.state({ workspaceId: workspace, id })
    if (state.kind !== 'document') return
    this.#model.remove(workspace, id, this.#now)
    expect(await this.#store.documents.remove(state.head, state.head.key, this.#now)).toMatchObject({ kind: 'removed' })
  }

  async #reserve({ workspace, hash, size, gated, presigned }: Step): Promise<void> {
    const kind = presigned ? 'presigned' : 'stream'
    const make = presigned ? aPresigned : aStream
    const upload = make(workspace, hash, { id: `u${this.#count}`, bytes: size, expiresAtMs: this.#now + 400 })
    const usedBytes = this.#model.counted(workspace, this.#now)
    const held = this.#model.grantOf(workspace, hash) !== undefined
    const outcome = await this.#store.blobs.reserve(upload, gated ? QUOTA_BYTES : null, this.#now)
    if (held) expect(outcome.kind).toBe('held')
    else if (gated && size > 0 && usedBytes + size > QUOTA_BYTES)
      return expect(outcome).toEqual({ kind: 'over-quota', usedBytes, addedBytes: size })
    else expect(outcome.kind).toBe('admitted')
    if (!gated && !held) this.#gatedOnly.set(workspace, false)
    this.#model.reserve(upload.id, { workspace, hash, bytes: size, expiresAtMs: upload.expiresAtMs, kind }, this.#now)
  }

  async #grant(given: Step): Promise<void> {
    const [reservationId, reserved] = given.verb === 'finish' ? this.#upload(given) : []
    if (given.verb === 'finish' && reserved === undefined) return
    const { workspace, hash } = reserved ?? given
    const sizeBytes = reserved?.bytes ?? given.size
    const quotaBytes = given.gated ? QUOTA_BYTES : null
    const usedBytes = this.#model.counted(workspace, this.#now, reservationId)
    const held = this.#model.grantOf(workspace, hash) !== undefined
    const request = { reservationId: reservationId ?? null, sizeBytes, quotaBytes, nowMs: this.#now }
    const outcome = await granted(this.#store.blobs, aGrant(workspace, hash, request))
    if (!held && given.gated && sizeBytes > 0 && usedBytes + sizeBytes > QUOTA_BYTES)
      return expect(outcome).toEqual({ kind: 'over-quota', usedBytes, addedBytes: sizeBytes })
    expect(outcome).toMatchObject({ kind: 'granted', added: !held })
    if (outcome.kind === 'granted') this.#objects.add(outcome.grant.object)
    if (!given.gated && !held) this.#gatedOnly.set(workspace, false)
    this.#model.grant(workspace, hash, sizeBytes, this.#now)
    this.#model.uploads.delete(reservationId ?? '')
  }

  #upload({ size }: Step) {
    const uploads = [...this.#model.uploads]
    return uploads[size % Math.max(1, uploads.length)] ?? []
  }

  async #reopen(): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
    this.#store = await openStore(this.#url)
    if (this.#ownsStore) this.#model.endStreams()
  }

  async check(): Promise<void> {
    const { blobs, documents } = this.#store
    expect(await blobs.orphans(1000)).toEqual(this.#model.orphans())
    for (const workspace of WORKSPACES) {
      const used = (await documents.usedBytes(workspace)) + (await blobs.meteredBytes(workspace))
      expect(used).toBe(this.#model.documentBytes(workspace) + this.#model.meteredBytes(workspace))
      if (this.#gatedOnly.get(workspace)) expect(used).toBeLessThanOrEqual(QUOTA_BYTES)
      for (const hash of HASHES) {
        const grant = this.#model.grantOf(workspace, hash)
        const found = await blobs.find(workspace, hash)
        expect(found?.sizeBytes).toBe(grant?.bytes)
        if (found !== null) expect(this.#objects).toContain(found.object)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}

const openStore = (url: string) => openHost(url, { commitDelayMs: 0, recovery: { points: RING, intervalMs: 1e12 } })

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function runs(open: () => Promise<string>, ownsStore: boolean, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 100 }), fc.boolean(), async (steps, allGated) => {
      await using run = await Run.open(await open(), ownsStore)
      for (const each of steps) await run.take(allGated ? { ...each, gated: true } : each)
    }),
    { numRuns, seed: 11 },
  )
}

it(
  '[BLOB-14] [BLOB-15] [BLOB-16] [BLOB-24] SQLite: over random calls usage is exact, the quota holds, orphans are exactly the unreferenced blobs, and no grant names removed bytes',
  {
    timeout: patience(60_000),
  },
  () =>
    runs(
      async () => {
        const { url, remove } = temporaryStore()
        cleanups.push(remove)
        return url
      },
      true,
      20,
    ),
)

it('[LIFE-22] [BLOB-16] a restored document counts its blobs again, whatever the quota, and keeps those of its recovery points', async () => {
  const { url, remove } = temporaryStore()
  cleanups.push(remove)
  await using store = await openStore(url)
  const { documents, blobs, recovery } = store
  const naming = (...hashes: readonly string[]) => JSON.stringify({ images: hashes.map((blobRef) => ({ blobRef })) })
  const [one, two, three] = HASHES as [string, string, string]
  for (const hash of [one, two, three]) await granted(blobs, aGrant('w', hash))
  const captures = { capture: { reason: 'zeroing' } } as const
  const first = written(await documents.write(creation({ workspaceId: 'w', id: 'd' }, naming(one, two))))
  const second = written(await documents.write(change(first, naming(three), { nowMs: 2000, ...captures })))
  await blobs.releaseUnreferenced(2000, 10, 9000)
  expect(await blobs.meteredBytes('w')).toBe(100)
  const newRef = { workspaceId: 'w', id: 'again' }
  const outcome = await recovery.restore({ source: second, newRef, body: bodyOf(naming(one)), nowMs: 10_000 })
  expect(outcome.kind).toBe('restored')
  // The third point contains the state that the restore captured. The grace period of its blobs begins now.
  expect(await blobs.meteredBytes('w')).toBe(200)
  await blobs.releaseUnreferenced(10_000, 10, 19_000)
  expect(await blobs.meteredBytes('w')).toBe(100)
  for (const hash of [one, two, three]) expect(await blobs.find('w', hash)).not.toBeNull()
  if (outcome.kind === 'restored') await documents.remove(newRef, outcome.head.key, 20_000)
  await blobs.releaseUnreferenced(20_000, 10, 29_000)
  expect(await blobs.orphans(10)).toEqual([one, two, three].toSorted())
})

const postgres = await openPostgresUnderTest()
if (typeof postgres !== 'string') await postgres[Symbol.asyncDispose]()

it.skipIf(typeof postgres === 'string')(
  '[BLOB-14] [BLOB-15] [BLOB-16] PostgreSQL: over random calls usage is exact, the quota holds, and orphans are exactly the unreferenced blobs',
  { timeout: patience(60_000) },
  () =>
    runs(
      async () => {
        const server = await openPostgresUnderTest()
        if (typeof server === 'string') throw new Error(server)
        cleanups.push(async () => server[Symbol.asyncDispose]())
        return server.url
      },
      false,
      3,
    ),
)
