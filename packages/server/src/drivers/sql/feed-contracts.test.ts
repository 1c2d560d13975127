import { describeFeedStoreContract } from '../../feed/feed-store.contract.ts'
import { openFeedStore } from './testing/feed-store.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { temporaryStore } from './testing/store-under-test.ts'
import { afterAll } from 'vitest'

const directories: (() => void)[] = []
afterAll(() => {
  for (const remove of directories) remove()
})

describeFeedStoreContract('SQLite', async () => {
  const { url, remove } = temporaryStore()
  directories.push(remove)
  return openFeedStore(url)
})

await onPostgres((url) => describeFeedStoreContract('PostgreSQL', () => openFeedStore(url)))
