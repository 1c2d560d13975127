import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Reader } from '@docrelay/protocol/bytes'
import { awarenessFrame, readAwareness } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../../drivers/sql/storage.ts'
import { openStorageHere } from '../../drivers/sql/testing/storage-here.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { writeAwareness } from '../room/awareness.ts'
import { LIGHT_BOUNDS } from '../room/room-bounds.ts'
import { type Bench, startBench } from '../testing/gateway-bench.ts'
import { done, editRequest } from '../testing/room-editing.ts'
import { writeDocument } from '../testing/stored-document.ts'
import { TextEditor } from '../testing/text-editor.ts'
import { openDocumentWorkers } from '../workers/document-workers.ts'
import { LIGHT_HOME, openRoomHomes } from '../workers/room-homes.ts'
import type { WorkerPool } from '../worker-pool.port.ts'

describe('placing documents in the homes of rooms', () => {
  let folder: string
  let storage: Storage
  let homes: WorkerPool & AsyncDisposable
  let bench: Bench
  const opened: { readonly docId: string; readonly home: number }[] = []
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-homes-'))
    storage = await openStorageHere({ url: `sqlite:${join(folder, 'relay.db')}`, commitDelayMs: 4, log: silentLogger })
    homes = openRoomHomes({
      threads: openDocumentWorkers({
        count: 2,
        storagePort: () => storage.workerPort(),
        log: silentLogger,
        options: { first: 1 },
      }),
      documents: storage.documents,
      updates: storage.updates,
      recovery: storage.recovery,
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      log: silentLogger,
      // With `light`, the main loop never counts as full, although in a test it also runs clients and assertions.
      placement: 'light',
    })
    const post: WorkerPool['post'] = (home, message) => {
      if (message.kind === 'open') opened.push({ docId: message.ref.id, home })
      homes.post(home, message)
    }
    bench = await startBench({
      workers: {
        homeFor: (ref, sizeBytes) => homes.homeFor(ref, sizeBytes),
        keepApart: (ref) => homes.keepApart(ref),
        takes: (home, message) => homes.takes(home, message),
        post,
        onMessage: (listener) => homes.onMessage(listener),
        onMisplaced: (listener) => homes.onMisplaced(listener),
        onEnded: (listener) => homes.onEnded(listener),
      },
      settings: { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null },
      deps: { store: storage.documents },
      rooms: { store: storage.documents, idleMs: 100 },
    })
  })
  afterAll(async () => {
    await bench[Symbol.asyncDispose]()
    await homes[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const homesOf = (docId: string) => opened.filter((one) => one.docId === docId).map(({ home }) => home)

  const create = (id: string, more: object = {}) => writeDocument(storage.documents, { workspaceId: 'default', id }, more)

  async function editor(docId: string): Promise<TextEditor> {
    const made = new TextEditor(await bench.authed({}, ['ack']))
    made.start(docId)
    await made.client.next(TAG.sync)
    return made
  }

  /** Expects the text in every editor, and in a new editor that opens the document from the store after all others have left. */
  async function expectStored(docId: string, editors: readonly TextEditor[], text: string): Promise<void> {
    for (const one of editors) {
      await until(() => one.text.toString() === text)
      expect(one.client.of(TAG.error)).toEqual([])
      expect(one.client.socket.readyState).toBe(one.client.socket.OPEN)
      one.client.socket.close()
    }
    await until(() => !bench.rooms.isResident({ workspaceId: 'default', id: docId }))
    const late = await editor(docId)
    await until(() => late.text.toString() === text)
    late.client.socket.close()
  }

  it('[C1] [C8] a small document has its room on the main loop, and the text of two people is stored', async () => {
    await create('small')
    const [ann, bob] = [await editor('small'), await editor('small')]
    for (let i = 0; i < 40; i++) {
      const one = i % 2 === 0 ? ann : bob
      one.text.insert(one.text.length, `${i},`)
      await until(() => ann.text.length === bob.text.length)
    }
    expect(homesOf('small')).toEqual([LIGHT_HOME])
    await expectStored('small', [ann, bob], Array.from({ length: 40 }, (_, i) => `${i},`).join(''))
  })

  it('[C8] a document with a large body is opened in a document worker at once', async () => {
    await create('large', { note: 'x'.repeat(LIGHT_BOUNDS.stateBytes) })
    bench.rooms.sharingChanged(await headIn('large'))
    const one = await editor('large')
    one.text.insert(0, 'kept')
    await expectStored('large', [one], 'kept')
    expect(homesOf('large')[0]).not.toBe(LIGHT_HOME)
  })

  it('[C8] a document with a small body but a large log is opened in a document worker', async () => {
    await create('history')
    const [ann, bob] = [await editor('history'), await editor('history')]
    // Letters typed alternately at both ends make a large state of many structs, while the body stays small.
    for (let i = 0; i < 1_200; i++) ann.text.insert(i % 2 === 0 ? 0 : ann.text.length, `${i % 10}`)
    await until(() => bob.text.length === ann.text.length)
    await expectStored('history', [ann, bob], ann.text.toString())
    const homes = homesOf('history')
    expect(homes[0]).toBe(LIGHT_HOME)
    expect(homes.at(-1)).not.toBe(LIGHT_HOME)
  })

  it('[C8] [WS-40] a document that exceeds the bounds while two people type moves, and no edit is lost or doubled', async () => {
    await create('growing')
    const editors = [await editor('growing'), await editor('growing')]
    const typed: string[] = []
    for (let turn = 0; turn < 420; turn++) {
      for (const [index, one] of editors.entries()) {
        const word = `${index}.${turn} and some more words to fill the page;`
        one.text.insert(0, word)
        typed.push(word)
      }
      if (turn % 4 === 0) await wait(2)
    }
    const all = typed.toSorted()
    const wordsOf = (text: string) => text.split(/(?<=;)/).toSorted()
    await until(() => editors.every((one) => one.text.length === all.join('').length))
    for (const one of editors) expect(wordsOf(one.text.toString())).toEqual(all)
    expect(homesOf('growing')[0]).toBe(LIGHT_HOME)
    expect(homesOf('growing').at(-1)).not.toBe(LIGHT_HOME)
    await expectStored('growing', editors, editors[0]?.text.toString() ?? '')
  })

  it('[C8] a large paste into a small document and the words typed right after it arrive in order', async () => {
    await create('paste')
    const [ann, bob] = [await editor('paste'), await editor('paste')]
    ann.text.insert(0, 'before ')
    ann.text.insert(7, 'x'.repeat(LIGHT_BOUNDS.messageBytes + 1))
    ann.text.insert(ann.text.length, ' after')
    bob.text.insert(0, 'and bob ')
    await until(() => ann.text.length === bob.text.length && ann.text.length > LIGHT_BOUNDS.messageBytes + 15)
    expect(homesOf('paste')).toHaveLength(2)
    expect(homesOf('paste')[1]).not.toBe(LIGHT_HOME)
    await expectStored('paste', [ann, bob], ann.text.toString())
  })

  it('[C8] [WS-46] a paste just before leaving is kept, and the others see that the person left', async () => {
    const pasted = 'x'.repeat(LIGHT_BOUNDS.messageBytes + 1)
    for (const id of ['leave-1', 'leave-2', 'leave-3', 'leave-4', 'leave-5']) {
      await create(id)
      const [ann, bob] = [await editor(id), await editor(id)]
      ann.client.send(presenceOf(ann, 1))
      await bob.client.next(TAG.awareness)
      ann.text.insert(0, pasted)
      ann.text.insert(0, 'before ')
      ann.client.socket.close()
      await until(() => bob.text.toString() === `before ${pasted}`)
      await until(() => bob.client.of(TAG.awareness).some((frame) => frame.includes('null')))
      expect(homesOf(id)).toHaveLength(2)
      await expectStored(id, [bob], bob.text.toString())
    }
  })

  it('[C8] [WS-47] after a move, the next presence of a reconnected person has a newer clock than any that others have seen', async () => {
    await create('clocks')
    const [ann, bob] = [await editor('clocks'), await editor('clocks')]
    const clocksSeen = () => bob.client.of(TAG.awareness).map((frame) => clockOf(frame))
    ann.client.send(presenceOf(ann, 1))
    await until(() => clocksSeen().length === 1)
    ann.client.socket.close()
    await until(() => clocksSeen().length === 2)
    const again = await editor('clocks')
    again.client.send(presenceOf(ann, 1))
    await until(() => clocksSeen().length === 3)
    bob.text.insert(0, 'x'.repeat(LIGHT_BOUNDS.messageBytes + 1))
    await until(() => homesOf('clocks').length === 2 && again.text.length === bob.text.length)
    again.client.send(presenceOf(ann, 2))
    await until(() => clocksSeen().length === 5)
    expect(clocksSeen()).toEqual([1, 2, 3, 4, 5])
    await expectStored('clocks', [again, bob], bob.text.toString())
  })

  it('[C8] a small edit by a tool runs on the main loop, and for an edit that may take long the document moves first', async () => {
    const head = await create('tools')
    const one = await editor('tools')
    const edit = async (value: string) => {
      const outcome = await bench.rooms.edit(editRequest(head, 'set_fields', { fields: [{ name: 'f', value }] }))
      if (outcome === 'not-resident') throw new Error('the edit did not reach the room')
      return done(outcome)
    }
    await edit('short')
    expect(homesOf('tools')).toEqual([LIGHT_HOME])
    await edit('x'.repeat(LIGHT_BOUNDS.callBytes))
    expect(homesOf('tools')).toHaveLength(2)
    expect(homesOf('tools')[1]).not.toBe(LIGHT_HOME)
    await until(() => JSON.stringify(one.doc.getMap('fields')).includes('xxx'))
    expect(one.client.of(TAG.error)).toEqual([])
  })

  async function headIn(id: string) {
    const state = await storage.documents.state({ workspaceId: 'default', id })
    if (state.kind !== 'document') throw new Error('there is no document')
    return state.head
  }
})

function presenceOf({ doc }: TextEditor, clock: number): Uint8Array {
  const state = new TextEncoder().encode('{"user":{"name":"Ann"}}')
  return awarenessFrame(writeAwareness([{ client: doc.clientID, clock, state }]))
}

/** Returns the clock of the first state in a frame. */
function clockOf(frame: Uint8Array): number {
  const reader = new Reader(readAwareness(frame.subarray(1)) ?? frame)
  reader.varUint()
  reader.varUint()
  return reader.varUint()
}

async function until(holds: () => boolean, waitMs = 8_000): Promise<void> {
  const givenUp = patienceClock(waitMs)
  while (!holds()) {
    if (givenUp()) throw new Error(`it did not come to hold in time: ${holds.toString()}`)
    await wait(5)
  }
}
