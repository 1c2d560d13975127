import { serialize } from 'node:v8'
import { MessagePort } from 'node:worker_threads'
import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { afterEach, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { createDocument, openTestStorage, until } from '../testing/worker-harness.ts'
import type { FromWorker } from '../worker-messages.ts'
import { packFromWorker, packToWorker } from './document-batch.ts'
import { LightHome } from './light-home.ts'

afterEach(() => vi.restoreAllMocks())

const EDITS = 5
const TYPED = 'a character'
/** Keeps the body of the document from being stored during a test. */
const NO_SAVES = { saveIdleMs: 600_000, saveLatestMs: 600_000 }

/** Returns the bytes of a message that is sent between threads. */
const bytesOf = (message: unknown): number => serialize(message).length

/** Describes a message by its kind and the names of its members. */
function shapeOf(message: unknown): string {
  if (Array.isArray(message)) return `[${message.map(shapeOf).join(', ')}]`
  const members = Object.entries(message as Readonly<Record<string, unknown>>)
  const { kind } = message as { readonly kind?: unknown }
  return `${typeof kind === 'string' ? `${kind} ` : ''}${members
    .map(([name]) => name)
    .filter((name) => name !== 'kind')
    .join(' ')}`
}

/** Yields updates of equal length: the same client sets the same key of a map again and again. */
function* updates(): Generator<Uint8Array> {
  const doc = new Y.Doc()
  doc.clientID = 1_000
  for (let clock = 0; ; clock++) {
    const before = Y.encodeStateVector(doc)
    doc.getMap('fields').set('f', TYPED)
    yield Y.encodeStateAsUpdate(doc, before)
  }
}

/** Opens a document on the main loop, over a store in this thread, so that the test can see the messages of both. */
async function openDocument() {
  await using opened = new AsyncDisposableStack()
  const storage = opened.use(await openTestStorage())
  const got: FromWorker[] = []
  const { documents, updates: log, recovery } = storage
  const given = { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLogger }
  const home = opened.use(
    new LightHome({ documents, updates: log, recovery, ...given, rooms: NO_SAVES, deliver: (message) => got.push(message) }),
  )
  const head = await createDocument(documents)
  const room = { room: 1, connection: 1, join: 1 }
  home.post({ kind: 'open', room: 1, ref: { workspaceId: head.workspaceId, id: head.id }, key: head.key })
  home.post({ kind: 'join', ...room, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true })
  const typed = updates()
  let ordinal = 0
  const edit = async (): Promise<void> => {
    const payload = syncFrame(SYNC.update, typed.next().value as Uint8Array).subarray(1)
    home.post({ kind: 'sync', ...room, ordinal: ++ordinal, payload })
    await until(() => got.some((message) => message.kind === 'settled' && message.ordinal === ordinal))
  }
  // The first edit makes the room build its Y.Doc.
  await edit()
  const all = opened.move()
  return { edit, got, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

it('[LIFE-7] in a relay of one node, an edit needs one message to the storage thread and one back, and neither names an owner', async () => {
  await using document = await openDocument()
  const posted: unknown[] = []
  const original = MessagePort.prototype.postMessage
  vi.spyOn(MessagePort.prototype, 'postMessage').mockImplementation(function (this: MessagePort, ...args) {
    posted.push(structuredClone(args[0]))
    return original.apply(this, args)
  })
  for (let edit = 0; edit < EDITS; edit++) await document.edit()
  const append = '[appends ids counts keys afterSeqs timesMs lengths actors actorOf catchUps removals bytes]'
  expect(posted.map(shapeOf)).toEqual(Array.from({ length: EDITS }, () => [append, 'replies appended']).flat())
  expect([...new Set(posted.map(bytesOf))]).toEqual([238, 60])
})

it('[LIFE-7] in a relay of one node, an edit sends its update and its acknowledgement to the gateway, without a sequence', async () => {
  await using document = await openDocument()
  document.got.length = 0
  for (let edit = 0; edit < EDITS; edit++) await document.edit()
  const told = document.got.filter(({ kind }) => kind !== 'spent' && kind !== 'report')
  expect(told.map(shapeOf)).toEqual(
    Array.from({ length: EDITS }, () => ['updates room updates senders', 'settled connection join ordinal']).flat(),
  )
})

it('[LIFE-7] in a relay of one node, an edit takes 6 more bytes than its own length to a document worker, and 9 more bytes back', () => {
  const update = updates().next().value as Uint8Array
  const payload = syncFrame(SYNC.update, update).subarray(1)
  const { batch: there } = packToWorker([{ kind: 'sync', room: 1, connection: 2, join: 1, ordinal: 3, payload }])
  const { batch: back } = packFromWorker([
    { kind: 'updates', room: 1, updates: [update], senders: [2] },
    { kind: 'settled', connection: 2, join: 1, ordinal: 3 },
  ])
  // The 6 bytes are the kind, four numbers and a length.
  expect([there.hot.length - payload.length, there.rest]).toEqual([6, []])
  // The 9 bytes are two kinds, six numbers and a length.
  expect([back.hot.length - update.length, back.rest]).toEqual([9, []])
})
