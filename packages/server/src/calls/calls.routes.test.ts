import { refused } from '@docrelay/model/edit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { undoneBefore } from '../documents/edit-plan.ts'
import type { EditOutcome } from '../documents/residents.port.ts'
import { change, written } from '../documents/testing/document-writes.ts'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { RelayError } from '../kernel/errors.ts'

const ANN = { sub: 'ann', role: 'member' } as const
const CALL = {
  ...{ callId: 'call-1', tool: 'set_prose', sub: 'ann', client: null, caller: 'digest', changed: 1, removed: 0 },
  ...{ record: new TextEncoder().encode('{"prose":{}}'), blobReferences: [], undoes: [], answer: null },
}

let relay: RestRelay
/** The live document's answer to the undo. */
let edit: () => Promise<EditOutcome>
let isDown = false
beforeAll(async () => {
  relay = await startRestRelay({
    residents: { ...noResidents, isResident: () => true, edit: () => edit() },
    store: (real) => ({
      ...real,
      state: (ref) => (isDown ? Promise.reject(new RelayError('UNAVAILABLE', 'The database does not answer.')) : real.state(ref)),
    }),
  })
  expect((await relay.call('PUT', '/api/docs/d', { as: ANN, body: { name: 'D' } })).status).toBe(200)
  const state = await relay.storage.documents.state({ workspaceId: 'default', id: 'd' })
  if (state.kind !== 'document') throw new Error('no document')
  written(await relay.storage.documents.write(change(state.head, '{"name":"D"}', { call: CALL, nowMs: Date.now() })))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const undo = async () => {
  const { status, json } = await relay.call('POST', '/api/v1/docs/d/calls/call-1/undo', { as: ANN, body: {} })
  return { status, ...json }
}

describe('routes of calls when a document or the store is out of order', () => {
  it('[AG-73] [REST-14] an undo on a document whose log has a gap is 409 NEEDS_REPAIR with its id', async () => {
    edit = async () => refused('ERR_NEEDS_REPAIR', 'The log of the document has a gap.', { docId: 'd' }) as EditOutcome
    expect(await undo()).toMatchObject({ status: 409, errorCode: 'NEEDS_REPAIR', docId: 'd' })
  })

  it('[AG-73] [LIFE-6] an undo that may not be durable answers 503 NOT_PERSISTED and is not listed as done', async () => {
    edit = () => Promise.reject(new RelayError('NOT_PERSISTED', 'The commit failed.'))
    expect(await undo()).toMatchObject({ status: 503, errorCode: 'NOT_PERSISTED' })
    const { json } = await relay.call('GET', '/api/v1/docs/d/calls', { as: ANN })
    expect(json['calls']).toMatchObject([{ callId: 'call-1', undoable: true }])
  })

  it('[AG-72] [AG-73] an undo overtaken by another one that is no longer stored answers 503 UNAVAILABLE', async () => {
    edit = async () => undoneBefore()
    expect(await undo()).toMatchObject({ status: 503, errorCode: 'UNAVAILABLE' })
  })

  it('[AG-73] [REST-14] while the store does not answer, the list of calls and an undo are 503 UNAVAILABLE', async () => {
    isDown = true
    try {
      expect(await undo()).toMatchObject({ status: 503, errorCode: 'UNAVAILABLE' })
      const { status, json } = await relay.call('GET', '/api/v1/docs/d/calls', { as: ANN })
      expect([status, json['errorCode']]).toEqual([503, 'UNAVAILABLE'])
    } finally {
      isDown = false
    }
  })
})
