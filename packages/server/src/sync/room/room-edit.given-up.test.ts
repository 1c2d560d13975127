import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentWrite } from '../../documents/document-store.port.ts'
import { sharedSignal } from '../../kernel/given-up.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { recording, RoomFixture, setShape } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'
import { noWatch } from './room-host.ts'

const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 })

/** Lets the caller give up at the nth step of the work on the document, while the worker is busy and reads no messages. */
async function givenUpAt(step: number) {
  const caller = new AbortController()
  let steps = -1
  const watch = {
    ...noWatch,
    begin() {
      if (steps >= 0 && ++steps === step) caller.abort()
    },
  }
  const writes: DocumentWrite[] = []
  await using worker = new TestWorker(
    { ...at.storage, documents: recording(at.storage.documents, writes) },
    { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 }, watch },
  )
  const { head, room } = await at.openRoom(worker)
  const ann = await at.joined(room, {}, worker)
  const state = Y.encodeStateVector(ann.doc)
  const request = editRequest(head, 'set_prose', { pageId: 'p1', content: '<p>given up</p>', format: 'html' })
  steps = 0
  if (step === 0) caller.abort()
  const outcome = await worker.job(room, { kind: 'edit', request, givenUp: sharedSignal(caller.signal) })
  steps = -1
  const seen = { kind: outcome.kind, writes: writes.length, isUnchanged: Y.encodeStateVector(ann.doc).join() === state.join() }
  // The document accepts the next edit.
  const next = done(await editIn(worker, room, { ...request, args: { ...(request.args as object), content: '<p>next</p>' } }))
  setShape(ann, 'after')
  await until(() => ann.text().includes('>next<') && ann.settled === ann.ordinal)
  return { ...seen, versions: next.head.version - head.version, text: ann.text() }
}

const NOTHING = { kind: 'given-up', writes: 0, isUnchanged: true, versions: 1 }

describe('an edit whose caller gives up', () => {
  it('[MCP-15] an edit given up before it begins does not run', async () => {
    expect(await givenUpAt(0)).toMatchObject(NOTHING)
  })

  it('[MCP-15] an edit given up while it is computed writes nothing', async () => {
    expect(await givenUpAt(1)).toMatchObject(NOTHING)
  })

  it('[MCP-15] an edit given up while it is applied is undone', async () => {
    const outcome = await givenUpAt(2)
    expect(outcome).toMatchObject(NOTHING)
    expect(outcome.text).not.toContain('given up')
  })

  it('[MCP-15] an edit that its caller never gives up is committed', async () => {
    expect(await givenUpAt(100)).toMatchObject({ kind: 'edit', writes: 1, isUnchanged: false, versions: 2 })
  })
})
