import { NeedsSignIn } from '@docrelay/client'
import { deletedFor, field, joined, playedRelay, refusal } from '@docrelay/client/testing/played-relay'
import { syncAckFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import { filesUnderWay } from './files-under-way.ts'
import { OpenDocuments } from './open-documents.ts'

const ANN = { sub: 'ann', name: 'Ann', workspace: 'w', color: '#8250df' }

/** The open documents of a page, with an issuer and a relay that the test controls. */
function bench() {
  let isSignedIn = true
  const token = () => {
    if (!isSignedIn) throw new NeedsSignIn()
    return 'a.token'
  }
  const played = playedRelay({ token })
  const { relay, sockets, advance } = played
  const documents = new OpenDocuments(relay, ANN)
  /** Makes the issuer refuse tokens, and ends the connection. */
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

it('[CON-21] [CON-22] a document left after the sign-in ended stays open as unsaved, and is sent after signing in again', async () => {
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

it('[CON-22] a document left with words whose refusal was shown to the person is closed', async () => {
  const { relay, documents, says } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  field(live, 'x')
  await says(refusal('ERR_DOC_FULL'))
  await documents.leave(live)
  expect([live.state.link, documents.unsaved, documents.refused]).toEqual(['stopped', false, []])
  await relay.close()
})

it.each([
  ['a document that somebody restored', deletedFor('restored', 'minutes')],
  ['a document that was deleted and made anew', refusal('ERR_LINEAGE')],
  ['a document that is full', refusal('ERR_DOC_FULL')],
])(
  '[CON-24] words refused after the person left the document are reported in every view, and kept until seen: %s',
  async (_, frame) => {
    const { relay, documents, says } = bench()
    const live = documents.take('minutes')
    await says(...joined('minutes'), syncAckFrame(1))
    field(live, 'x')
    const told: (readonly unknown[])[] = []
    documents.watch(() => told.push(documents.refused))
    const left = documents.leave(live)
    await says(frame)
    await left
    expect([told.at(-1), documents.unsaved, live.isClosed]).toEqual([[live], true, false])
    expect([documents.take('minutes') === live, told.at(-1)]).toEqual([true, []])
    expect(live.gone?.unsaved ?? live.diverged?.error.code).toEqual(expect.anything())
    await documents.leave(live)
    expect([live.isClosed, documents.unsaved]).toEqual([true, false])
    await relay.close()
  },
)

it('[CON-24] a document whose refused words the relay accepts later is not reported any more, and closed', async () => {
  const { relay, documents, says, sockets, settled } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  field(live, 'x')
  const left = documents.leave(live)
  await says(refusal('ERR_DOC_FULL'))
  await left
  expect(documents.refused).toEqual([live])
  live.reconnect()
  await says(...joined('minutes'))
  for (let ordinal = 1; ordinal <= 3; ordinal++) sockets.at(-1)?.receive(syncAckFrame(ordinal))
  await settled()
  expect([live.isClosed, documents.refused, documents.unsaved]).toEqual([true, [], false])
  await relay.close()
})

it('[CON-24] a document that is left without words of the person is not reported, also when it did not exist', async () => {
  const { relay, documents, says } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  await documents.leave(live)
  const none = documents.take('none')
  const left = documents.leave(none)
  await says(refusal('ERR_UNKNOWN_DOC'))
  await left
  expect([documents.refused, documents.unsaved]).toEqual([[], false])
  await relay.close()
})

/** Starts to send a file. The test resolves the sending. */
function sending(underWay: ReturnType<typeof filesUnderWay>) {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const stops: AbortSignal[] = []
  const send = (stop: AbortSignal) => {
    stops.push(stop)
    return promise
  }
  return { taken: underWay.take({ name: 'a.txt', sizeBytes: 1, pageId: 'p' }, send), resolve, stops }
}

it('[CON-22] [CON-33] a document left while a file is being sent stays open until the file and its edit are saved', async () => {
  const { relay, documents, says, settled, sockets } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  const { taken, resolve } = sending(filesUnderWay(live))
  const left = documents.leave(live)
  await settled()
  expect([documents.unsaved, live.isClosed]).toEqual([true, false])
  field(live, 'a.txt')
  resolve(null)
  await taken
  await settled()
  expect([documents.unsaved, live.isClosed]).toEqual([true, false])
  sockets.at(-1)?.receive(syncAckFrame(2))
  await left
  expect([documents.unsaved, live.isClosed]).toEqual([false, true])
  await relay.close()
})

it('[CON-33] a file that failed unseen is reported until its note is closed, and does not count as unsaved', async () => {
  const { relay, documents, says } = bench()
  const live = documents.take('minutes')
  await says(...joined('minutes'), syncAckFrame(1))
  const underWay = filesUnderWay(live)
  const told = () => documents.failedFiles.map(({ file: { name, problem } }) => `${name}: ${problem}`)
  let changes = 0
  documents.watch(() => changes++)
  const end = underWay.watch(
    () => {},
    ({ pageId }) => pageId === 'p',
  )
  const { taken, resolve } = sending(underWay)
  const left = documents.leave(live)
  resolve('no space')
  await taken
  expect([told(), documents.unsaved, live.isClosed]).toEqual([[], false, false])
  changes = 0
  end()
  expect([told(), changes]).toEqual([['a.txt: no space'], 1])
  underWay.drop(underWay.files[0]?.key ?? 0)
  await left
  expect([told(), live.isClosed]).toEqual([[], true])
  await relay.close()
})

it('[CON-33] a cancelled file is neither sent to its end nor reported as failed', async () => {
  const { relay, documents } = bench()
  const underWay = filesUnderWay(documents.take('minutes'))
  const first = sending(underWay)
  await expect.poll(() => first.stops.length).toBe(1)
  underWay.drop(underWay.files[0]?.key ?? 0)
  first.resolve('stopped')
  await first.taken
  expect([first.stops[0]?.aborted, underWay.files, documents.unsaved]).toEqual([true, [], false])
  await relay.close()
})
