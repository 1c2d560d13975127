import { expect, it } from 'vitest'
import { sharedSignal } from '../../kernel/given-up.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { RoomFixture, setShape } from '../testing/room-fixture.ts'
import { slowWorker } from '../testing/slow-worker.ts'
import { until } from '../testing/worker-harness.ts'

const STEADY = { saveIdleMs: 60_000, saveLatestMs: 60_000 }
const at = new RoomFixture(STEADY)
const prose = { pageId: 'p1', content: '<p>by the tool</p>', format: 'html' } as const

it('[DIAG-17] between planning a long edit and applying it the worker stores edits of other documents', async () => {
  let person: Awaited<ReturnType<typeof at.joined>> | null = null
  const { worker, order, edits } = slowWorker(at.storage, STEADY, () => {
    if (person === null) return
    setShape(person, 'meanwhile')
    person = null
  })
  await using _ = worker
  const other = await at.openRoom(worker)
  const ann = await at.joined(other.room, {}, worker)
  person = ann
  const { head, room } = await at.openRoom(worker)
  done(await edits(() => editIn(worker, room, editRequest(head, 'set_prose', prose))))
  await until(() => ann.settled === ann.ordinal)
  expect(order.slice(0, 2)).toEqual(['an edit by a person is stored', 'the edit is stored'])
})

it('[DIAG-17] changes that people make between planning a long edit and applying it wait for the edit, and both are kept', async () => {
  let person: Awaited<ReturnType<typeof at.joined>> | null = null
  const { worker, edits } = slowWorker(at.storage, STEADY, () => {
    if (person === null) return
    setShape(person, 'meanwhile')
    person = null
  })
  await using _ = worker
  const { head, room } = await at.openRoom(worker)
  const ann = await at.joined(room, {}, worker)
  person = ann
  const outcome = done(await edits(() => editIn(worker, room, editRequest(head, 'set_prose', prose))))
  await until(() => ann.settled === ann.ordinal && ann.text().includes('by the tool'))
  expect(outcome.head.version).toBe(head.version + 1)
  await at.settle(room, worker)
  expect(JSON.stringify(await at.body(head))).toMatch(/meanwhile.*by the tool|by the tool.*meanwhile/)
})

it('[DIAG-17] [MCP-15] nothing is written for a caller who gives up between planning a long edit and applying it', async () => {
  const caller = new AbortController()
  const { worker, order, edits } = slowWorker(at.storage, STEADY, () => caller.abort())
  await using _ = worker
  const { head, room } = await at.openRoom(worker)
  const task = { kind: 'edit', request: editRequest(head, 'set_prose', prose), givenUp: sharedSignal(caller.signal) } as const
  expect(await edits(() => worker.job(room, task))).toEqual({ kind: 'given-up' })
  expect(order).toEqual([])
})

it('[DIAG-17] nothing is written to a document that is closed between planning a long edit and applying it', async () => {
  let close: (() => void) | null = null
  const { worker, order, edits } = slowWorker(at.storage, STEADY, () => close?.())
  await using _ = worker
  const { head, room } = await at.openRoom(worker)
  close = () => worker.host.abandon()
  const outcome = await edits(() => worker.job(room, { kind: 'edit', request: editRequest(head, 'set_prose', prose) }))
  expect(outcome.kind).toBe('failed')
  expect(order).toEqual([])
})
