import { NeedsSignIn } from '@docrelay/client'
import { field, joined, playedRelay, refusal } from '@docrelay/client/testing/played-relay'
import { syncAckFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import { OpenDocuments } from './open-documents.ts'

const ANN = { sub: 'ann', name: 'Ann', workspace: 'w', color: '#8250df' }

/** The documents of a page, and an issuer and a relay that the test plays. */
function bench() {
  let isSignedIn = true
  const token = () => {
    if (!isSignedIn) throw new NeedsSignIn()
    return 'a.token'
  }
  const played = playedRelay({ token })
  const { relay, sockets, advance } = played
  const documents = new OpenDocuments(relay, ANN)
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
  return { ...played, documents, signInEnds, signInAgain }
}

it('[CON-21] [CON-22] a document that is left while the sign-in has ended stays open, counts as unsaved, and is sent after signing in again', async () => {
  const { relay, documents, sockets, settled, says, signInEnds, signInAgain } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  await signInEnds()
  field(live, 'x')
  expect(live.state).toMatchObject({ link: 'stopped', saved: 'local' })
  const left = documents.leave(live)
  await settled()
  expect([documents.unsaved, documents.take('minutes') === live]).toEqual([true, true])
  void documents.leave(live)
  signInAgain()
  await says(...joined('minutes'))
  expect(live.state).toMatchObject({ link: 'live', saved: 'saving' })
  sockets.at(-1)?.receive(syncAckFrame(1))
  await left
  expect([documents.unsaved, documents.take('minutes') === live]).toEqual([false, false])
  await relay.close()
})

it('[CON-22] a document that is left with words that the relay refuses is closed, since the person has been told', async () => {
  const { relay, documents, says } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  field(live, 'x')
  const left = documents.leave(live)
  await says(refusal('ERR_DOC_FULL'))
  await left
  expect([live.state.link, documents.unsaved]).toEqual(['stopped', false])
  await relay.close()
})
