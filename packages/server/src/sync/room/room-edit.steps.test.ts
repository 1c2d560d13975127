import { expect, it } from 'vitest'
import { sharedSignal } from '../../kernel/given-up.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { RoomFixture, setShape } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

const STEADY = { saveIdleMs: 60_000, saveLatestMs: 60_000 }
const at = new RoomFixture(STEADY)
const prose = { pageId: 'p1', content: '<p>by the tool</p>', format: 'html' } as const

/** A worker in which planning an edit takes long, by its own clock; `between` runs when the edit lets others have the worker. */
function slowWorker(between: () => void) {
  const order: string[] = []
  const { documents, updates } = at.storage
  let isEditing = false
  let spentMs = 0
  const worker = new TestWorker(
    {
      ...at.storage,
      documents: {
        ...documents,
        write: (given) => {
          if (given.bump) order.push('the edit is stored')
          return documents.write(given)
        },
      },
      updates: {
        ...updates,
        append: (records) => {
          if (isEditing) order.push('an edit of another document is stored')
          return updates.append(records)
        },
      },
    },
    {
      rooms: STEADY,
      processorMs: () => (isEditing ? (spentMs += 5) : spentMs),
      soon: (work) => {
        if (isEditing) between()
        setImmediate(work)
      },
    },
  )
  return {
    worker,
    order,
    edits: async <T>(edit: () => Promise<T>): Promise<T> => {
      isEditing = true
      const outcome = await edit()
      isEditing = false
      return outcome
    },
  }
}

it('[DIAG-17] between planning a long edit and applying it the worker stores edits of other documents', async () => {
  let person: Awaited<ReturnType<typeof at.joined>> | null = null
  const { worker, order, edits } = slowWorker(() => {
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
  expect(order.slice(0, 2)).toEqual(['an edit of another document is stored', 'the edit is stored'])
})

it('[DIAG-17] what people type into the document meanwhile waits for the edit, and both are kept', async () => {
  let person: Awaited<ReturnType<typeof at.joined>> | null = null
  const { worker, edits } = slowWorker(() => {
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

it('[DIAG-17] [MCP-15] a caller who gives up meanwhile gets nothing written', async () => {
  const caller = new AbortController()
  const { worker, order, edits } = slowWorker(() => caller.abort())
  await using _ = worker
  const { head, room } = await at.openRoom(worker)
  const task = { kind: 'edit', request: editRequest(head, 'set_prose', prose), givenUp: sharedSignal(caller.signal) } as const
  expect(await edits(() => worker.job(room, task))).toEqual({ kind: 'given-up' })
  expect(order).toEqual([])
})

it('[DIAG-17] a document that was closed meanwhile is not written to', async () => {
  let close: (() => void) | null = null
  const { worker, order, edits } = slowWorker(() => close?.())
  await using _ = worker
  const { head, room } = await at.openRoom(worker)
  close = () => worker.host.abandon()
  const outcome = await edits(() => worker.job(room, { kind: 'edit', request: editRequest(head, 'set_prose', prose) }))
  expect(outcome.kind).toBe('failed')
  expect(order).toEqual([])
})
