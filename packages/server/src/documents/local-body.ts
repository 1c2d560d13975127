import { prepareValue } from '@docrelay/model/body-prepare'
import type { BodyFacts } from '@docrelay/model/body-facts'
import { isJsonObject, memberOf } from '@docrelay/model/json'
import { jsonLimits, parseJsonBytes } from '@docrelay/model/json-scan'

/** Largest file in bytes that is read as a local document. [LOCAL-2] */
export const MAX_LOCAL_BYTES = 64 * 1024 * 1024

/** A parsed file of a local document, in the form that reads use; plain data. */
export interface LocalBody {
  readonly kind: 'local'
  /** The bytes in the form of a stored body. */
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /** The version in the body, otherwise 0. [LOCAL-5] */
  readonly version: number
}

export type LocalReading = LocalBody | { readonly kind: 'unreadable'; readonly reason: string }

/**
 * Reads a body of either form. The name of the file decides the id; an id inside the file is ignored. Pure. [LOCAL-1]
 */
export function localBody(bytes: Uint8Array, docId: string): LocalReading {
  const parsed = parseJsonBytes(bytes, jsonLimits(MAX_LOCAL_BYTES))
  if (!parsed.ok) return { kind: 'unreadable', reason: parsed.reason }
  const { value } = parsed
  const preparation = prepareValue(isJsonObject(value) ? { ...value, id: docId } : value, docId, null)
  if (!preparation.ok) return { kind: 'unreadable', reason: preparation.refusal.message }
  const version = isJsonObject(value) ? memberOf(value, 'serverVersion') : undefined
  return {
    kind: 'local',
    bytes: preparation.prepared.bytes,
    facts: preparation.prepared.facts,
    version: Number.isSafeInteger(version) && (version as number) >= 0 ? (version as number) : 0,
  }
}
