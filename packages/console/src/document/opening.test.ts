import { joined, playedRelay, refusal } from '@docrelay/client/testing/played-relay'
import { NeedsSignIn } from '@docrelay/client'
import { syncAckFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import { OpenDocuments } from './open-documents.ts'
import { type Opening, watchOpening } from './opening.ts'

const ANN = { sub: 'ann', name: 'Ann', workspace: 'w', color: '#8250df' }

/** A page that opens a document. `mayAsk` says whether the issuer gives a token. */
function bench(mayAsk = () => true) {
  const token = () => {
    if (!mayAsk()) throw new NeedsSignIn()
    return 'a.token'
  }
  const played = playedRelay({ token })
  const documents = new OpenDocuments(played.relay, ANN)
  const told: Opening['kind'][] = []
  const watch = (live: Parameters<typeof watchOpening>[0]) => watchOpening(live, ({ kind }) => told.push(kind))
  return { ...played, documents, told, watch }
}

it('[CON-21] [CON-24] a document that failed to open without a sign-in is shown after signing in again', async () => {
  let isSignedIn = false
  const { relay, documents, told, watch, says, settled } = bench(() => isSignedIn)
  watch(documents.take('plan'))
  await settled()
  expect(told.at(-1)).toBe('failed')
  isSignedIn = true
  relay.reconnect()
  expect(told.at(-1)).toBe('opening')
  await says(...joined(), syncAckFrame(1))
  expect(told.at(-1)).toBe('open')
  await relay.close()
})

it('[CON-24] a document that the person may not read opens at a later try, once the person may', async () => {
  const { relay, documents, told, watch, says } = bench()
  const first = documents.take('plan')
  const end = watch(first)
  await says(refusal('ERR_VIEW_FORBIDDEN'))
  expect(told.at(-1)).toBe('failed')
  const second = documents.again(first)
  end()
  watch(second)
  await documents.leave(first)
  await says(refusal('ERR_VIEW_FORBIDDEN'))
  expect(told.at(-1)).toBe('failed')
  const third = documents.again(second)
  watch(third)
  await documents.leave(second)
  expect(documents.take('plan')).toBe(third)
  await says(...joined(), syncAckFrame(1))
  expect(told.at(-1)).toBe('open')
  await relay.close()
})
