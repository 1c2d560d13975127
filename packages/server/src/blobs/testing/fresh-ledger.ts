import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { newHash } from './ledger-requests.ts'

/** Opens one store for a suite, and gives it to each test with a workspace and a hash that no other test has. */
export function onFreshLedger<Store extends AsyncDisposable>(
  open: () => Promise<Store>,
  given: (store: Store, workspaceId: string, hash: string) => void,
): void {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store[Symbol.asyncDispose]())
  beforeEach(() => given(store, `ws-${randomUUID()}`, newHash()))
}
