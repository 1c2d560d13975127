import 'fake-indexeddb/auto'
import { indexedDb } from './indexeddb.ts'
import type { LiveDocument } from './live/live-document.ts'
import type { StoredCopy } from './live/persistence.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type RelayUnderTest, startRelayUnderTest, until } from '../../server/src/test/relay-under-test.ts'

const DAY_MS = 86_400_000
const SCOPE = { origin: 'https://relay.example', workspace: '', sub: 'ann' }
let server: RelayUnderTest
const opened: Relay[] = []
beforeAll(async () => {
  server = await startRelayUnderTest({ env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '60', RELAY_TENANCY_MODE: 'shared' } })
})
afterEach(() => Promise.all(opened.splice(0).map((relay) => relay.close())))
afterAll(() => server?.[Symbol.asyncDispose]())

/** A device, whose stored data outlive the relay objects. */
function device() {
  const factory = new IDBFactory()
  return {
    factory,
    relay(who: { sub: string } = { sub: 'ann' }, more: Partial<RelayOptions> = {}): Relay {
      const token = () => server.token({ role: 'member', ...who })
      const relay = createRelay({ url: server.baseUrl, token, persist: indexedDb({ factory }), ...more })
      opened.push(relay)
      return relay
    },
  }
}
const OFFLINE = { environment: { openSocket: () => new WebSocket('ws://127.0.0.1:1/') as never } }
let made = 0
async function newDocument(more: object = {}): Promise<string> {
  const id = `copy-${++made}`
  await device()
    .relay()
    .documents.put(id, { name: id, ...more })
  return id
}
const memberOf = (...workspaces: string[]) => ({ sub: 'ann', wsp: workspaces.map((id) => ({ id, role: 'member' })) })
const fields = (document: LiveDocument) => [...document.ydoc.getMap('fields').keys()].sort()
const field = (document: LiveDocument, key: string) => document.ydoc.getMap('fields').set(key, { name: key, value: key })
/** Opens a document with a copy on the device, and makes durable edits. */
async function kept(relay: Relay, id: string, ...keys: string[]): Promise<LiveDocument> {
  const document = relay.open(id)
  await until('the copy', () => document.state.localCopy === 'on')
  for (const key of keys) field(document, key)
  await document.flush({ timeoutMs: 10_000 })
  return document
}
const updateOf = (key: string) => {
  const ydoc = new Y.Doc()
  ydoc.getMap('fields').set(key, 1)
  return Y.encodeStateAsUpdate(ydoc)
}

describe('copies of documents in IndexedDB', () => {
  it('[WS-62] a document opens from its copy without a connection, and words typed then are sent at the next opening', async () => {
    const [id, { relay }] = [await newDocument(), device()]
    await (await kept(relay(), id, 'online')).close()
    const offline = relay({ sub: 'ann' }, OFFLINE).open(id)
    await offline.ready
    expect([fields(offline), offline.state.localCopy]).toEqual([['online'], 'on'])
    field(offline, 'offline')
    expect(offline.state.saved).toBe('local')
    await offline.close()
    const again = relay().open(id)
    await again.ready
    expect(fields(again)).toEqual(['offline', 'online'])
    await again.flush({ timeoutMs: 10_000 })
    const stored = (await relay().documents.get(id)) as { fields: { fields: object } }
    expect(Object.keys(stored.fields.fields).sort()).toEqual(['offline', 'online'])
  })

  it('[WS-62] a copy of a former lineage emits `diverged` at every opening and is never merged', async () => {
    const [id, { relay }] = [await newDocument(), device()]
    await (await kept(relay(), id, 'first-life')).close()
    await relay().documents.delete(id)
    await relay().documents.put(id, { name: id }, { overrideTombstone: true })
    for (let opening = 0; opening < 2; opening++) {
      const document = relay().open(id)
      const { promise, resolve } = Promise.withResolvers<() => Promise<LiveDocument>>()
      document.on('diverged', ({ error, discard }) => {
        expect(error.code).toBe('ERR_LINEAGE')
        resolve(discard)
      })
      const discard = await promise
      expect(fields(document)).toEqual(['first-life'])
      if (opening === 0) {
        await document.close()
        continue
      }
      const anew = await discard()
      await until('the new copy', () => anew.state.localCopy === 'on')
      expect(fields(anew)).toEqual([])
      await anew.close()
    }
    const offline = relay({ sub: 'ann' }, OFFLINE).open(id)
    await offline.ready
    expect(fields(offline)).toEqual([])
  })

  it('[WS-62] a second person on the device does not get the copy of the first', async () => {
    const [id, { relay }] = [await newDocument({ sharedWith: [{ userId: 'ben', permission: 'edit' }] }), device()]
    await (await kept(relay(), id, 'of-ann')).close()
    const ben = relay({ sub: 'ben' }, OFFLINE).open(id)
    await until('the look for a copy', () => ben.state.link === 'waiting')
    expect([fields(ben), ben.state.localCopy]).toEqual([[], 'waiting'])
  })

  it('[WS-62] a copy is opened without a token where the application names the person', async () => {
    const [id, { relay }] = [await newDocument(), device()]
    await (await kept(relay(), id, 'kept')).close()
    const token = () => Promise.reject(new Error('no network'))
    const offline = relay({ sub: 'ann' }, { ...OFFLINE, token, userId: 'ann' }).open(id)
    await offline.ready
    expect([fields(offline), offline.state.error?.code ?? 'TOKEN_FAILED']).toEqual([['kept'], 'TOKEN_FAILED'])
    const nobody = relay({ sub: 'ann' }, { ...OFFLINE, token }).open(id)
    await until('the refusal', () => nobody.state.link === 'waiting')
    expect(nobody.state.localCopy).toBe('off')
  })
})

