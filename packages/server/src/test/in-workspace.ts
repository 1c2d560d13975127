import type { TokenOptions } from '../auth/testing/test-issuer.ts'
import type { RelayUnderTest } from './relay-under-test.ts'

/**
 * Returns the relay with tokens for this workspace, unless their claims name another. `clients` gets a function for each opened client that ends
 * it.
 */
export function inWorkspace<R extends RelayUnderTest>(relay: R, workspace: string, clients: (() => void)[]): R {
  const within = (claims: TokenOptions = {}): TokenOptions => ({ workspace, ...claims })
  const members: Pick<RelayUnderTest, 'token' | 'rest' | 'sync'> = {
    token: (claims) => relay.token(within(claims)),
    rest: (claims) => relay.rest(within(claims)),
    sync(docId, claims, more) {
      const client = relay.sync(docId, within(claims), more)
      clients.push(() => client.destroy())
      return client
    },
  }
  // All other members, such as the address after a restart, come from the relay itself.
  return Object.assign(Object.create(relay) as R, members)
}
