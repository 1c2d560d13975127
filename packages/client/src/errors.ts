import type { WireErrorCode } from '@docrelay/protocol/codes'
import { isRestErrorCode, REST_CODES, type RestErrorCode, type Retry } from '@docrelay/protocol/rest-codes'

/** What a caller can do about each code of an ERROR frame. */
const WIRE_CODES = {
  ERR_UNKNOWN_DOC: 'never',
  ERR_DELETED: 'never',
  ERR_RATE_LIMIT: 'later',
  ERR_MESSAGE_TOO_LARGE: 'after-change',
  ERR_VIEW_FORBIDDEN: 'after-change',
  ERR_EDIT_FORBIDDEN: 'after-change',
  ERR_NOT_AUTHENTICATED: 'now',
  ERR_BAD_FRAME: 'never',
  ERR_BAD_UPDATE: 'never',
  ERR_DOC_FULL: 'after-change',
  ERR_SYNC_GAP: 'now',
  ERR_LINEAGE: 'after-change',
  ERR_NOT_PERSISTED: 'later',
  ERR_UNAVAILABLE: 'later',
} as const satisfies Record<WireErrorCode, Retry>

/** Codes that the client itself gives to errors, and what a caller can do about each. */
const CLIENT_CODES = {
  /** No answer: no network, no relay at the address, or CORS. */
  NETWORK: 'later',
  /** The answer is not the relay's, for example a proxy's, or has a code of a newer relay, which is then in `details.errorCode`. */
  UNEXPECTED_ANSWER: 'later',
  /** `token()` failed, or returned something that is not a token. */
  TOKEN_FAILED: 'later',
  /** `token()` threw NeedsSignIn. */
  NEEDS_SIGN_IN: 'after-change',
  /** The platform has no WebSocket, like Node 20, and the application gave none. */
  NO_WEBSOCKET: 'after-change',
  /** The workspace has reached its limit of connections. */
  ERR_WORKSPACE_CONNECTION_LIMIT: 'later',
  /** The workspace has reached its limit of editors. */
  ERR_EDITOR_LIMIT: 'later',
  /** `flush` reached its time limit. */
  TIMEOUT: 'later',
  /** The document, or the whole relay object, was closed. */
  CLOSED: 'never',
} as const satisfies Record<string, Retry>

export type ClientErrorCode = keyof typeof CLIENT_CODES
/** Every code that a `RelayError` can have: those of REST, those of ERROR frames, and those of the client itself. */
export type RelayErrorCode = RestErrorCode | WireErrorCode | ClientErrorCode

export interface RelayErrorFacts {
  readonly details?: Readonly<Record<string, unknown>>
  /** The status of the answer, for an answer of REST. */
  readonly status?: number
  readonly retryAfterMs?: number | null
  readonly retry?: Retry
  readonly cause?: unknown
}

/** An error of the relay, of the way to the relay, or of the client itself, with a code for programs. */
export class RelayError extends Error {
  readonly code: RelayErrorCode
  /** Members of the answer beside the code, for example `currentVersion` of a VERSION_CONFLICT. */
  readonly details: Readonly<Record<string, unknown>>
  /** The status of the answer; `null` when the error is no answer of REST. */
  readonly status: number | null
  /** When a repeat of the call makes sense: now, later, after a change, or never. */
  readonly retry: Retry
  /** The wait before the next try, if the relay gives one. */
  readonly retryAfterMs: number | null

  constructor(code: RelayErrorCode, message: string, facts: RelayErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'RelayError'
    this.code = code
    this.details = facts.details ?? {}
    this.status = facts.status ?? null
    this.retry = facts.retry ?? retryOf(code)
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}

/**
 * Thrown by an application's `token()` when only the person can help: the client stops asking and tells the application
 * by the event `needsSignIn`.
 */
export class NeedsSignIn extends RelayError {
  constructor(message = 'The person has to sign in again.', facts: RelayErrorFacts = {}) {
    super('NEEDS_SIGN_IN', message, facts)
    this.name = 'NeedsSignIn'
  }
}

/** Whether the error is a `NeedsSignIn`. Compares names, not classes, because a bundle may hold this module twice. */
export function isNeedsSignIn(error: unknown): error is NeedsSignIn {
  return error instanceof Error && error.name === 'NeedsSignIn'
}

function retryOf(code: RelayErrorCode): Retry {
  if (isRestErrorCode(code)) return REST_CODES[code].retry
  return code in WIRE_CODES ? WIRE_CODES[code as WireErrorCode] : CLIENT_CODES[code as ClientErrorCode]
}
