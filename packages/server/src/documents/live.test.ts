import { prepareBody } from '@docrelay/model/body-prepare'
import { describe, expect, it } from 'vitest'
import { type RestRelay, noResidents, startRestRelay } from '../http/testing/rest-relay.ts'
import { RelayError } from '../kernel/errors.ts'
import type { DocumentRef, DocumentStore } from './document-store.port.ts'
import { planPut } from './put-plan.ts'
import type { PutRequest, Residents } from './residents.port.ts'

const ann = { sub: 'ann', role: 'member' }
const REF = { workspaceId: 'default', id: 'doc' }

/** A minimal `Residents`. A document is open while its id is in `open`; settling it stores its title of `edits`, as a room would. */
class LiveTitles implements Residents {
  readonly edits = new Map<string, string>()
  readonly calls: string[] = []
  store: DocumentStore | null = null
  open = new Set<string>()

  isResident(ref: DocumentRef): boolean {
    return this.open.has(ref.id)
  }

  async settle(ref: DocumentRef): Promise<void> {
    this.calls.push(`settle ${ref.id}`)
    const title = this.edits.get(ref.id)
    if (title === undefined || this.store === null) return
    this.edits.delete(ref.id)
    const state = await this.store.state(ref)
    if (state.kind !== 'document') return
    const { key, version, lastSeq } = state.head
    const prepared = prepareBody(Buffer.from(JSON.stringify({ name: title })), ref.id, null)
    if (!prepared.ok) throw new Error('unusable body')
    const { bytes, facts, blobReferences } = prepared.prepared
    await this.store.write({
      ref,
      expect: { kind: 'document', key, version },
      set: { body: { bytes, facts, blobReferences } },
      bump: true,
      nowMs: Date.now(),
      quotaBytes: null,
      log: { kind: 'live', lastSeq, append: [] },
    })
  }

  async settleAll(heads: readonly DocumentRef[]): Promise<number> {
    await Promise.allSettled(heads.map((head) => this.settle(head)))
    return heads.length
  }

  async put(request: PutRequest) {
    this.calls.push(`put ${request.ref.id}`)
    if (this.store === null) return 'not-resident' as const
    const plan = planPut(await this.store.state(request.ref), request)
    return plan.kind === 'refused' ? plan : ('not-resident' as const)
  }

  async edit() {
    return 'not-resident' as const
  }

  hasGap(): boolean {
    return false
  }

  bodyChanged(ref: DocumentRef, version: number): void {
    this.calls.push(`changed ${ref.id} ${version}`)
  }

  async drop(): Promise<readonly string[]> {
    return []
  }

  async encode() {
    return null
  }

  sharingChanged(): void {
    this.calls.push('sharing')
  }
}

async function startLive(): Promise<{ relay: RestRelay; live: LiveTitles }> {
  const live = new LiveTitles()
  const relay = await startRestRelay({ residents: live })
  live.store = relay.storage.documents
  await relay.call('PUT', '/api/docs/doc', { as: ann, body: { name: 'stored' } })
  return { relay, live }
}

describe('reads and writes of open documents', () => {
  it('[LIFE-11] GET, its 304 and lists show every edit applied before the request, content and version together', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    live.open.add('doc')
    live.edits.set('doc', 'edited')
    expect((await relay.call('GET', '/api/docs/doc', { as: ann, headers: { 'if-none-match': '"1"' } })).json).toMatchObject({
      name: 'edited',
      serverVersion: 2,
    })
    live.edits.set('doc', 'edited again')
    expect((await relay.call('GET', '/api/docs/doc', { as: ann })).json).toMatchObject({ name: 'edited again', serverVersion: 3 })
    live.edits.set('doc', 'listed')
    expect((await relay.call('GET', '/api/docs', { as: ann })).list[0]).toMatchObject({ title: 'listed', serverVersion: 4 })
  })

  it('[LIFE-11] a body behind its log is settled before it is read, also for a cold document', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    const state = await relay.storage.documents.state(REF)
    const key = state.kind === 'document' ? state.head.key : 0
    await relay.storage.updates.append([{ key, afterSeq: 0, actor: 'ann', atMs: Date.now(), update: new Uint8Array([0, 0]) }])
    live.edits.set('doc', 'from the log')
    expect((await relay.call('GET', '/api/docs/doc', { as: ann })).json).toMatchObject({ name: 'from the log', serverVersion: 2 })
  })

  it('[LIFE-11] a caller who may not read a document does not make it settle', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    live.open.add('doc')
    live.calls.length = 0
    const eve = { sub: 'eve', role: 'member' }
    expect((await relay.call('GET', '/api/docs/doc', { as: eve })).status).toBe(403)
    expect((await relay.call('GET', '/api/docs', { as: eve })).list).toEqual([])
    expect(live.calls).toEqual([])
  })

  it('[LIFE-8] a live document that cannot be settled fails its own GET, but not the list', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    live.open.add('doc')
    live.settle = () => Promise.reject(new RelayError('UNAVAILABLE', 'The worker restarts.'))
    expect((await relay.call('GET', '/api/docs/doc', { as: ann })).status).toBe(503)
    expect((await relay.call('GET', '/api/docs', { as: ann })).list[0]).toMatchObject({ title: 'stored' })
  })

  it('[LIFE-13] a PUT of an open document runs on its live copy, and a refusal there is the answer', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    live.open.add('doc')
    const refused = await relay.call('PUT', '/api/docs/doc?expectedVersion=9', { as: ann, body: {} })
    expect([refused.status, refused.json.currentVersion]).toEqual([409, 1])
    expect(live.calls.filter((call) => call === 'put doc')).toHaveLength(1)
  })

  it('[LIFE-13] [LIFE-15] a cold PUT settles a document whose log is ahead of its body, and is then stored', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    const state = await relay.storage.documents.state(REF)
    const key = state.kind === 'document' ? state.head.key : 0
    await relay.storage.updates.append([{ key, afterSeq: 0, actor: 'ann', atMs: Date.now(), update: new Uint8Array([0, 0]) }])
    live.edits.set('doc', 'from the log')
    const answer = await relay.call('PUT', '/api/docs/doc', { as: ann, body: { name: 'put after' } })
    expect([answer.status, answer.json.newVersion]).toEqual([200, 3])
    expect(live.calls).toContain('settle doc')
    expect(live.calls).toContain('changed doc 3')
  })

  it('[PERM-2] a PUT with a share list makes live joins decide their rights again', async () => {
    const { relay, live } = await startLive()
    await using _ = relay
    await relay.call('PUT', '/api/docs/doc', { as: ann, body: {} })
    expect(live.calls).not.toContain('sharing')
    await relay.call('PUT', '/api/docs/doc', { as: ann, body: { sharedWith: [] } })
    expect(live.calls).toContain('sharing')
  })
})

