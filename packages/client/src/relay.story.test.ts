import { platform } from './environment.ts'
import { NeedsSignIn } from './errors.ts'
import type { LiveDocument, OpenOptions } from './live/live-document.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { mcpAgent } from '../../server/src/test/mcp-agent.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../../server/src/test/relay-under-test.ts'

const ANN = { sub: 'ann', role: 'member' }
const BEN = { sub: 'ben', role: 'member' }
let server: RelayUnderTest
const opened: Relay[] = []
beforeAll(async () => {
  server = await startRelayUnderTest({
    mcp: 'public',
    env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '60', RELAY_WRITES_PER_SEC: '0' },
  })
})
afterEach(() => Promise.all(opened.splice(0).map((relay) => relay.close())))
afterAll(() => server?.[Symbol.asyncDispose]())

function relayOf(who: object = ANN, more: Partial<RelayOptions> = {}): Relay {
  const relay = createRelay({ url: server.baseUrl, token: () => server.token(who), ...more })
  opened.push(relay)
  return relay
}
let made = 0
async function newDocument(body: Record<string, unknown> = {}): Promise<string> {
  const id = `live-${++made}`
  await relayOf().documents.put(id, { name: id, ...body })
  return id
}
const field = (document: LiveDocument, key: string) =>
  document.ydoc.getMap('fields').set(key, { name: key, value: key.toUpperCase() })
async function storedFields(id: string): Promise<string[]> {
  const { fields } = (await relayOf().documents.get(id)) as { fields?: { fields: object } }
  return Object.keys(fields?.fields ?? {}).sort()
}
async function open(id: string, who: object = ANN, options: OpenOptions = {}): Promise<LiveDocument> {
  const document = relayOf(who).open(id, options)
  await until('the document to be live', () => document.state.link === 'live')
  return document
}
/** Resolves with the next event of this name. */
function next<E extends 'gone' | 'diverged'>(document: LiveDocument, event: E) {
  return new Promise<Parameters<Parameters<typeof document.on<E>>[1]>[0]>((resolve) => document.on(event, resolve))
}
/** An environment whose network can be cut. */
function cuttable() {
  const sockets = new Set<WebSocket>()
  let cut = false
  const openSocket = (url: string) => {
    const socket = new WebSocket(cut ? 'ws://127.0.0.1:1/' : url)
    sockets.add(socket)
    return socket as never
  }
  const cutNow = () => {
    cut = true
    for (const socket of sockets) socket.close()
  }
  return { environment: { openSocket }, cutNow, mend: () => (cut = false) }
}

