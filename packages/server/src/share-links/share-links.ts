import { createHash } from 'node:crypto'
import type { Access } from '../access/access.ts'
import type { Bucket, RateLimiter } from '../access/rate-limiter.port.ts'
import type { Documents } from '../documents/documents.ts'
import type { Readable } from '../documents/reader.ts'
import { auditFields, unknownDocument } from '../documents/writing.ts'
import { badRequest } from '../kernel/bad-request.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { ShareLink, ShareLinkStore } from './share-link-store.port.ts'

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/
const MAX_LIVE_LINKS = 50
const REDEEMS_PER_MINUTE = 10
/**
 * The bucket of one redeem. A caller has one such bucket for each redeem allowed per minute; each gives one token, and the next one a
 * minute later. [SHARE-4]
 */
const REDEEM: Bucket = { ratePerSec: 1 / 60, burst: 1 }

export interface ShareLinksDeps {
  readonly store: ShareLinkStore
  readonly documents: Pick<Documents, 'require' | 'grantView' | 'inTurn'>
  readonly rateLimiter: RateLimiter
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
}

/** Links that let anybody with the token read a document. Changes are durable when the promise resolves. [SHARE-1..SHARE-5] */
export interface ShareLinks {
  /** Creates a link. Only this answer contains the token; the store has its hash. */
  issue(access: Access, docId: string, expiresAtMs: number): Promise<{ readonly link: ShareLink; readonly token: string }>
  /** Returns the links that have not expired, newest first. */
  list(access: Access, docId: string): Promise<readonly ShareLink[]>
  revoke(access: Access, docId: string, linkId: string): Promise<void>
  /** Grants the caller the right to read and returns the document. */
  redeem(access: Access, token: string): Promise<Readable>
}

export function createShareLinks(deps: ShareLinksDeps): ShareLinks {
  const { store, documents, clock, random, log } = deps
  return {
    async issue(access, docId, expiresAtMs) {
      const { key } = await documents.require(access, docId, 'owner')
      const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
      const link = { id: newId('link-', 12, random), createdAtMs: clock.nowMs(), createdBy: access.sub, expiresAtMs }
      const outcome = await store.issue({ ...link, key, tokenHash: hashOf(token), maxLive: MAX_LIVE_LINKS })
      if (outcome === 'gone') return unknownDocument()
      if (outcome === 'full') {
        const message = `The document has ${MAX_LIVE_LINKS} live share links; revoke one first.`
        throw badRequest('shareLinks', message, { limit: MAX_LIVE_LINKS })
      }
      log.info('share-link.issued', 'a share link was issued', {
        ...auditFields(access, docId),
        linkId: link.id,
        expiresAt: new Date(expiresAtMs).toISOString(),
      })
      return { link, token }
    },
    async list(access, docId) {
      const { key } = await documents.require(access, docId, 'owner')
      return store.list(key, clock.nowMs())
    },
    async revoke(access, docId, linkId) {
      const { key } = await documents.require(access, docId, 'owner')
      if ((await store.revoke(key, linkId, clock.nowMs())) === 'unknown') throw unknownLink()
      // A redeem that has already found the link may still write its share. Waiting for this turn means that none does so after the answer.
      await documents.inTurn({ workspaceId: access.workspaceId, id: docId }, () => Promise.resolve())
      log.info('share-link.revoked', 'a share link was revoked', { ...auditFields(access, docId), linkId })
    },
    redeem: (access, token) => redeem(deps, access, token),
  }
}

/** Redeems a token. Every token that opens nothing gets the same answer, whatever the reason. [SHARE-4] */
async function redeem(deps: ShareLinksDeps, access: Access, token: string): Promise<Readable> {
  const retryAfterMs = await takeRedeem(deps.rateLimiter, access.sub)
  if (retryAfterMs !== null) {
    deps.metrics.add('relay_rate_limit_rejections_total', 1, { surface: 'redeem' })
    throw new RelayError('RATE_LIMITED', `At most ${REDEEMS_PER_MINUTE} share links are redeemed in a minute.`, { retryAfterMs })
  }
  const find = () => deps.store.find(access.workspaceId, hashOf(token), deps.clock.nowMs())
  const found = TOKEN.test(token) ? await find() : null
  // The share may wait for other writes of the document, and the link may be revoked or expire in that time.
  const isStillOpen = async () => (await find()) !== null
  const readable = found && (await deps.documents.grantView(access, { id: found.ref.id, key: found.key }, isStillOpen))
  if (found === null || readable === null) {
    deps.log.warn('share-link.refused', 'somebody redeemed a share link that does not exist or has expired', {
      audit: true,
      workspace: access.workspaceId,
      sub: access.sub,
    })
    throw unknownLink()
  }
  deps.log.info('share-link.redeemed', 'a share link was redeemed', {
    ...auditFields(access, found.ref.id),
    linkId: found.linkId,
    access: readable.reader.level,
  })
  return readable
}

/**
 * Takes a token from the first bucket that has one. Returns `null` on success, otherwise the time until the next token. A single bucket
 * would allow its burst plus what it refills meanwhile: twice the limit in the first minute.
 */
async function takeRedeem(rateLimiter: RateLimiter, sub: string): Promise<number | null> {
  let retryAfterMs = Number.POSITIVE_INFINITY
  for (let slot = 0; slot < REDEEMS_PER_MINUTE; slot++) {
    const take = await rateLimiter.take(`redeem:${slot}:${sub}`, REDEEM)
    if (take.taken) return null
    retryAfterMs = Math.min(retryAfterMs, take.retryAfterMs)
  }
  return retryAfterMs
}

function unknownLink(): RelayError {
  return new RelayError('NOT_FOUND', 'There is no such share link.', { resource: 'share-link' })
}

/** Hashes a token; only the hash is stored. A token has 256 random bits, so a fast hash is sufficient. [SHARE-2] */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