describe('copies and workspaces', () => {
  it('[WS-62] words typed into a copy while no workspace was named are sent when the workspace is named', async () => {
    const [id, { relay }] = [await newDocument(), device()]
    await (await kept(relay(), id, 'sent')).close()
    const offline = relay({ sub: 'ann' }, OFFLINE).open(id)
    await offline.ready
    field(offline, 'unsent')
    await offline.close()
    const named = relay(memberOf('other', 'default'), { workspace: 'default' }).open(id)
    await named.ready
    expect(fields(named)).toEqual(['sent', 'unsent'])
    await named.flush({ timeoutMs: 10_000 })
    const stored = (await relay().documents.get(id)) as { fields: { fields: object } }
    expect(Object.keys(stored.fields.fields).sort()).toEqual(['sent', 'unsent'])
  })

  it('[WS-62] copies of one life, made with and without a named workspace, become one', async () => {
    const persistence = indexedDb({ factory: new IDBFactory() })
    const open = (workspace: string) => persistence.open({ ...SCOPE, workspace }, 'd', () => 0)
    const keysIn = (copy: StoredCopy) => {
      const ydoc = new Y.Doc()
      Y.applyUpdate(ydoc, copy.content?.update ?? new Uint8Array())
      return [...ydoc.getMap('fields').keys()].sort()
    }
    await (await open('named')).begin('l1', updateOf('named'))
    await (await open('')).begin('l1', updateOf('unnamed'))
    expect([keysIn(await open('named')), (await open('')).content]).toEqual([['named', 'unnamed'], null])
    await (await open('')).begin('l2', updateOf('other-life'))
    expect(keysIn(await open('named'))).toEqual(['named', 'unnamed'])
  })
})

