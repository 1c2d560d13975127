import { describeStoreContracts } from './testing/store-contracts.ts'
import { inProcess, reopenable, temporaryStore } from './testing/store-under-test.ts'

describeStoreContracts('SQLite', async () => {
  const { url, remove } = temporaryStore()
  return reopenable(url, inProcess, remove)
})
