import { systemClock } from '../../kernel/clock.ts'
import { describeOwnershipContract } from '../ownership.contract.ts'
import { fencedStores } from './fenced-stores.ts'
import { lastSeqIn, MemoryOwnership } from './memory-ownership.ts'
import { openTestStorage } from './worker-harness.ts'

describeOwnershipContract('in memory, beside a store without owners', async () => {
  const storage = await openTestStorage()
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
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  }
})
