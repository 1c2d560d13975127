import { jsonFrame, readJson, readSync, syncAckFrame, syncFrame } from '@docrelay/protocol/codec'
import { type ErrorFrame, type JoinedFrame, SYNC, TAG } from '@docrelay/protocol/frames'
import { afterEach, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type PlayedSocket, playedEnvironment } from '../testing/played-environment.ts'
import { SyncClient } from './sync-client.ts'

const clients: SyncClient[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
})

/** A connected client with a granted token. The test plays its relay, whose document is `content`. */
async function bench(content = new Y.Doc()) {
  const played = playedEnvironment()
  const doc = new Y.Doc()
  const url = 'ws://relay.example/ws'
  const client = new SyncClient({ url, docId: 'plan', doc, token: () => 'a.token', environment: played.environment })
  clients.push(client)
  client.connect()
  await played.settled()
  const socket = played.sockets[0] as PlayedSocket
  socket.open()
  socket.receive(jsonFrame(TAG.authResponse, { success: true, userId: 'ann' }))
  const joined = (level: JoinedFrame['level']) => jsonFrame(TAG.joined, { docId: 'plan', level, lineage: 'L', serverVersion: 1 })
  const step1 = () => syncFrame(SYNC.step1, Y.encodeStateVector(content))
  const step2 = () => syncFrame(SYNC.step2, Y.encodeStateAsUpdate(content))
  /** Answers a JOIN_DOC and the step1 behind it, as the relay does. */
  const answerJoin = (level: JoinedFrame['level']) => socket.receive(joined(level), step1(), step2())
  const level = (now: JoinedFrame['level']) => socket.receive(jsonFrame(TAG.joined, { docId: 'plan', level: now }))
  const ack = (ordinal: number) => socket.receive(syncAckFrame(ordinal))
  const refuse = (code: ErrorFrame['code'], frame?: number) =>
    socket.receive(jsonFrame(TAG.error, { error: code, code, requestId: null, ...(frame !== undefined && { frame }) }))
  /** The documents that the client joined and the messages with content that it sent, in order. */
  const sent = () =>
    socket.sent.flatMap((frame) => {
      if (frame[0] === TAG.joinDoc) return [`join ${(readJson(frame.subarray(1)) as { docId: string }).docId}`]
      const subType = frame[0] === TAG.sync ? readSync(frame.subarray(1))?.subType : undefined
      return subType === SYNC.step2 ? ['step2'] : subType === SYNC.update ? ['update'] : []
    })
  const edit = (key: string) => doc.getMap('fields').set(key, key)
  const shown = () => `${client.state.saved} ${client.state.refusal}`
  return { ...played, client, doc, socket, answerJoin, level, ack, refuse, sent, edit, shown }
}

describe('a client on a slow link', () => {
  it('[WS-49] waits longer than 5 s for an echo only while the whole document may be on its way to it', async () => {
    const { socket, answerJoin, ack, advance } = await bench()
    await advance(15_000 + 59_999)
    expect(socket.closedWith).toBe(null)
    answerJoin('edit')
    ack(1)
    await advance(15_000)
    expect(socket.closedWith).toBe(4000)
  })

  it('[WS-49] waits longer for an echo while a large message of its own is not acknowledged', async () => {
    const { socket, answerJoin, ack, edit, advance } = await bench()
    answerJoin('edit')
    ack(1)
    edit('words '.repeat(100_000))
    await advance(15_000 + 59_999)
    expect(socket.closedWith).toBe(null)
    ack(2)
    await advance(15_000)
    expect(socket.closedWith).toBe(4000)
  })
})

