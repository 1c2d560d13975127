import { jsonFrame, syncAckFrame, syncFrame } from '@docrelay/protocol/codec'
import { type ErrorFrame, SYNC, TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { createRelay } from '../relay.ts'
import { playedEnvironment } from '../testing/played-environment.ts'

/** A document that was just opened, and a relay that the test plays: it grants the token and then says `frames`. */
async function bench() {
  const { environment, sockets, settled } = playedEnvironment()
  const relay = createRelay({ url: 'https://relay.example', token: () => 'a.token', environment })
  const document = relay.open('plan')
  const says = async (...frames: readonly Uint8Array[]) => {
    await settled()
    const socket = sockets.at(-1)
    socket?.open()
    socket?.receive(jsonFrame(TAG.authResponse, { success: true, userId: 'ann' }), ...frames)
  }
  return { relay, document, sockets, settled, says }
}
const refusal = (code: ErrorFrame['code']) => jsonFrame(TAG.error, { error: code, code, requestId: null })

it('[WS-64] a document that was not there when it was opened is joined by `reconnect` once it is', async () => {
  const { relay, document, says } = await bench()
  await says(refusal('ERR_UNKNOWN_DOC'))
  await expect(document.ready).rejects.toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
  expect(document.state).toMatchObject({ link: 'stopped', saved: 'refused' })
  document.reconnect()
  expect(document.state).toMatchObject({ link: 'connecting', saved: 'saved', error: null })
  const nothing = new Y.Doc()
  await says(
    jsonFrame(TAG.joined, { docId: 'plan', level: 'owner', lineage: 'L', serverVersion: 1 }),
    syncFrame(SYNC.step1, Y.encodeStateVector(nothing)),
    syncFrame(SYNC.step2, Y.encodeStateAsUpdate(nothing)),
    syncAckFrame(1),
  )
  expect(document.state).toMatchObject({ link: 'live', saved: 'saved', level: 'owner', error: null })
  await relay.close()
})

it('[WS-62] `reconnect` leaves a copy of another life of the document as it is, and tells `diverged` once', async () => {
  const { relay, document, sockets, settled, says } = await bench()
  const told: string[] = []
  document.on('diverged', ({ error }) => told.push(error.code))
  await says(refusal('ERR_LINEAGE'))
  document.reconnect()
  await settled()
  expect([told, sockets.length, document.state.link]).toEqual([['ERR_LINEAGE'], 1, 'stopped'])
  await relay.close()
})
