import type { Storage } from '../../drivers/sql/storage.ts'
import type { RoomOptions } from '../room/room-host.ts'
import { TestWorker } from './worker-harness.ts'

/** Creates a worker in which planning an edit takes long by the worker's own clock. `between` runs when the edit lets other work run. */
export function slowWorker(storage: Storage, rooms: Partial<RoomOptions>, between: () => void) {
  const order: string[] = []
  const { documents, updates } = storage
  let isEditing = false
  let spentMs = 0
  const worker = new TestWorker(
    {
      ...storage,
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
          if (isEditing) order.push('an edit by a person is stored')
          return updates.append(records)
        },
      },
    },
    {
      rooms,
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
