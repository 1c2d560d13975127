import { type KeySet, openKeySet } from '../auth/key-set.ts'
import { startRevocationPoll, TURN_SLACK_MS } from '../auth/revocation-poll.ts'
import { openRevocations, type Revocations } from '../auth/revocations.ts'
import type { Recheck } from '../auth/principal.ts'
import { createRecheck, createTokenVerifier } from '../auth/verify-token.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { observeTokens } from '../operation/observe.ts'
import { leaseOf } from './leases.ts'
import type { Base } from './base.ts'
import { type FeedPlaces, startRevocationFeed } from './feed.ts'

export interface Tokens {
  readonly keySet: KeySet
  readonly revocations: Revocations
  readonly verify: ReturnType<typeof createTokenVerifier>
  readonly recheck: Recheck
}

/** Loads revocations, then fetches keys, for at most 10 s. [AUTH-12, AUTH-14] */
export async function openTokens(
  base: Base,
  storage: Storage,
  places: FeedPlaces | null,
  opened: AsyncDisposableStack,
): Promise<Tokens> {
  const { config, clock, log } = base
  const { auth } = config
  const polling =
    auth.revocationPollingUrl !== null && auth.revocationPollingBearer !== null
      ? { url: auth.revocationPollingUrl, bearer: auth.revocationPollingBearer }
      : null
  const hasTransport = auth.revocationPushBearer !== null || polling !== null
  const revocations = await openRevocations({ store: storage.revocations, clock, log, hasTransport })
  if (places !== null) startRevocationFeed(base, storage, places.revocations, revocations, opened)
  if (polling) {
    const intervalMs = auth.revocationPollingIntervalSeconds * 1000
    const onUnreadable = (count: number) => base.metrics.add('relay_revocations_unreadable_total', count)
    const turn = places === null ? {} : { turn: leaseOf(base, storage, 'revocation poll', intervalMs + TURN_SLACK_MS, opened) }
    opened.use(startRevocationPoll({ ...polling, ...turn, intervalMs, revocations, clock, log, onUnreadable }))
  }
  const keySet = opened.use(openKeySet({ url: auth.jwksUrl, privateHttp: auth.allowHttpJwks, clock, log }))
  await keySet.firstFetch(10_000)
  const { issuer, audience, resource } = auth
  const verify = createTokenVerifier({ issuer, audience, resource, keySet, revocations, clock })
  observeTokens(base.metrics, keySet, revocations)
  return { keySet, revocations, verify, recheck: createRecheck({ revocations, clock }) }
}
