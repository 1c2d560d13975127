import 'fake-indexeddb/auto'
import { syncAckFrame } from '@docrelay/protocol/codec'
import { IDBFactory } from 'fake-indexeddb'
import { expect, it } from 'vitest'
import { indexedDb } from './indexeddb.ts'
import type { GoneEvent } from './live/live-document.ts'
import type { Persistence } from './live/persistence.ts'
import { deletedFor, field, fields, joined, playedRelay, refusal } from './testing/played-relay.ts'

/** A document that was opened with copies on the device, as far as the first frame that it sends. */
async function bench(persist: Persistence) {
  const played = playedRelay({ persist })
  const document = played.relay.open('plan')
  const gone = new Promise<GoneEvent>((resolve) => document.on('gone', resolve))
  await expect.poll(() => played.sockets.length).toBe(1)
  return { ...played, document, gone }
}

it.each([
  ['with words that were not saved tells so, and its copy stays on the device until it is dropped', true],
  ['with everything saved removes its copy from the device', false],
])('[WS-63] [WS-54] the end of a document %s', async (_, unsaved) => {
  const persist = indexedDb({ factory: new IDBFactory() })
  const isKept = async () => {
    const scope = { origin: 'https://relay.example', workspace: '', sub: 'ann' }
    return (await persist.open(scope, 'plan', () => 0)).content !== null
  }
  const { relay, document, says, gone } = await bench(persist)
  await says(...joined(), syncAckFrame(1))
  await expect.poll(isKept).toBe(true)
  if (unsaved) field(document, 'unsent')
  await says(deletedFor('restored'))
  expect(await gone).toEqual({ reason: 'restored', successor: 'restored', unsaved })
  await document.close()
  await expect.poll(isKept).toBe(unsaved)
  await document.dropCopy()
  expect(await isKept()).toBe(false)
  await relay.close()
})

it.each([true, false])('[WS-62] [WS-63] the device knows whether a copy has words that were not saved: %s', async (unsaved) => {
  const persist = indexedDb({ factory: new IDBFactory() })
  const first = await bench(persist)
  await first.says(...joined(), syncAckFrame(1))
  expect(await first.relay.hasUnsavedCopies()).toBe(false)
  field(first.document, 'x')
  await first.settled()
  await expect.poll(() => first.relay.hasUnsavedCopies()).toBe(true)
  if (!unsaved) first.sockets.at(-1)?.receive(syncAckFrame(2))
  expect(first.document.state.saved).toBe(unsaved ? 'saving' : 'saved')
  await first.relay.close()

  const second = await bench(persist)
  expect([fields(second.document), await second.relay.hasUnsavedCopies()]).toEqual([['x'], unsaved])
  await second.says(refusal('ERR_DELETED'))
  expect((await second.gone).unsaved).toBe(unsaved)
  await second.relay.close()
})

it('[WS-62] words of an earlier page load that the relay has acknowledged count as unsaved no longer', async () => {
  const persist = indexedDb({ factory: new IDBFactory() })
  const first = await bench(persist)
  await first.says(...joined(), syncAckFrame(1))
  field(first.document, 'x')
  await first.relay.close()
  const second = await bench(persist)
  expect(await second.relay.hasUnsavedCopies()).toBe(true)
  await second.says(...joined(), syncAckFrame(1))
  expect(second.document.state.saved).toBe('saved')
  expect(await second.relay.hasUnsavedCopies()).toBe(false)
  await second.relay.close()
})