describe('a client that may only read', () => {
  /** An update in which two people format and delete the same text at the same time, so that a bold mark remains twice. */
  function deletedWhileBold() {
    const relay = new Y.Doc()
    relay.getText('page').insert(0, 'foo bar')
    const start = Y.encodeStateAsUpdate(relay)
    const [ann, ben] = [new Y.Doc(), new Y.Doc()]
    for (const doc of [ann, ben]) Y.applyUpdate(doc, start)
    const before = Y.encodeStateVector(relay)
    ben.getText('page').format(0, 3, { bold: true })
    ann.getText('page').delete(0, 3)
    return { relay, updates: [ben, ann].map((doc) => Y.encodeStateAsUpdate(doc, before)) }
  }

  it('[WS-64] sends no edit when formatting of others remains twice, and ends with the same content as the relay', async () => {
    const { relay, updates } = deletedWhileBold()
    const { doc, socket, answerJoin, ack, sent, shown } = await bench(relay)
    doc.getText('page')
    answerJoin('view')
    ack(1)
    for (const update of updates) socket.receive(syncFrame(SYNC.update, update))
    expect([sent(), shown()]).toEqual([['join plan', 'step2'], 'saved null'])
    const ofRelay: Uint8Array[] = []
    relay.on('update', (update) => ofRelay.push(update))
    for (const update of updates) Y.applyUpdate(relay, update, 'a client')
    // Two updates are of the writers, the third is the clean-up of the relay.
    expect(ofRelay).toHaveLength(3)
    for (const update of ofRelay) socket.receive(syncFrame(SYNC.update, update))
    expect(Y.encodeStateAsUpdate(doc)).toEqual(Y.encodeStateAsUpdate(relay))
    expect([sent(), shown()]).toEqual([['join plan', 'step2'], 'saved null'])
  })

  it('[WS-64] has nothing that the relay lacks after a whole document with duplicate formatting marks arrived', async () => {
    const { relay, updates } = deletedWhileBold()
    // Yjs does not clean up without a typed root.
    const untyped = new Y.Doc()
    for (const update of [Y.encodeStateAsUpdate(relay), ...updates]) Y.applyUpdate(untyped, update)
    const { doc, answerJoin, ack, sent, shown } = await bench(untyped)
    doc.getText('page')
    answerJoin('view')
    ack(1)
    expect(Y.encodeStateAsUpdate(doc)).toEqual(Y.encodeStateAsUpdate(untyped))
    expect([sent(), shown()]).toEqual([['join plan', 'step2'], 'saved null'])
  })

  it('[WS-64] gets no refusal for duplicate formatting marks that arrive before news of its lost right to write', async () => {
    const { relay, updates } = deletedWhileBold()
    const { doc, socket, answerJoin, ack, refuse, level, sent, shown } = await bench(relay)
    doc.getText('page')
    answerJoin('edit')
    ack(1)
    for (const update of updates) socket.receive(syncFrame(SYNC.update, update))
    // The relay has already withdrawn the right to write, and refuses all further messages.
    for (let ordinal = 2; ordinal <= sent().length - 1; ordinal++) refuse('ERR_EDIT_FORBIDDEN', ordinal)
    level('view')
    expect([sent(), shown()]).toEqual([['join plan', 'step2'], 'saved null'])
  })

  it('[WS-64] counts edits made without the right to write, and reports them as refused', async () => {
    const { answerJoin, ack, refuse, sent, edit, shown } = await bench()
    answerJoin('view')
    ack(1)
    edit('typed')
    expect([sent().at(-1), shown()]).toEqual(['update', 'saving null'])
    refuse('ERR_EDIT_FORBIDDEN', 2)
    ack(2)
    expect(shown()).toBe('refused ERR_EDIT_FORBIDDEN')
  })
})

describe('a client that joins again on the same socket because it may write again', () => {
  /** A client whose edit was refused while it could only read, and which has just joined again. */
  async function joinedAgain() {
    const made = await bench()
    made.answerJoin('view')
    made.ack(1)
    made.edit('early')
    made.refuse('ERR_EDIT_FORBIDDEN', 2)
    made.level('edit')
    expect([made.sent(), made.shown()]).toEqual([['join plan', 'step2', 'update', 'join plan'], 'refused ERR_EDIT_FORBIDDEN'])
    return made
  }

  it('[WS-40] counts an edit as saved by an ack of the new binding only, not by one of the former', async () => {
    const { client, answerJoin, ack, edit, sent, shown, advance } = await joinedAgain()
    ack(13)
    answerJoin('edit')
    await advance(1_000)
    edit('next')
    expect(sent().slice(-2)).toEqual(['step2', 'update'])
    ack(1)
    expect(client.progress).toEqual({ edits: 2, saved: 1 })
    ack(2)
    expect([client.progress.saved, shown()]).toEqual([2, 'saved null'])
  })

  it('[WS-64] ignores a refusal of the former binding', async () => {
    const { answerJoin, ack, refuse, shown } = await joinedAgain()
    refuse('ERR_BAD_UPDATE', 13)
    answerJoin('edit')
    ack(1)
    expect(shown()).toBe('saved null')
  })

  it('[WS-64] joins once however often its level changes before the answer, and again after a later refusal', async () => {
    const { answerJoin, level, ack, refuse, sent, edit, shown, advance } = await joinedAgain()
    level('view')
    level('edit')
    answerJoin('edit')
    ack(1)
    expect([sent().filter((each) => each === 'join plan').length, shown()]).toEqual([2, 'saved null'])
    await advance(1_000)
    level('view')
    edit('later')
    refuse('ERR_EDIT_FORBIDDEN', 2)
    level('edit')
    expect(sent().filter((each) => each === 'join plan')).toHaveLength(3)
  })

  it('[WS-24] opens a new socket when the relay refuses the join for too many joins', async () => {
    const { refuse, sockets, advance } = await joinedAgain()
    refuse('ERR_RATE_LIMIT')
    await advance(250)
    expect([sockets.length, sockets[0]?.closedWith]).toEqual([2, 4001])
  })
})
