import { bodyFacts, type PreparedBody } from '@docrelay/model/body-facts'
import { readStoredBody } from '@docrelay/model/body-parse'
import { prepareBody } from '@docrelay/model/body-prepare'
import { settleTitle, withTitle } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import type { Json } from '@docrelay/model/json'
import { jsonLimits, parseJsonBytes } from '@docrelay/model/json-scan'
import type { Refusal } from '@docrelay/model/edit'
import { type BodyDelta, bodyDelta } from '@docrelay/model/seen/body-delta'
import type { ErrorCode } from '../kernel/errors.ts'
import { type Random, systemRandom } from '../kernel/ids.ts'
import type { StoredBody } from './document-store.port.ts'
import { type BodyEdit, editBody, type EditedBody } from './edit-body.ts'
import { type BodyRead, type BodyReading, readBody } from './read-body.ts'
import { type BodiesHits, type BodiesSearch, searchBodies } from './search-bodies.ts'
import { localBody, type LocalReading } from './local-body.ts'
import { pointBody, type RestoredAs, restoredBody } from './point-body.ts'

/** Work on a body that may take too long for the main thread. Input and output are plain data. */
export type BodyTask =
  /** `maxBytes`: the limit of the route; the limits on depth and counts follow from it. [H4] */
  | {
      readonly kind: 'prepare'
      readonly bytes: Uint8Array
      readonly docId: string
      readonly storedTitle: string | null
      readonly maxBytes: number
    }
  /** Settles name and title again after the stored title changed. [BODY-10] */
  | { readonly kind: 'resettle'; readonly body: PreparedBody; readonly storedTitle: string | null }
  | { readonly kind: 'parse'; readonly bytes: Uint8Array; readonly maxBytes: number }
  /** Shows a recovery point. [REST-26] */
  | { readonly kind: 'point'; readonly bytes: Uint8Array; readonly docId: string }
  /** Makes the body of the document that is restored from a recovery point. [LIFE-22] */
  | { readonly kind: 'restore'; readonly bytes: Uint8Array; readonly as: RestoredAs }
  /** Reads a file as a local document. [LOCAL-1] */
  | { readonly kind: 'local'; readonly bytes: Uint8Array; readonly docId: string }
  /** Compares two stored bodies. [AG-20] */
  | { readonly kind: 'delta'; readonly bytes: Uint8Array; readonly after: Uint8Array }
  /** Runs an edit of a tool. [CONC-1] */
  | (BodyEdit & { readonly kind: 'edit' })
  /** Runs a read of a tool. [TOOL-23] */
  | (BodyRead & { readonly kind: 'read' })
  /** Finds the hits that a search shows. [AG-62] */
  | (BodiesSearch & { readonly kind: 'search' })

export type BodyTaskResult =
  | { readonly kind: 'prepared'; readonly body: PreparedBody }
  | { readonly kind: 'parsed'; readonly value: Json }
  | { readonly kind: 'point'; readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly kind: 'restored'; readonly body: StoredBody | null }
  | { readonly kind: 'local'; readonly reading: LocalReading }
  | { readonly kind: 'delta'; readonly delta: BodyDelta }
  | { readonly kind: 'edit'; readonly outcome: EditedBody | Refusal }
  | { readonly kind: 'read'; readonly outcome: BodyReading }
  | { readonly kind: 'search'; readonly hits: BodiesHits }
  | {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly message: string
      readonly details: Readonly<Record<string, unknown>>
    }

/** Runs a task. Pure except for `random`; linear in the bytes. */
export function runBodyTask(task: BodyTask, random: Random = systemRandom): BodyTaskResult {
  switch (task.kind) {
    case 'prepare': {
      const preparation = prepareBody(task.bytes, task.docId, task.storedTitle, jsonLimits(task.maxBytes))
      return preparation.ok ? { kind: 'prepared', body: preparation.prepared } : { kind: 'refused', ...preparation.refusal }
    }
    case 'resettle':
      return { kind: 'prepared', body: resettled(task.body, task.storedTitle) }
    case 'parse': {
      const parsed = parseJsonBytes(task.bytes, jsonLimits(task.maxBytes))
      if (parsed.ok) return { kind: 'parsed', value: parsed.value }
      const details = parsed.code === 'BAD_JSON' ? { offset: parsed.offset } : { maxBytes: task.maxBytes }
      return { kind: 'refused', code: parsed.code, message: `The body is not acceptable JSON: ${parsed.reason}.`, details }
    }
    case 'point':
      return { kind: 'point', bytes: pointBody(task.bytes, task.docId) }
    case 'restore':
      return { kind: 'restored', body: restoredBody(task.bytes, task.as) }
    case 'local':
      return { kind: 'local', reading: localBody(task.bytes, task.docId) }
    case 'delta':
      return { kind: 'delta', delta: bodyDelta(readStoredBody(task.bytes), readStoredBody(task.after)) }
    case 'edit':
      return { kind: 'edit', outcome: editBody(task, random) }
    case 'read':
      return { kind: 'read', outcome: readBody(task) }
    case 'search':
      return { kind: 'search', hits: searchBodies(task) }
  }
}

function resettled(body: PreparedBody, storedTitle: string | null): PreparedBody {
  const { name, title } = body
  if (name === null || title === null) return body
  const titled = withTitle(readStoredBody(body.bytes), settleTitle(name, title, storedTitle))
  const { body: settled, bytes, blobReferences } = writeSettledBody(titled, true)
  return { ...body, bytes, facts: bodyFacts(settled, body.facts.clientVersion), blobReferences }
}
