import { createRelay, NeedsSignIn } from '@docrelay/client'
import { playedEnvironment } from '@docrelay/client/testing/played-environment'
import { jsonFrame, syncAckFrame, syncFrame } from '@docrelay/protocol/codec'
import { type ErrorFrame, SYNC, TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { OpenDocuments } from './open-documents.ts'

const ANN = { sub: 'ann', name: 'Ann', workspace: 'w', color: '#8250df' }
const NOTHING = new Y.Doc()
const JOINED = [
  jsonFrame(TAG.joined, { docId: 'minutes', level: 'owner', lineage: 'L', serverVersion: 1 }),
  syncFrame(SYNC.step1, Y.encodeStateVector(NOTHING)),
  syncFrame(SYNC.step2, Y.encodeStateAsUpdate(NOTHING)),
]
const refusal = (code: ErrorFrame['code']) => jsonFrame(TAG.error, { error: code, code, requestId: null })

/** The documents of a page, and an issuer and a relay that the test plays. */
function bench() {
  const { environment, sockets, settled, advance } = playedEnvironment()
  let isSignedIn = true
  const token = () => {
    if (!isSignedIn) throw new NeedsSignIn()
    return 'a.token'
  }
  const relay = createRelay({ url: 'https://relay.example', token, environment })
  const documents = new OpenDocuments(relay, ANN)
  /** Grants the token of the newest socket, and says `frames` then. */
  const grants = async (...frames: readonly Uint8Array[]) => {
    await settled()
    sockets.at(-1)?.open()
    sockets.at(-1)?.receive(jsonFrame(TAG.authResponse, { success: true, userId: 'ann' }), ...frames)
    await settled()
  }
  /** The issuer gives no token any more, and the relay ends the connection. */
  const signInEnds = async () => {
    isSignedIn = false
    sockets.at(-1)?.onclose?.({ code: 4401, reason: 'token-expired' } as never)
    await advance(1_000)
  }
  const signInAgain = () => {
    isSignedIn = true
    relay.reconnect()
  }
  return { relay, documents, sockets, settled, grants, signInEnds, signInAgain }
}
const type = (ydoc: Y.Doc) => ydoc.getMap('fields').set('client', 1)

it('[CON-21] [CON-22] a document that is left while the sign-in has ended stays open, counts as unsaved, and is sent after signing in again', async () => {
  const { relay, documents, sockets, settled, grants, signInEnds, signInAgain } = bench()
  const live = documents.take('minutes')
  await grants(...JOINED, syncAckFrame(1))
  await signInEnds()
  type(live.ydoc)
  expect(live.state).toMatchObject({ link: 'stopped', saved: 'local' })
  const left = documents.leave(live)
  await settled()
  expect([documents.unsaved, documents.take('minutes') === live]).toEqual([true, true])
  void documents.leave(live)
  signInAgain()
  await grants(...JOINED)
  expect(live.state).toMatchObject({ link: 'live', saved: 'saving' })
  sockets.at(-1)?.receive(syncAckFrame(1))
  await left
  expect([documents.unsaved, documents.take('minutes') === live]).toEqual([false, false])
  await relay.close()
})

it('[CON-22] a document that is left with words that the relay refuses is closed, since the person has been told', async () => {
  const { relay, documents, grants } = bench()
  const live = documents.take('minutes')
  await grants(...JOINED, syncAckFrame(1))
  type(live.ydoc)
  const left = documents.leave(live)
  await grants(refusal('ERR_DOC_FULL'))
  await left
  expect([live.state.link, documents.unsaved]).toEqual(['stopped', false])
  await relay.close()
})
