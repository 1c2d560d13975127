import type { ErrorCode } from './errors.ts'

/**
 * JSON Schema, draft 2020-12. A schema with a `title` becomes a named component. An object without
 * `additionalProperties` has no other members than those listed.
 */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export interface ExchangeParameter {
  readonly description: string
  readonly schema: JsonSchema
}

export interface ExchangeResponse {
  readonly description: string
  /** Schema by media type; absent for an empty body. `{}` stands for bytes. */
  readonly content?: Readonly<Record<string, JsonSchema>>
  /** Headers beyond those of every response, each with a sentence. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The requests and answers of a route, as data. OpenAPI is rendered from it, and tests check responses against it. [REST-36]
 */
export interface RouteExchange {
  /** One for each `:name` of the path. */
  readonly path?: Readonly<Record<string, ExchangeParameter>>
  readonly query?: Readonly<Record<string, ExchangeParameter>>
  readonly requestHeaders?: Readonly<Record<string, ExchangeParameter>>
  readonly request?: { readonly mediaType: string; readonly schema: JsonSchema; readonly isOptional?: true }
  /** Responses by status: successes and other answers that are no errors (304). */
  readonly responses: Readonly<Record<number, ExchangeResponse>>
  /** Error codes beyond those that follow from credential and body policy. */
  readonly errors: readonly ErrorCode[]
  readonly isDeprecated?: true
}
