import { type BodyFacts, bodyFacts } from '@docrelay/model/body-facts'
import { bodyGrowth } from '@docrelay/model/body-growth'
import { readStoredBody } from '@docrelay/model/body-parse'
import { stampBody } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import { type Edited, type EditEnvironment, isRefusal, type Refusal } from '@docrelay/model/edit'
import { type EditName, runEdit } from '@docrelay/model/edits'
import { type BodyDelta, bodyDelta } from '@docrelay/model/seen/body-delta'
import type { Seen } from '@docrelay/model/seen/seen'
import type { Random } from '../kernel/ids.ts'
import { type CallChanges, callChanges } from './effects.ts'
import type { StoredBody } from './document-store.port.ts'

/** An edit of a stored body; plain data. */
export interface BodyEdit {
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  readonly edit: EditName
  readonly args: unknown
  readonly nowMs: number
  /** The principal who makes the edit. */
  readonly sub: string
  /** Whether the result contains `delta`, for the record of changes. [AG-20] */
  readonly isRecorded?: boolean
  /** What the caller saw of the document before the edit. */
  readonly seen?: Seen
}

/** The result of an edit of a stored body; plain data. */
export interface EditedBody extends Pick<Edited<object>, 'result' | 'fixes' | 'warnings' | 'shown' | 'links'> {
  readonly kind: 'edited'
  /** `null` when the edit changes nothing. */
  readonly stored: StoredBody | null
  /** `null` when the edit changes nothing. */
  readonly changes: CallChanges | null
  /** Bytes that the edit adds, without the members that every write stamps. [CONC-9] */
  readonly grownBytes: number
  readonly delta?: BodyDelta
}

/**
 * Runs an edit on a stored body, stamps the changed parts and settles their references. Pure except for `random`.
 * [CONC-1, BODY-10, BLOB-2]
 */
export function editBody(given: BodyEdit, random: Random): EditedBody | Refusal {
  const before = readStoredBody(given.bytes)
  const environment = editEnvironment(given.nowMs, random, given.seen)
  const edited = runEdit(given.edit, before, given.args, environment)
  if (isRefusal(edited)) return edited
  const { result, fixes, warnings, shown, links } = edited
  const told = { kind: 'edited', result, fixes, warnings, ...(shown && { shown }), ...(links && { links }) } as const
  if (edited.body === before) return { ...told, changes: null, stored: null, grownBytes: 0 }
  const { body, bytes, blobReferences } = writeSettledBody(stampBody(edited.body, given.nowMs, given.sub), false)
  const stored = { bytes, facts: bodyFacts(body, given.facts.clientVersion), blobReferences }
  const changes = callChanges(before, edited, given.args, environment)
  const delta = given.isRecorded === true ? { delta: bodyDelta(before, edited.body) } : {}
  return { ...told, changes, stored, grownBytes: bodyGrowth(before, edited.body).bytes, ...delta }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

export function editEnvironment(nowMs: number, random: Random, seen?: Seen): EditEnvironment {
  return {
    nowMs,
    ...(seen && { seen }),
    // The alphabet has 64 characters, so every byte draws uniformly.
    random(count) {
      let text = ''
      for (const byte of random.bytes(count)) text += ALPHABET[byte % 64]
      return text
    },
  }
}