describe('a store that cannot answer', () => {
  it('[REST-13] [REST-14] while the store fails every route answers 503 with Retry-After, never 404 or an empty list', async () => {
    const down = (): Promise<never> =>
      Promise.reject(new RelayError('UNAVAILABLE', 'The database does not answer.', { retryAfterMs: 2_500 }))
    await using relay = await startRestRelay({
      store: () => ({
        state: down,
        heads: down,
        read: down,
        write: down,
        overQuota: down,
        remove: down,
        list: down,
        referencing: down,
        usedBytes: down,
        formerClients: down,
        giveLineages: down,
        purgeTombstones: down,
        purgeFormerClients: down,
        remembered: down,
        purgeRemembered: down,
        behind: down,
      }),
    })
    for (const [method, path] of [
      ['GET', '/api/docs'],
      ['GET', '/api/docs/doc'],
      ['PUT', '/api/docs/doc'],
      ['DELETE', '/api/docs/doc'],
    ] as const) {
      const answer = await relay.call(method, path, { as: ann, ...(method === 'PUT' && { body: {} }) })
      expect([answer.status, answer.json.errorCode, answer.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '3'])
    }
    expect((await relay.call('GET', '/health')).status).toBe(200)
  })

  it('[C7] [LIFE-6] [LIFE-2] a write with unknown outcome answers 503 NOT_PERSISTED and sends no event', async () => {
    const lost = (): Promise<never> => Promise.reject(new RelayError('NOT_PERSISTED', 'The commit failed.'))
    await using relay = await startRestRelay({
      store: (real) => ({ ...real, write: lost, remove: lost }),
      residents: noResidents,
    })
    const answer = await relay.call('PUT', '/api/docs/doc', { as: ann, body: {} })
    expect([answer.status, answer.json.errorCode, answer.json.retryAfterMs]).toEqual([503, 'NOT_PERSISTED', 1000])
    expect(relay.events).toEqual([])
  })

  it('[REST-16] a write that loses against other processes five times answers 503', async () => {
    let writes = 0
    await using relay = await startRestRelay({
      store: (real) => ({
        ...real,
        async write(write) {
          writes++
          return { kind: 'conflict', current: await real.state(write.ref) }
        },
      }),
    })
    expect((await relay.call('PUT', '/api/docs/doc', { as: ann, body: {} })).json.errorCode).toBe('UNAVAILABLE')
    expect(writes).toBe(5)
  })

  it('[LIFE-2] the answer to a PUT waits for its commit', async () => {
    let commit = (): void => undefined
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    await using relay = await startRestRelay({
      store: (real) => ({
        ...real,
        async write(write) {
          await held
          return real.write(write)
        },
      }),
    })
    let answered = false
    const answer = relay.call('PUT', '/api/docs/doc', { as: ann, body: {} }).then((reply) => {
      answered = true
      return reply
    })
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect([answered, relay.events.length]).toEqual([false, 0])
    expect((await relay.call('GET', '/api/docs/doc', { as: ann })).status).toBe(404)
    commit()
    expect((await answer).status).toBe(200)
    expect(relay.events).toHaveLength(1)
  })
})
