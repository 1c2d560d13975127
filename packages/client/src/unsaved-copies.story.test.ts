import 'fake-indexeddb/auto'
import { syncAckFrame } from '@docrelay/protocol/codec'
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { indexedDb } from './indexeddb.ts'
import type { GoneEvent } from './live/live-document.ts'
import type { Persistence } from './live/persistence.ts'
import { deletedFor, field, fields, joined, playedRelay, refusal } from './testing/played-relay.ts'

/** Opens a document with copies on the device, and waits for the first frame that it sends. */
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

describe('two tabs with one document', () => {
  /** The first tab has words that are not acknowledged; the second has none. */
  async function tabs() {
    const persist = indexedDb({ factory: new IDBFactory() })
    const first = await bench(persist)
    await first.says(...joined(), syncAckFrame(1))
    await expect.poll(() => first.document.state.localCopy).toBe('on')
    const second = await bench(persist)
    await second.says(...joined(), syncAckFrame(1))
    field(first.document, 'unsent')
    await expect.poll(() => first.relay.hasUnsavedCopies()).toBe(true)
    const close = () => Promise.all([first.relay.close(), second.relay.close()])
    return { persist, first, second, close }
  }

  it('[WS-62] a save of one tab leaves the unsaved mark of the other', async () => {
    const { persist, first, second, close } = await tabs()
    field(second.document, 'sent')
    await expect.poll(() => second.document.state.saved).toBe('saving')
    second.sockets.at(-1)?.receive(syncAckFrame(2))
    expect(second.document.state.saved).toBe('saved')
    await second.document.close()
    expect([await first.relay.hasUnsavedCopies(), first.document.state.saved]).toEqual([true, 'saving'])
    first.sockets.at(-1)?.receive(syncAckFrame(2))
    await first.document.close()
    const third = await bench(persist)
    expect([fields(third.document), await third.relay.hasUnsavedCopies()]).toEqual([['sent', 'unsent'], false])
    await Promise.all([close(), third.relay.close()])
  })

  it('[WS-62] unsaved words of a closed tab count as unsaved until another tab that opened them has sent them', async () => {
    const { persist, first, second, close } = await tabs()
    await first.relay.close()
    const third = await bench(persist)
    await third.says(...joined())
    field(second.document, 'sent')
    second.sockets.at(-1)?.receive(syncAckFrame(2))
    await second.document.close()
    expect(await third.relay.hasUnsavedCopies()).toBe(true)
    third.sockets.at(-1)?.receive(syncAckFrame(1))
    expect(third.document.state.saved).toBe('saved')
    await third.document.close()
    expect(await third.relay.hasUnsavedCopies()).toBe(false)
    await Promise.all([close(), third.relay.close()])
  })

  it('[WS-64] when the document ends, a tab that has saved everything keeps the copy for a tab that has not', async () => {
    const { persist, first, second, close } = await tabs()
    await first.says(deletedFor('restored'))
    await second.says(deletedFor('restored'))
    expect([(await first.gone).unsaved, (await second.gone).unsaved]).toEqual([true, false])
    await expect.poll(() => second.document.state.localCopy).toBe('off')
    await close()
    const later = await bench(persist)
    expect(fields(later.document)).toEqual(['unsent'])
    await later.document.dropCopy()
    expect(await later.relay.hasUnsavedCopies()).toBe(false)
    await later.relay.close()
  })
})

it('[WS-62] words that a former release marked as unsaved count as unsaved until they are acknowledged', async () => {
  const factory = new IDBFactory()
  const persist = indexedDb({ factory })
  const first = await bench(persist)
  await first.says(...joined(), syncAckFrame(1))
  field(first.document, 'x')
  await first.relay.close()
  await new Promise<void>((resolve) => {
    const opening = factory.open('docrelay')
    opening.onsuccess = () => {
      const copies = opening.result.transaction('copies', 'readwrite').objectStore('copies')
      copies.openCursor().onsuccess = ({ target }) => {
        const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result
        if (cursor === null) return resolve()
        const { marks: _, ...row } = cursor.value as { readonly marks: unknown }
        cursor.update(row).onsuccess = () => cursor.continue()
      }
    }
  })
  const second = await bench(persist)
  expect(await second.relay.hasUnsavedCopies()).toBe(true)
  await second.says(...joined(), syncAckFrame(1))
  await second.document.close()
  expect(await second.relay.hasUnsavedCopies()).toBe(false)
  await second.relay.close()
})

it('[WS-62] a device whose quota is used up still returns its unsaved words', async () => {
  const persist = indexedDb({ factory: new IDBFactory() })
  const first = await bench(persist)
  await first.says(...joined(), syncAckFrame(1))
  field(first.document, 'x')
  await first.relay.close()
  const { put } = IDBObjectStore.prototype
  IDBObjectStore.prototype.put = () => {
    throw new DOMException('the quota is used up', 'QuotaExceededError')
  }
  try {
    const second = await bench(persist)
    expect([fields(second.document), second.document.state]).toMatchObject([['x'], { saved: 'local', localCopy: 'on' }])
    field(second.document, 'y')
    await expect.poll(() => second.document.state.localCopy).toBe('off')
    await second.relay.close()
  } finally {
    IDBObjectStore.prototype.put = put
  }
})

it('[WS-67] a document whose copy does not open in 10 s opens without one', async () => {
  const never: Persistence = { open: () => new Promise(() => {}), clear: async () => {} }
  const { relay, sockets, advance } = playedRelay({ persist: never })
  const document = relay.open('plan')
  await advance(9_999)
  expect([sockets.length, document.state.localCopy]).toEqual([0, 'waiting'])
  await advance(1)
  await expect.poll(() => sockets.length).toBe(1)
  expect(document.state.localCopy).toBe('off')
  await relay.close()
})
