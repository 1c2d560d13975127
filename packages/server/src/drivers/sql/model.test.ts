import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DocumentHead, DocumentState, DocumentWrite } from '../../documents/document-store.port.ts'
import { bodyOf, update } from '../../documents/testing/document-writes.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { StoreModel } from './testing/store-model.ts'
import { inProcess, reopenable, type StoreUnderTest, temporaryStore } from './testing/store-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const WORKSPACES = ['w1', 'w2']
const IDS = ['a', 'b', 'c']
const QUOTA_BYTES = 60

interface Step {
  readonly verb: 'create' | 'cold' | 'live' | 'none' | 'append' | 'catch-up' | 'compact' | 'remove' | 'purge' | 'reopen'
  readonly workspace: number
  readonly id: number
  readonly size: number
  /** Whether the call uses an outdated state. */
  readonly stale: boolean
  readonly gated: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom(
    'create',
    'create',
    'cold',
    'cold',
    'live',
    'live',
    'none',
    'append',
    'append',
    'catch-up',
    'compact',
    'remove',
    'purge',
    'reopen',
  ),
  workspace: fc.nat(WORKSPACES.length - 1),
  id: fc.nat(IDS.length - 1),
  size: fc.nat(30),
  stale: fc.nat(9).map((n) => n === 0),
  gated: fc.boolean(),
})

/** Runs the same steps on the store and on the model, with arguments from the model. */
class Run {
  readonly #store: StoreUnderTest
  readonly #model = new StoreModel()
  #now = 1000
  #lastKey = 0

  constructor(store: StoreUnderTest) {
    this.#store = store
  }

  async take({ verb, workspace, id, size, stale, gated }: Step): Promise<void> {
    const ref = { workspaceId: WORKSPACES[workspace] ?? '', id: IDS[id] ?? '' }
    const state = this.#model.state(ref)
    const head = state.kind === 'document' ? state.head : null
    const key = head?.key ?? this.#lastKey
    this.#now += size % 3
    const seqOff = stale ? 1 : 0
    switch (verb) {
      case 'create':
      case 'cold':
      case 'live':
      case 'none': {
        const write = writeOf(verb, { ref, size, gated, nowMs: this.#now, state, stale })
        return this.#write(write)
      }
      case 'append':
      case 'catch-up': {
        const catchUp = verb === 'append' ? {} : { catchUp: { version: head?.version ?? 1 } }
        const record = {
          key,
          afterSeq: (head?.lastSeq ?? 0) + seqOff,
          actor: `actor ${size}`,
          atMs: this.#now,
          update: update(size, id),
          ...catchUp,
        }
        return expect(await this.#store.updates.append([record])).toEqual([this.#model.append(record)])
      }
      case 'compact': {
        const throughSeq = Math.max(0, (head?.lastSeq ?? 0) - (size % 3))
        const snapshot = { update: update(size), stateVector: update(throughSeq), throughSeq }
        return expect(await this.#store.updates.compact(key, snapshot)).toBe(this.#model.compact(key, snapshot))
      }
      case 'remove': {
        const outcome = await this.#store.documents.remove(ref, key + seqOff, this.#now)
        return expect(outcome.kind).toBe(this.#model.remove(ref, key + seqOff, this.#now))
      }
      case 'purge':
        return expect(await this.#store.documents.purgeTombstones(this.#now - 10, 100)).toBe(this.#model.purge(this.#now - 10))
      case 'reopen':
        await this.#store.reopen()
        return this.check()
    }
  }

  async #write(write: DocumentWrite): Promise<void> {
    const outcome = await this.#store.documents.write(write)
    const created = outcome.kind === 'written' && outcome.head.key > this.#lastKey
    if (created) this.#lastKey = outcome.head.key
    const lineage = outcome.kind === 'written' ? outcome.head.lineage : ''
    expect(outcome).toEqual(this.#model.write(write, { key: this.#lastKey, lineage }))
  }

  async check(): Promise<void> {
    const { documents, updates } = this.#store
    for (const workspaceId of WORKSPACES) {
      expect(await documents.list(workspaceId)).toEqual(this.#model.list(workspaceId))
      expect(await documents.usedBytes(workspaceId)).toBe(this.#model.usedBytes(workspaceId))
      for (const id of IDS) {
        const state = this.#model.state({ workspaceId, id })
        expect(await documents.state({ workspaceId, id })).toEqual(state)
        expect((await documents.read({ workspaceId, id }))?.body ?? null).toEqual(this.#model.body({ workspaceId, id }))
      }
    }
    for (let key = 1; key <= this.#lastKey; key++) expect(await updates.load(key)).toEqual(this.#model.log(key))
  }
}

function writeOf(
  verb: 'create' | 'cold' | 'live' | 'none',
  given: { ref: DocumentWrite['ref']; size: number; gated: boolean; nowMs: number; state: DocumentState; stale: boolean },
): DocumentWrite {
  const { ref, size, gated, nowMs, state, stale } = given
  const body = bodyOf('x'.repeat(size), { shapeCount: size })
  const base = { ref, nowMs, quotaBytes: gated ? QUOTA_BYTES : null }
  const head: DocumentHead | null = state.kind === 'document' ? state.head : null
  if (head === null || verb === 'create') {
    const expectation =
      state.kind === 'tombstone' && !stale
        ? ({ kind: 'tombstone', lastServerVersion: state.tombstone.lastServerVersion } as const)
        : ({ kind: 'absent' } as const)
    return {
      ...base,
      expect: expectation,
      set: { ownerId: 'ada', ownerName: 'Ada', titleChangedAtMs: nowMs, body },
      bump: true,
      log: { kind: 'cold' },
    }
  }
  const lastSeq = head.lastSeq + (stale && size % 2 === 0 ? 1 : 0)
  const version = head.version - (stale && size % 2 === 1 ? 1 : 0)
  const append = Array.from({ length: size % 3 }, (_, i) => ({ actor: `live ${i}`, update: update(i) }))
  return {
    ...base,
    expect: { kind: 'document', key: head.key, version },
    set: verb === 'none' ? { sharedWith: [size], collectionId: size % 2 === 0 ? null : `c${size}` } : { body },
    bump: size % 4 !== 0,
    log: verb === 'live' ? { kind: 'live', lastSeq, append } : { kind: verb },
  }
}

async function runs(open: () => Promise<StoreUnderTest>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 120 }), async (steps) => {
      await using store = await open()
      const run = new Run(store)
      for (const each of steps) await run.take(each)
      await store.reopen()
      await run.check()
    }),
    { numRuns },
  )
}

it(
  '[LIFE-1] [LIFE-3] SQLite behaves like a plain in-memory model over random calls and restarts',
  { timeout: patience(60_000) },
  () =>
    runs(async () => {
      const { url, remove } = temporaryStore()
      return reopenable(url, inProcess, remove)
    }, 25),
)

const postgres = await openPostgresUnderTest()
if (typeof postgres !== 'string') await postgres[Symbol.asyncDispose]()

it.skipIf(typeof postgres === 'string')(
  '[LIFE-1] [LIFE-3] PostgreSQL behaves like a plain in-memory model over random calls and restarts',
  { timeout: patience(60_000) },
  () =>
    runs(async () => {
      const server = await openPostgresUnderTest()
      if (typeof server === 'string') throw new Error(server)
      return reopenable(server.url, inProcess, async () => server[Symbol.asyncDispose]())
    }, 4),
)
