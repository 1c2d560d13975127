import type { IncomingMessage, ServerResponse } from 'node:http'
import { mayCreate, refuse } from '../access/access.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { RoundTurns } from '../kernel/round-turns.ts'
import type { Timers } from '../kernel/timers.ts'
import type { Arrivals } from './arrivals.ts'
import type { BodyAccount, BodyHolder } from './body-budget.ts'
import type { Caller } from './caller.ts'
import { type BodyLimit, checkContentCoding, checkDeclaredLength, checkJsonType, readBody } from './request-body.ts'
import type { BodyPolicy, Route } from './route.ts'

/** Most bytes that the relay reads of a document from a viewer, who may not write it. */
const VIEWER_DOCUMENT_BYTES = 65_536

/** The body of a request, in the form that its route requires. */
export interface ReceivedBody {
  readonly bytes: Uint8Array
  /** The parsed JSON when the policy of the route is `json`. */
  readonly json: unknown
}

export const NO_BYTES: ReceivedBody = { bytes: new Uint8Array(0), json: undefined }

export interface ReceiveDeps {
  readonly parseJson: (bytes: Uint8Array, maxBytes: number, workspaceId: string) => Promise<unknown>
  readonly clock: Clock
  readonly timers: Timers
  /** The turns in which workspaces take parts of bodies. */
  readonly parts: RoundTurns
  readonly arrivals: Arrivals
  readonly metrics: Pick<Metrics, 'add'>
}

export interface BodyToReceive {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly caller: Caller | null
  readonly policy: BodyPolicy
  /** The limit in bytes of document routes. */
  readonly documentBodyBytes: number
  readonly account: BodyAccount
}

/** Whether the body is collected before the handler runs. */
export function takesBody({ body: { kind } }: Pick<Route, 'body'>): boolean {
  return kind === 'json' || kind === 'document'
}

/** Returns the holder whose share of memory a request's body takes. [H3] */
export function holderOf(route: Pick<Route, 'credential'>, caller: Caller | null): BodyHolder {
  if (route.credential === 'revocation-bearer') return { kind: 'internal' }
  if (caller === null) return { kind: 'viewers', workspaceId: '' }
  const { workspaceId, role } = caller.access
  return { kind: mayCreate(role) ? 'writers' : 'viewers', workspaceId }
}

/**
 * Reads a whole body: checks declared length and content type, reads the bytes, and parses them for JSON routes. [H2]
 * Throws the refusals of the limits and of the account, BAD_REQUEST when a body ends early or stalls, and the errors of
 * parsing.
 */
export async function receiveBody(asked: BodyToReceive, deps: ReceiveDeps): Promise<ReceivedBody> {
  const { incoming, outgoing, caller, policy, account } = asked
  const limit = policy.kind === 'json' ? jsonLimit(policy.maxBytes) : documentLimit(asked.documentBodyBytes, caller, deps)
  checkDeclaredLength(incoming.headers['content-length'], limit)
  checkJsonType(incoming.headers['content-type'])
  checkContentCoding(incoming.headers['content-encoding'])
  const workspaceId = caller?.access.workspaceId ?? ''
  const bytes = await readBody({ incoming, outgoing, limit, account }, { ...deps, workspaceId })
  if (policy.kind !== 'json') return { bytes, json: undefined }
  return { bytes, json: await deps.parseJson(bytes, policy.maxBytes, workspaceId) }
}

function jsonLimit(maxBytes: number): BodyLimit {
  return {
    maxBytes,
    tooLarge: () => new RelayError('BODY_TOO_LARGE', `The request body exceeds ${maxBytes} bytes.`, { maxBytes }),
  }
}

/**
 * Returns the limit for a document body. If the caller has a `max_doc_bytes`, a longer body is refused with that number. [REST-14
 * DOC_TOO_LARGE]
 */
function documentLimit(maxBytes: number, caller: Caller | null, deps: Pick<ReceiveDeps, 'metrics'>): BodyLimit {
  if (caller === null) return jsonLimit(maxBytes)
  const { role, limits } = caller.access
  // A viewer cannot write a document. Its short body is still read, so that errors in it are answered first. [REST-15, PERM-3]
  if (!mayCreate(role)) {
    return { maxBytes: VIEWER_DOCUMENT_BYTES, tooLarge: () => refuse({ role, level: 'view', needed: 'edit' }) }
  }
  const ceiling = limits.maxDocBytes
  if (ceiling === null) return jsonLimit(maxBytes)
  return {
    maxBytes,
    tooLarge(sizeBytes) {
      deps.metrics.add('relay_quota_rejections_total', 1, { kind: 'doc_size' })
      return new RelayError('DOC_TOO_LARGE', `The document of at least ${sizeBytes} bytes exceeds ${ceiling} bytes.`, {
        sizeBytes,
        maxBytes: ceiling,
        source: limits.maxDocBytesSource,
      })
    },
  }
}