describe('documents over REST', () => {
  it('[REST-21] pages of documents are followed by `next`, and `all` gives each document once', async () => {
    const names = ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']
    for (const name of names) await newDocument({ name })
    const { documents } = relayOf()
    const first = await documents.list({ q: 'page-', limit: 2 })
    const second = await documents.list({ q: 'page-', limit: 2, cursor: first.next })
    const third = await documents.list({ q: 'page-', limit: 2, cursor: second.next })
    const seen = [first, second, third].flatMap((page) => page.documents.map(({ name }) => name))
    expect([seen.toSorted(), third.next]).toEqual([names, null])
    const all: string[] = []
    for await (const { name } of documents.all({ q: 'page-', limit: 2 })) all.push(name)
    expect(all.toSorted()).toEqual(names)
  })

  it('[REST-16] a write with a wrong expectedVersion rejects with a code, details and a `retry` hint', async () => {
    const id = await newDocument()
    await expect(relayOf().documents.put(id, { name: 'x' }, { expectedVersion: 5 })).rejects.toMatchObject({
      name: 'RelayError',
      code: 'VERSION_CONFLICT',
      status: 409,
      details: { currentVersion: 1 },
      retry: 'after-change',
    })
  })

  it('[REST-30] metadata, delete, search, usage, calls and collections work, and take a signal', async () => {
    const relay = relayOf()
    const id = await newDocument({ richTextPages: [{ id: 'p', name: 'P', content: '<p>zanzibar</p>' }] })
    expect(await relay.documents.metadata(id)).toMatchObject({ id, access: 'owner', serverVersion: 1 })
    await until('the search to know the document', async () => (await relay.search('zanzibar')).hits.length > 0)
    expect(await relay.search('zanzibar')).toMatchObject({ hits: [{ docId: id, kind: 'prose' }], next: null })
    expect(await relay.calls.list(id)).toEqual({ calls: [], next: null })
    expect((await relay.usage()).docBytes).toBeGreaterThan(0)
    expect(await relay.collections.get()).toEqual({ collections: [], version: 0 })
    expect(await relay.styleProfiles.get()).toEqual({ profiles: [], version: 0 })
    await relay.documents.delete(id)
    await expect(relay.documents.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND', retry: 'never' })
    const reason = new Error('left the view')
    for (const call of [relay.usage, relay.documents.list, relay.collections.get] as const) {
      const owner = call === relay.usage ? relay : call === relay.documents.list ? relay.documents : relay.collections
      await expect(Reflect.apply(call, owner, [{ signal: AbortSignal.abort(reason) }])).rejects.toBe(reason)
    }
  })

  it('[AG-72] [AG-73] a tool call of an agent is listed, and can be undone', async () => {
    const id = await newDocument({ richTextPages: [{ id: 'p', name: 'P', content: '<p id="blk-a">One</p>' }] })
    const agent = await mcpAgent(server.mcpUrl, server.token(ANN))
    await agent.call('set_prose', { docId: id, pageId: 'p', id: 'blk-a', content: 'Two' })
    const { calls } = relayOf()
    const [made] = (await calls.list(id)).calls
    expect(made).toMatchObject({ tool: 'set_prose', by: 'ann', undoable: true })
    expect(await calls.undo(id, made?.callId ?? '')).toMatchObject({ changed: 1, kept: [], serverVersion: 3 })
    expect(JSON.stringify(await relayOf().documents.get(id))).toContain('One')
  })

  it('[AUTH-1] a call with an expired token is answered after one fresh token', async () => {
    const asked: boolean[] = []
    const token = ({ fresh }: { fresh: boolean }) => {
      asked.push(fresh)
      return fresh ? server.token(ANN) : server.token({ ...ANN, expiresInSec: -60 })
    }
    expect((await relayOf(ANN, { token }).documents.list({ limit: 1 })).documents.length).toBe(1)
    expect(asked).toEqual([false, true])
  })
})

describe('an open document', () => {
  it('[WS-64] flush resolves when everything so far is durable, and `link` and `saved` change independently', async () => {
    const id = await newDocument()
    const document = relayOf().open(id, { user: { id: 'ann', name: 'Ann', color: '#8250df' } })
    const seen: string[] = []
    document.on('state', ({ link, saved }) => seen.push(`${link} ${saved}`))
    await document.ready
    expect([document.level, document.state.link, document.awareness.getLocalState()]).toEqual([
      'owner',
      'live',
      { user: { id: 'ann', name: 'Ann', color: '#8250df' } },
    ])
    field(document, 'a')
    expect(document.state.saved).toBe('saving')
    expect(document.state.unsavedSince).not.toBe(null)
    await document.flush({ timeoutMs: 10_000 })
    expect([await storedFields(id), document.state.saved, document.state.unsavedSince]).toEqual([['a'], 'saved', null])
    expect([...new Set(seen)]).toEqual(['connecting saved', 'live saved', 'live saving'])
  })

  it('[WS-64] flush resolves while the person continues to type', async () => {
    const document = await open(await newDocument())
    let typed = 0
    const typing = setInterval(() => field(document, `k${typed++ % 50}`), 2)
    try {
      for (let round = 0; round < 3; round++) {
        field(document, 'mine')
        await document.flush({ timeoutMs: 10_000 })
      }
    } finally {
      clearInterval(typing)
    }
    await document.close({ flush: true })
  })

  it('[WS-64] flush rejects with TIMEOUT without a connection, with the reason of its signal, and with CLOSED', async () => {
    const { environment, cutNow } = cuttable()
    const document = relayOf(ANN, { environment }).open(await newDocument())
    await document.ready
    cutNow()
    await until('the loss', () => document.state.link === 'waiting')
    await document.flush()
    field(document, 'x')
    expect([document.state.saved, document.state.error?.code]).toEqual(['local', 'NETWORK'])
    await expect(document.flush({ timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    const reason = new Error('enough')
    await expect(document.flush({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(document.close({ flush: { timeoutMs: 20 } })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(document.state.link).not.toBe('stopped')
    const flushed = document.flush()
    await Promise.all([document.close(), expect(flushed).rejects.toMatchObject({ code: 'CLOSED' })])
  })

  it('[WS-64] `reconnect` sends what was typed without a connection', async () => {
    const { environment, cutNow, mend } = cuttable()
    const id = await newDocument()
    const document = relayOf(ANN, { environment }).open(id)
    await document.ready
    cutNow()
    await until('the loss', () => document.state.link === 'waiting')
    field(document, 'offline')
    mend()
    document.reconnect()
    await document.flush({ timeoutMs: 10_000 })
    expect(await storedFields(id)).toEqual(['offline'])
  })

  it('[WS-21] ready rejects for an unknown document and for one that the person may not read', async () => {
    await expect(relayOf().open('nowhere').ready).rejects.toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
    const document = relayOf(BEN).open(await newDocument())
    await expect(document.ready).rejects.toMatchObject({ code: 'ERR_VIEW_FORBIDDEN', retry: 'after-change' })
    await expect(document.flush()).rejects.toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
  })

  it('[WS-61] the event `level` is emitted at opening and whenever the level changes', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'ben', permission: 'view' }] })
    const document = await open(id, BEN)
    const levels: unknown[] = [document.level]
    document.on('level', (level) => levels.push(level))
    await relayOf().documents.setShares(id, [{ userId: 'ben', permission: 'edit' }])
    await until('the level', () => document.level === 'edit')
    expect(levels).toEqual(['view', 'edit'])
  })

  it('[WS-64] an undo manager undoes edits of this person and keeps edits of others', async () => {
    const id = await newDocument()
    const [ann, ben] = [await open(id), await open(id, { ...ANN })]
    const undo = ann.undoManager(['fields', 'shapes:board', 'prose:p'], { captureTimeout: 0 })
    field(ann, 'of-ann')
    field(ben, 'of-ben')
    await until('both', () => ann.ydoc.getMap('fields').size === 2)
    undo.undo()
    expect([...ann.ydoc.getMap('fields').keys()]).toEqual(['of-ben'])
  })
})

describe('how a document ends', () => {
  it('[WS-54] `gone` says that the document was deleted', async () => {
    const id = await newDocument()
    const relay = relayOf()
    const events: string[] = []
    relay.on('event', ({ eventType }) => events.push(eventType))
    const document = relay.open(id)
    await document.ready
    const gone = next(document, 'gone')
    expect(document.gone).toBeNull()
    await relayOf().documents.delete(id)
    expect(await gone).toEqual({ reason: 'deleted', successor: null, unsaved: false })
    expect(document.gone).toEqual({ reason: 'deleted', successor: null, unsaved: false })
    expect(events).toEqual(['deleted'])
    expect([document.state.link, document.state.saved, document.state.error?.code]).toEqual(['stopped', 'refused', 'ERR_DELETED'])
  })

  it('[WS-63] `gone` names the successor of a document that was restored', async () => {
    const id = await newDocument()
    const relay = relayOf()
    const document = await open(id)
    const gone = next(document, 'gone')
    await relay.recovery.capture(id)
    const [point] = await relay.recovery.list(id)
    const { newDocId } = await relay.recovery.restore(id, point?.id ?? '')
    expect(await gone).toEqual({ reason: 'restored', successor: newDocId, unsaved: false })
    const later = relayOf().open(id)
    await expect(later.ready).rejects.toMatchObject({ code: 'ERR_DELETED' })
    expect(later.gone).toEqual({ reason: 'restored', successor: newDocId, unsaved: false })
  })

  it('[WS-54] `gone` says that the person may not read the document any more', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'ben', permission: 'edit' }] })
    const document = await open(id, BEN)
    const gone = next(document, 'gone')
    await relayOf().documents.setShares(id, [])
    expect(await gone).toEqual({ reason: 'forbidden', successor: null, unsaved: false })
  })

  it('[WS-62] a copy of a former lineage is not merged: `diverged` offers to drop it or to make a document of it', async () => {
    const id = await newDocument()
    const { environment, cutNow, mend } = cuttable()
    const document = relayOf(ANN, { environment }).open(id)
    await document.ready
    cutNow()
    await until('the loss', () => document.state.link === 'waiting')
    field(document, 'typed-before')
    await relayOf().documents.delete(id)
    await relayOf().documents.put(id, { name: 'second life' }, { overrideTombstone: true })
    const diverged = next(document, 'diverged')
    mend()
    document.reconnect()
    const { error, localUpdate, discard, copyAs } = await diverged
    expect([error.code, error.details, document.state.saved]).toEqual([
      'ERR_LINEAGE',
      { lineage: (await relayOf().documents.metadata(id)).lineage },
      'refused',
    ])
    const kept = new Y.Doc()
    Y.applyUpdate(kept, localUpdate)
    expect(kept.getMap('fields').has('typed-before')).toBe(true)
    const copy = await copyAs(`${id}-copy`, { name: 'My copy' })
    expect([copy.state.saved, await storedFields(`${id}-copy`)]).toEqual(['saved', ['typed-before']])
    expect((await relayOf().documents.metadata(`${id}-copy`)).name).toBe('My copy')
    const anew = await discard()
    await anew.ready
    expect([anew.ydoc.getMap('fields').size, await storedFields(id)]).toEqual([0, []])
  })

  it('[WS-64] a refused edit emits `diverged`, flush rejects with its code, and `discard` begins anew', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'ben', permission: 'view' }] })
    const document = await open(id, BEN)
    const diverged = next(document, 'diverged')
    field(document, 'not-allowed')
    await expect(document.flush()).rejects.toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    const { error, discard } = await diverged
    expect(error.code).toBe('ERR_EDIT_FORBIDDEN')
    const anew = await discard()
    await anew.ready
    expect([anew.ydoc.getMap('fields').size, anew.state.saved, anew.level]).toEqual([0, 'saved', 'view'])
  })
})

