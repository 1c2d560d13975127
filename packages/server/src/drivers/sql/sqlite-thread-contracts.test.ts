import { describeStoreContracts } from './testing/store-contracts.ts'
import { reopenable, temporaryStore, throughThread } from './testing/store-under-test.ts'

describeStoreContracts('SQLite in its thread', async () => {
  const { url, remove } = temporaryStore()
  return reopenable(url, throughThread, remove)
})
