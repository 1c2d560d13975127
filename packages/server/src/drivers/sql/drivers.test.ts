import { afterAll, describe } from 'vitest'
import { describeRevocationStoreContract } from '../../auth/revocations.contract.ts'
import { describeBlobLedgerContract } from '../../blobs/blob-ledger.contract.ts'
import { describeBlobReleaseContract } from '../../blobs/blob-release.contract.ts'
import { describeRegistryStoreContract } from '../../collections/registry-store.contract.ts'
import { describeCallStoreContract } from '../../documents/call-store.contract.ts'
import { describeDocumentHeadsContract } from '../../documents/document-heads.contract.ts'
import { describeDocumentStoreContract } from '../../documents/document-store.contract.ts'
import { describeFormerClientsContract } from '../../documents/former-clients.contract.ts'
import { describeRememberedWritesContract } from '../../documents/remembered-writes.contract.ts'
import { describeRecoveryStoreContract } from '../../recovery/recovery-store.contract.ts'
import { describeShareLinkStoreContract } from '../../share-links/share-link-store.contract.ts'
import { describeUpdateLogContract } from '../../sync/update-log.contract.ts'
import { emptyPostgres } from './testing/emptied-postgres.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { inProcess, reopenable, type StoreUnderTest, temporaryStore, throughThread } from './testing/store-under-test.ts'

/** Runs the contract of every storage port on a real engine. */
function describeContracts(name: string, open: () => Promise<StoreUnderTest>): void {
  describeDocumentStoreContract(name, open)
  describeDocumentHeadsContract(name, open)
  describeFormerClientsContract(name, open)
  describeRememberedWritesContract(name, open)
  describeCallStoreContract(name, open)
  describeUpdateLogContract(name, open)
  describeRevocationStoreContract(name, open)
  describeRegistryStoreContract(name, open)
  describeShareLinkStoreContract(name, open)
  describeRecoveryStoreContract(name, open)
  describeBlobLedgerContract(name, open)
  describeBlobReleaseContract(name, open)
}

describeContracts('SQLite', async () => {
  const { url, remove } = temporaryStore()
  return reopenable(url, inProcess, remove)
})

describeContracts('SQLite in its thread', async () => {
  const { url, remove } = temporaryStore()
  return reopenable(url, throughThread, remove)
})

const postgres = await openPostgresUnderTest()
if (typeof postgres === 'string') {
  process.stderr.write(`skipped: ${postgres}\n`)
  describe.skip(`PostgreSQL (${postgres})`, () => undefined)
} else {
  afterAll(() => postgres[Symbol.asyncDispose]())
  describeContracts('PostgreSQL', async () => {
    await emptyPostgres(postgres.url)
    return reopenable(postgres.url, inProcess, () => undefined)
  })
}