describe('events of the workspace', () => {
  it('[WS-51] each event comes once, with and without an open document, and `resync` follows an interruption', async () => {
    const relay = relayOf()
    const seen: string[] = []
    let resyncs = 0
    relay.on('event', ({ eventType, docId }) => seen.push(`${eventType} ${docId}`))
    relay.on('resync', () => resyncs++)
    await until('the connection', () => resyncs === 1)
    const one = await newDocument()
    await until('the first event', () => seen.length === 1)
    const first = relay.open(one)
    await until('the change of the connection', () => resyncs === 2)
    const second = relay.open(one)
    await Promise.all([first.ready, second.ready])
    const two = await newDocument()
    await until('the second event', () => seen.length === 2)
    await first.close()
    await until('the next change', () => resyncs === 3)
    await second.close()
    await until('the last change', () => resyncs === 4)
    const three = await newDocument()
    await until('the third event', () => seen.length === 3)
    expect(seen).toEqual([`created ${one}`, `created ${two}`, `created ${three}`])
  })
})

describe('tokens and connections', () => {
  it('[WS-67] NeedsSignIn stops the document, with one event; `reconnect` goes on after the sign-in', async () => {
    const id = await newDocument()
    let signedIn = false
    const relay = relayOf(ANN, {
      token: () => {
        if (!signedIn) throw new NeedsSignIn('the session has ended')
        return server.token(ANN)
      },
    })
    const told: string[] = []
    relay.on('needsSignIn', ({ code }) => told.push(code))
    const document = relay.open(id)
    await until('the stop', () => document.state.link === 'stopped')
    await expect(relay.usage()).rejects.toMatchObject({ code: 'NEEDS_SIGN_IN' })
    expect([told, document.state.error?.code]).toEqual([['NEEDS_SIGN_IN'], 'NEEDS_SIGN_IN'])
    signedIn = true
    relay.reconnect()
    field(document, 'kept')
    await document.flush({ timeoutMs: 10_000 })
    expect(await storedFields(id)).toEqual(['kept'])
  })

  it('[WS-67] a document waits, and its state gives the reason, while the workspace has no connection left', async () => {
    const full = await startRelayUnderTest({ env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1' } })
    const pauses: number[] = []
    const after = (ms: number, run: () => void) => {
      pauses.push(ms)
      return platform.after(ms, run)
    }
    const relay = createRelay({ url: full.baseUrl, token: () => full.token(ANN), environment: { after } })
    try {
      await relay.documents.put('d', { name: 'd' })
      await relay.open('d').ready
      const second = relay.open('d')
      await until('the refusal', () => second.state.link === 'waiting')
      expect([second.state.error?.code, pauses.includes(60_000)]).toEqual(['ERR_WORKSPACE_CONNECTION_LIMIT', true])
    } finally {
      await relay.close()
      await full[Symbol.asyncDispose]()
    }
  })

  it('[WS-1] without a WebSocket, open and on throw a named error, and REST works', async () => {
    const relay = relayOf(ANN, { environment: { hasWebSocket: () => false } })
    for (const attempt of [() => relay.open('d'), () => relay.on('event', () => {})])
      expect(attempt).toThrow(expect.objectContaining({ name: 'RelayError', code: 'NO_WEBSOCKET' }))
    expect((await relay.usage()).docBytes).toBeGreaterThanOrEqual(0)
    const given = relayOf(ANN, { WebSocket: class extends WebSocket {} })
    await given.open(await newDocument()).ready
  })

  it.each(['', 'relay.example', 'ws://relay.example', '/relay'])('[WS-1] the address %j is refused with BAD_URL', (url) => {
    expect(() => createRelay({ url, token: () => '' })).toThrow(expect.objectContaining({ code: 'BAD_URL' }))
  })
})
