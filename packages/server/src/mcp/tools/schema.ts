import type { ArgumentsSchema, ValueSchema } from '../arguments.ts'
import { CONTENT_LENGTH } from '../arguments.ts'
import type { JsonObject, ToolAnnotations } from '../tool.ts'

/** Parts that many tool schemas share. Keep them short: every model that reads the tool list pays for each byte. [TOOL-2, TOOL-3] */

type Members = Readonly<Record<string, ValueSchema>>

export const TEXT = { type: 'string' } as const
export const INTEGER = { type: 'integer' } as const
export const FLAG = { type: 'boolean' } as const
export const INDEX = { type: 'integer', minimum: 0 } as const

export const DOCUMENT = { docId: TEXT } as const
export const PAGE = { docId: TEXT, pageId: TEXT } as const
/** Adds a description to a schema, for arguments whose name does not explain them. [AG-90] */
export function described<T extends ValueSchema>(schema: T, description: string): T & { readonly description: string } {
  return { ...schema, description }
}

/** An id as answers print it, with its stamp, which tells the version of the block that the caller saw. [AG-6] */
export const AS_PRINTED = described(TEXT, 'as printed')
/** The shorthands of TOOL-29: V, R and L. */
export const VERSIONED = { expectedVersion: described(INTEGER, 'or fail'), dryRun: FLAG } as const
export const REPEATABLE = { requestId: TEXT } as const
export const PAGED = { limit: { type: 'integer', minimum: 1 }, cursor: TEXT } as const
export const CONTENT = { type: 'string', maxLength: CONTENT_LENGTH } as const
/** Makes the schema of a string with these values. [AG-92] */
export const oneOf = (...words: readonly string[]) => ({ type: 'string', enum: words }) as const
export const FORMAT = oneOf('markdown', 'md', 'html')
export const SIDE = oneOf('before', 'after')

/** Makes the input schema of a tool. [TOOL-4] */
export function input(required: Members, optional: Members = {}): ArgumentsSchema & JsonObject {
  const names = Object.keys(required)
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length > 0 && { required: names }),
    additionalProperties: false,
  }
}

/** The letters for annotations that are true, as in the table of TOOL-27. */
export type Hint = 'RO' | 'DE' | 'ID' | 'OW'

export function annotations(...hints: readonly Hint[]): ToolAnnotations {
  return {
    readOnlyHint: hints.includes('RO'),
    destructiveHint: hints.includes('DE'),
    idempotentHint: hints.includes('ID'),
    openWorldHint: hints.includes('OW'),
  }
}
