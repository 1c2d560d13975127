import { describeRevocationStoreContract } from '../../../auth/revocations.contract.ts'
import { describeBlobLedgerContract } from '../../../blobs/blob-ledger.contract.ts'
import { describeBlobReleaseContract } from '../../../blobs/blob-release.contract.ts'
import { describeRegistryStoreContract } from '../../../collections/registry-store.contract.ts'
import { describeCallStoreContract } from '../../../documents/call-store.contract.ts'
import { describeDocumentHeadsContract } from '../../../documents/document-heads.contract.ts'
import { describeDocumentQuotaContract } from '../../../documents/document-quota.contract.ts'
import { describeDocumentStoreContract } from '../../../documents/document-store.contract.ts'
import { describeFormerClientsContract } from '../../../documents/former-clients.contract.ts'
import { describeRememberedWritesContract } from '../../../documents/remembered-writes.contract.ts'
import { describeRecoveryStoreContract } from '../../../recovery/recovery-store.contract.ts'
import { describeShareLinkStoreContract } from '../../../share-links/share-link-store.contract.ts'
import { describeUpdateLogContract } from '../../../sync/update-log.contract.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** Runs the contract of every storage port on a real engine. Each engine has its own test file, so that the engines run in parallel. */
export function describeStoreContracts(name: string, open: () => Promise<StoreUnderTest>): void {
  describeDocumentStoreContract(name, open)
  describeDocumentQuotaContract(name, open)
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
