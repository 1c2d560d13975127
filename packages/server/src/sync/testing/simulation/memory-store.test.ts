import { systemClock } from '../../../kernel/clock.ts'
import { systemRandom } from '../../../kernel/ids.ts'
import { describeDocumentHeadsContract } from '../../../documents/document-heads.contract.ts'
import { describeDocumentQuotaContract } from '../../../documents/document-quota.contract.ts'
import { describeDocumentStoreContract } from '../../../documents/document-store.contract.ts'
import { describeOwnershipContract } from '../../ownership.contract.ts'
import { describeUpdateLogContract } from '../../update-log.contract.ts'
import { fencedStores } from '../fenced-stores.ts'
import { lastSeqIn, MemoryOwnership } from '../memory-ownership.ts'
import { memoryDocuments, memoryRecovery } from './memory-documents.ts'
import { MemoryTables } from './memory-store.ts'
import { memoryUpdates } from './memory-updates.ts'

function memoryStorage() {
  const tables = new MemoryTables(systemRandom)
  return { documents: memoryDocuments(tables), updates: memoryUpdates(tables), recovery: memoryRecovery(tables) }
}

/** Committed rows stay in memory while the test runs, so `reopen` has nothing to do. */
const openStore = async () => ({ ...memoryStorage(), reopen: async () => {}, [Symbol.asyncDispose]: async () => {} })

describeDocumentStoreContract('the store of the simulation', openStore)
describeDocumentQuotaContract('the store of the simulation', openStore)
describeDocumentHeadsContract('the store of the simulation', openStore)
describeUpdateLogContract('the store of the simulation', openStore)
describeOwnershipContract('the stores of the simulation', async () => {
  const storage = memoryStorage()
  const ownership = new MemoryOwnership({ clock: systemClock, lastSeq: lastSeqIn(storage.updates) })
  let nodes = 0
  return {
    async join() {
      const inc = ++nodes
      return { inc, ownership: ownership.of(inc), ...fencedStores(storage, ownership, inc) }
    },
    silence: async (inc, ms) => ownership.silence(inc, ms),
    leave: async (inc) => ownership.silence(inc, Number.POSITIVE_INFINITY),
    robbedOf: async (inc) => ownership.robbedOf(inc),
    dateBackTakeover: async (key, ms) => ownership.dateBackTakeover(key, ms),
    [Symbol.asyncDispose]: async () => {},
  }
})
