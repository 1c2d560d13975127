import type { Principal } from '../auth/principal.ts'
import type { Access } from '../access/access.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { RouteExchange } from '../kernel/exchange.ts'

/**
 * The credential that a route requires; the service decides finer rights. A route without a credential stops the start.
 * [H2]
 */
export type RouteCredential = 'none' | 'bearer' | 'revocation-bearer'

export type BodyPolicy =
  | { readonly kind: 'none' }
  /** Parsed JSON of at most `maxBytes`. */
  | { readonly kind: 'json'; readonly maxBytes: number }
  /** Raw document JSON up to the document limit; the handler gets the bytes. [REST-7] */
  | { readonly kind: 'document' }
  /** Any bytes: the handler gets them as they arrive, and counts them itself. [BLOB-3] */
  | { readonly kind: 'stream' }

export const NO_BODY = { kind: 'none' } as const satisfies BodyPolicy
/** The policy for JSON that is not a document. [REST-7] */
export const JSON_BODY = { kind: 'json', maxBytes: 2 * 1_048_576 } as const satisfies BodyPolicy

/** Bytes of a body around its value: member names, a version, white space. */
const ENVELOPE_BYTES = 1_024

/** Returns the policy for JSON around a value with a configured limit. The limit is never below that of other JSON. [REST-7] */
export function jsonBodyAround(maxValueBytes: number): BodyPolicy {
  return { kind: 'json', maxBytes: Math.max(JSON_BODY.maxBytes, maxValueBytes + ENVELOPE_BYTES) }
}

/** A route without its handler, as the reference and the pinned tables list it. Only routes made by tests lack an exchange. */
export type RouteDeclaration = Omit<Route, 'handle' | 'exchange'> & { readonly exchange: RouteExchange }

/**
 * One REST route as data: its handler and what it requires. Handlers contain no auth, no limits and no status mapping.
 */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /**
   * Path with `:name` members, e.g. `/api/docs/:id`. Routes under `/api/` are also served under `/api/v1/`. [REST-4]
   */
  readonly path: string
  readonly credential: RouteCredential
  readonly body: BodyPolicy
  /** The right that the route requires (its row of PERM-3), rendered into docs/reference/routes.md. */
  readonly needs: string
  readonly summary: string
  /** Requests and answers of the route. [REST-36] */
  readonly exchange?: RouteExchange
  /** True when the route has no copy under `/api/v1/`. [REST-4] */
  readonly unversioned?: true
  /** Headers of every response of the route, errors included. [REST-37] */
  headers?(context: {
    readonly params: Readonly<Record<string, string>>
    readonly origin: string
  }): Readonly<Record<string, string>>
  /** The route also answers while the relay drains. [LIFE-28] */
  readonly whileDraining?: true
  /** The path parameter that is a document id, for the log. [OPS-5] */
  readonly documentParam?: string
  /** Answers may be as large as a document or larger, so workspaces take turns at making them. [H10] */
  readonly largeAnswer?: true
  /** Refuses the role viewer before the body is read. True only where the role alone decides. [PERM-3] */
  readonly writersOnly?: true
  /** Checks the decoded path parameters before the body is read; throws RelayError. [REST-15] */
  checkParams?(params: Readonly<Record<string, string>>): void
  handle(request: RouteRequest): Promise<RouteReply>
}

export interface RouteRequest {
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  header(name: string): string | undefined
  /** True for HEAD, which runs the GET route; the body is then left out. */
  readonly isHead: boolean
  /** Present exactly when the credential of the route is `bearer`. */
  readonly caller: { readonly principal: Principal; readonly access: Access } | null
  readonly json: unknown
  readonly bytes: Uint8Array
  /**
   * The body of a `stream` route. Reading it throws BAD_REQUEST when the client ends early or is too slow, and at the end the refusal of a token
   * that has expired or was revoked meanwhile. [REST-7, AUTH-16]
   */
  readonly stream: AsyncIterable<Uint8Array>
  /** Aborted when the client leaves before its answer is sent. */
  readonly left: AbortSignal
  /** `<scheme>://<host>` of the request, taking X-Forwarded-Proto into account. */
  readonly origin: string
}

export type RouteReply =
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** JSON that is already serialised, in parts that are sent one after another. */
  | { readonly kind: 'json-bytes'; readonly parts: readonly Uint8Array[]; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'empty'; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'not-modified'; readonly headers?: Readonly<Record<string, string>> }
  /** JSON with the status of an error code that is not an error body: /readyz while a check fails. */
  | {
      readonly kind: 'status-json'
      readonly like: ErrorCode
      readonly value: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'text'
      readonly text: string
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Bytes of any kind. `partial` means 206. HEAD gets only the headers, including Content-Length. */
  | {
      readonly kind: 'bytes'
      readonly bytes: Uint8Array
      readonly headers: Readonly<Record<string, string>> & { readonly 'Content-Type': string }
    }
  /** `length` becomes Content-Length; `open` is not called for HEAD. A failure while sending ends the connection. */
  | {
      readonly kind: 'stream'
      readonly partial: boolean
      readonly length: number
      readonly open: () => Promise<AsyncIterable<Uint8Array>>
      readonly headers: Readonly<Record<string, string>> & { readonly 'Content-Type': string }
    }
  /** 302. */
  | { readonly kind: 'redirect'; readonly location: string; readonly headers?: Readonly<Record<string, string>> }
