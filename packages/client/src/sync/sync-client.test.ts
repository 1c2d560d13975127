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

/** A client whose relay, which has `content`, is played by the test. It is connected and its token is granted. */
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
  /** What the relay answers to a JOIN_DOC and the step1 behind it. */
  const answerJoin = (level: JoinedFrame['level']) => socket.receive(joined(level), step1(), step2())
  const level = (now: JoinedFrame['level']) => socket.receive(jsonFrame(TAG.joined, { docId: 'plan', level: now }))
  const ack = (ordinal: number) => socket.receive(syncAckFrame(ordinal))
  const refuse = (code: ErrorFrame['code'], frame?: number) =>
    socket.receive(jsonFrame(TAG.error, { error: code, code, requestId: null, ...(frame !== undefined && { frame }) }))
  /** The documents that were joined and the messages with content that were sent, in order. */
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
  it('[WS-49] waits longer than 5 s for the echo of a heartbeat while the whole document may be on its way to it, and then no more', async () => {
    const { socket, answerJoin, ack, advance } = await bench()
    await advance(15_000 + 59_999)
    expect(socket.closedWith).toBe(null)
    answerJoin('edit')
    ack(1)
    await advance(15_000)
    expect(socket.closedWith).toBe(4000)
  })

  it('[WS-49] waits longer too while a large message of its own is not acknowledged', async () => {
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