describe('the end of copies', () => {
  /** Whether the device still has the person's copy of the document. */
  const hasCopy = async (factory: IDBFactory, id: string, sub = 'ann', workspace = '') => {
    const scope = { origin: server.baseUrl, workspace, sub }
    return (await indexedDb({ factory }).open(scope, id, Date.now)).content !== null
  }

  it("[WS-62] signOut removes the person's copies, and leaves those of others", async () => {
    const [id, { relay, factory }] = [await newDocument({ sharedWith: [{ userId: 'ben', permission: 'edit' }] }), device()]
    await kept(relay({ sub: 'ben' }), id)
    const ann = relay()
    const document = await kept(ann, id, 'x')
    await ann.signOut()
    expect([await hasCopy(factory, id), await hasCopy(factory, id, 'ben'), document.state.link]).toEqual([false, true, 'stopped'])
    expect(() => ann.open(id)).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  })

  it("[WS-62] signOut removes the person's copies of every workspace, also those made without naming one", async () => {
    const { relay, factory } = device()
    const workspaces = ['', 'default', 'other']
    for (const workspace of workspaces) {
      const scope = { origin: server.baseUrl, workspace, sub: 'ann' }
      await (await indexedDb({ factory }).open(scope, `of-${workspace}`, Date.now)).begin('l1', updateOf('x'))
    }
    await relay(memberOf('default', 'other'), { workspace: 'default' }).signOut()
    const left = workspaces.map((workspace) => hasCopy(factory, `of-${workspace}`, 'ann', workspace))
    expect(await Promise.all(left)).toEqual([false, false, false])
  })

  it('[WS-22] a document unknown to the relay is not reported as deleted, and its copy keeps unsent words', async () => {
    const [id, { relay, factory }] = [await newDocument(), device()]
    await (await kept(relay(), id, 'sent')).close()
    // The application names no workspace, and the first one of the token is another now.
    const document = relay(memberOf('other', 'default')).open(id)
    const [gone, diverged]: [object[], string[]] = [[], []]
    document.on('gone', (event) => gone.push(event))
    document.on('diverged', ({ error }) => diverged.push(error.code))
    await document.ready
    field(document, 'unsent')
    await until('the refusal', () => document.state.link === 'stopped')
    expect([gone, diverged, document.state.saved]).toEqual([[], ['ERR_UNKNOWN_DOC'], 'refused'])
    field(document, 'later')
    await document.close()
    expect(await hasCopy(factory, id)).toBe(true)
    const again = relay().open(id)
    await again.flush({ timeoutMs: 10_000 })
    expect(fields(again)).toEqual(['later', 'sent', 'unsent'])
  })

  it('[WS-54] a copy is removed when the document is deleted, and when the person may not read it any more', async () => {
    const share = [{ userId: 'ben', permission: 'edit' }]
    for (const end of ['deleted', 'forbidden']) {
      const [id, { relay, factory }] = [await newDocument({ sharedWith: share }), device()]
      const document = await kept(relay({ sub: 'ben' }), id, 'x')
      const owner = device().relay()
      if (end === 'deleted') await owner.documents.delete(id)
      else await owner.documents.setShares(id, [])
      await until('the removal', () => document.state.localCopy === 'off')
      expect(await hasCopy(factory, id, 'ben')).toBe(false)
    }
  })

  it('[WS-62] a copy that was not used for 30 days is removed when any document is opened', async () => {
    const persistence = indexedDb({ factory: new IDBFactory() })
    let now = 1_000 * DAY_MS
    const open = (id: string) => persistence.open(SCOPE, id, () => now)
    await (await open('old')).begin('l1', updateOf('old'))
    await (await open('used')).begin('l1', updateOf('used'))
    now += 20 * DAY_MS
    await open('used')
    now += 11 * DAY_MS
    await open('any')
    expect([(await open('old')).content, (await open('used')).content?.lineage]).toEqual([null, 'l1'])
  })

  it('[WS-62] a tab keeps no copy any more after another tab cleared it', async () => {
    const [id, { relay, factory }] = [await newDocument(), device()]
    const document = await kept(relay(), id, 'x')
    await relay().signOut()
    field(document, 'later')
    await until('the end of the copy', () => document.state.localCopy === 'off')
    expect(await hasCopy(factory, id)).toBe(false)
  })
})

describe('a device that refuses', () => {
  it('[WS-62] when the quota refuses a write, the state of the copy is `off`, and the document goes on', async () => {
    const [id, { relay }] = [await newDocument(), device()]
    const put = IDBObjectStore.prototype.put
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('the quota is used up', 'QuotaExceededError')
    }
    try {
      const document = relay().open(id)
      await until('the refusal', () => document.state.localCopy === 'off')
      field(document, 'x')
      await document.flush({ timeoutMs: 10_000 })
      expect(document.state).toMatchObject({ link: 'live', saved: 'saved', localCopy: 'off' })
    } finally {
      IDBObjectStore.prototype.put = put
    }
  })

  it('[WS-62] many updates of a copy are merged, and the copy stays the same document', async () => {
    const persistence = indexedDb({ factory: new IDBFactory() })
    const copy = await persistence.open(SCOPE, 'd', () => 0)
    const ydoc = new Y.Doc()
    await copy.begin('l1', Y.encodeStateAsUpdate(ydoc))
    const writes: Promise<boolean>[] = []
    ydoc.on('update', (update: Uint8Array) => writes.push(copy.append(update)))
    for (let i = 0; i < 250; i++) ydoc.getArray('a').push([i])
    expect(new Set(await Promise.all(writes))).toEqual(new Set([true]))
    const { content } = await persistence.open(SCOPE, 'd', () => 0)
    const stored = new Y.Doc()
    Y.applyUpdate(stored, content?.update ?? new Uint8Array())
    expect(stored.getArray('a').toJSON()).toEqual(Array.from({ length: 250 }, (_, i) => i))
  })

  it('[WS-62] a copy whose updates cannot be merged keeps every one of them', async () => {
    const factory = new IDBFactory()
    const copy = await indexedDb({ factory }).open(SCOPE, 'd', () => 0)
    await copy.begin('l1', updateOf('x'))
    for (let i = 0; i < 99; i++) await copy.append(updateOf('x'))
    // Nothing in the relay makes such an update; a merge that runs out of memory ends in the same way.
    await expect(copy.append(Uint8Array.of(255))).rejects.toThrow()
    const rows = await new Promise((resolve, reject) => {
      const opening = factory.open('docrelay')
      opening.onerror = () => reject(opening.error)
      opening.onsuccess = () => {
        const counting = opening.result.transaction('updates').objectStore('updates').count()
        counting.onsuccess = () => resolve(counting.result)
      }
    })
    expect(rows).toBe(100)
  })
})
