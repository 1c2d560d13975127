import type { Principal } from '../auth/principal.ts'
import type { Access } from '../access/access.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { RouteExchange } from '../kernel/exchange.ts'

/** What a caller must be for a route to run at all; finer rights are decided by the service. A route without one stops the start. [H2] */
export type RouteCredential = 'none' | 'bearer' | 'revocation-bearer'

export type BodyPolicy =
  | { readonly kind: 'none' }
  /** Parsed JSON of at most `maxBytes`. */
  | { readonly kind: 'json'; readonly maxBytes: number }
  /** Raw document JSON up to the document limit; the handler gets the bytes. [REST-7] */
  | { readonly kind: 'document' }
  /** Any bytes, handed to the handler as they arrive and not collected; the handler counts them. [BLOB-3] */
  | { readonly kind: 'stream' }

export const NO_BODY = { kind: 'none' } as const satisfies BodyPolicy
/** JSON that is no document. [REST-7] */
export const JSON_BODY = { kind: 'json', maxBytes: 2 * 1_048_576 } as const satisfies BodyPolicy

/** A route without what it runs: what docs and pins list. Only routes that tests make up leave out what they take and answer. */
export type RouteDeclaration = Omit<Route, 'handle' | 'exchange'> & { readonly exchange: RouteExchange }

/** One REST route as data: what to run and what it needs. Handlers contain no auth, no limits, no status mapping. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** With `:name` members, e.g. `/api/docs/:id`. Routes under `/api/` are also served under `/api/v1/`. [REST-4] */
  readonly path: string
  readonly credential: RouteCredential
  readonly body: BodyPolicy
  /** The PERM-3 row in words, rendered into docs/reference/routes.md. */
  readonly needs: string
  readonly summary: string
  /** What it takes and answers. [REST-36] */
  readonly exchange?: RouteExchange
  /** Not served under `/api/v1/` as well. [REST-4] */
  readonly unversioned?: true
  /** Headers of every response of the route, errors included. [REST-37] */
  headers?(context: {
    readonly params: Readonly<Record<string, string>>
    readonly origin: string
  }): Readonly<Record<string, string>>
  /** Answers also while the relay drains. [LIFE-28] */
  readonly whileDraining?: true
  /** The path parameter that is a document id, for the log. [OPS-5] */
  readonly documentParam?: string
  /** Judges the decoded path parameters before any body is read; throws RelayError. [REST-15] */
  checkParams?(params: Readonly<Record<string, string>>): void
  handle(request: RouteRequest): Promise<RouteReply>
}

export interface RouteRequest {
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  header(name: string): string | undefined
  /** HEAD runs the GET route; the body is left away for it. */
  readonly isHead: boolean
  /** Present exactly when the route's credential is `bearer`. */
  readonly caller: { readonly principal: Principal; readonly access: Access } | null
  readonly json: unknown
  readonly bytes: Uint8Array
  /** The body of a `stream` route; throws BAD_REQUEST when the client ends early, and where nothing came for 60 s. [REST-7] */
  readonly stream: AsyncIterable<Uint8Array>
  /** `<scheme>://<host>` of the request, X-Forwarded-Proto honoured. */
  readonly origin: string
}

export type RouteReply =
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** JSON that is already serialised. */
  | { readonly kind: 'json-bytes'; readonly bytes: Uint8Array; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'empty'; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'not-modified'; readonly headers?: Readonly<Record<string, string>> }
  /** JSON under the status of an error code though it is no error body: /readyz while a check fails. */
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
  /** Bytes of any kind. `partial` is 206. HEAD gets the headers alone, Content-Length included. */
  | {
      readonly kind: 'bytes'
      readonly bytes: Uint8Array
      readonly headers: Readonly<Record<string, string>> & { readonly 'Content-Type': string }
    }
  /** `length` becomes Content-Length; `open` is not called for HEAD. A failure under way ends the connection. */
  | {
      readonly kind: 'stream'
      readonly partial: boolean
      readonly length: number
      readonly open: () => Promise<AsyncIterable<Uint8Array>>
      readonly headers: Readonly<Record<string, string>> & { readonly 'Content-Type': string }
    }
  /** 302. */
  | { readonly kind: 'redirect'; readonly location: string; readonly headers?: Readonly<Record<string, string>> }
