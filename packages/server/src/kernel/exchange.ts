import type { ErrorCode } from './errors.ts'

/** JSON Schema, draft 2020-12. One with a `title` becomes a named component; members of an object without `additionalProperties` are all it has. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export interface ExchangeParameter {
  readonly description: string
  readonly schema: JsonSchema
}

export interface ExchangeResponse {
  readonly description: string
  /** By media type; none is an empty body. `{}` stands for bytes. */
  readonly content?: Readonly<Record<string, JsonSchema>>
  /** Beyond those of every response: name and sentence. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What a route takes and answers, as data: rendered into OpenAPI, and what responses in tests are held to. [REST-36] */
export interface RouteExchange {
  /** One for each `:name` of the path. */
  readonly path?: Readonly<Record<string, ExchangeParameter>>
  readonly query?: Readonly<Record<string, ExchangeParameter>>
  readonly requestHeaders?: Readonly<Record<string, ExchangeParameter>>
  readonly request?: { readonly mediaType: string; readonly schema: JsonSchema; readonly isOptional?: true }
  /** By status, successes and what is answered like one. */
  readonly responses: Readonly<Record<number, ExchangeResponse>>
  /** Refusals beyond those that follow from credential and body policy. */
  readonly errors: readonly ErrorCode[]
  readonly isDeprecated?: true
}
