import type { DocumentBody } from '@docrelay/model/body'
import { type BodyFacts, bodyFacts } from '@docrelay/model/body-facts'
import { stampBody } from '@docrelay/model/body-title'
import { writeSettledBody, writeStoredBody } from '@docrelay/model/body-write'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { zeroes } from '../../documents/put-plan.ts'
import type { RoomOptions } from './room-host.ts'

/** The stored body that the live document was last merged with, and its head. */
export interface Base {
  readonly head: DocumentHead
  readonly body: DocumentBody
}

/** A projected body ready to be stored. */
export interface Materialised {
  readonly body: DocumentBody
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /**
   * References found in the content. They replace a list of references that a client sent with an earlier body. [BLOB-2]
   */
  readonly blobReferences: readonly string[]
  /**
   * Whether the body differs from the stored one in more than the members that every save sets. Only then does the save count as a new
   * version. [LIFE-12]
   */
  readonly changed: boolean
  /** Whether the stored state must first be captured as a recovery point, because this save empties the document. [LIFE-18] */
  readonly zeroing: boolean
}

/** Compares a projected body with the stored one and stamps a changed one with its last writer. [LIFE-12, LIFE-18, BODY-10] */
export function materialised(
  base: { body: DocumentBody; facts: BodyFacts },
  projected: DocumentBody,
  nowMs: number,
  writer: string,
): Materialised {
  const changed = projected !== base.body && !sameBytes(writeStoredBody(projected), writeStoredBody(base.body))
  if (!changed) return { body: base.body, bytes: NOTHING, facts: base.facts, blobReferences: [], changed, zeroing: false }
  const { body, bytes, blobReferences } = writeSettledBody(stampBody(projected, nowMs, writer), false)
  const facts = bodyFacts(body, base.facts.clientVersion)
  return { body, bytes, facts, blobReferences, changed, zeroing: zeroes(base.facts, facts) }
}

const NOTHING = new Uint8Array(0)

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

/** A room is materialised up to 20% earlier than the latest allowed time. Multiples of the golden ratio spread the rooms evenly. */
const SPREAD = 0.2
const GOLDEN = 0.618_034

/**
 * The latest time after the first edit at which this room is materialised. It differs between rooms; otherwise rooms that were first edited
 * together would be materialised together every time. [LIFE-10]
 */
export function saveLatestMs(options: Pick<RoomOptions, 'saveLatestMs'>, room: number): number {
  return options.saveLatestMs * (1 - SPREAD * ((room * GOLDEN) % 1))
}
