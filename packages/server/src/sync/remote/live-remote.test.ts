import { vi } from 'vitest'
import type { Storage } from '../../drivers/sql/storage.ts'
import { benchesWith } from '../testing/gateway-bench.ts'
import { openRemoteRooms, OWNER } from '../testing/remote-bench.ts'

let storage: Storage | null = null

// Opens the stores of the suites as the node that owns the documents, because the statements of the stores compare the owner.
vi.mock('../../drivers/sql/testing/storage-here.ts', async (original) => {
  const { openStorageHere } = await original<typeof import('../../drivers/sql/testing/storage-here.ts')>()
  return {
    async openStorageHere(...[options]: Parameters<typeof openStorageHere>) {
      storage = await openStorageHere({ ...options, node: { inc: OWNER } })
      return storage
    },
  }
})

// Runs the suites that use real document workers and stores once more, with every room at another node.
benchesWith((deps) => openRemoteRooms(deps, storage?.ownership))
await import('../gateway/gateway-live.test.ts')
await import('../gateway/room-homes.story.test.ts')
