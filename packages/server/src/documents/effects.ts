import type { DocumentBody } from '@docrelay/model/body'
import { changesBetween } from '@docrelay/model/changes/changes-between'
import type { Counts, RemovedEntry } from '@docrelay/model/changes/tally'
import type { EditEnvironment } from '@docrelay/model/edit'

/** What a write did, as members of its answer. [AG-29, AG-30] */
export interface Effects {
  /** Blocks, shapes, pages, references and fields whose stored value is another one. */
  readonly changed: number
  /** Names the call, for undo; absent when nothing changed, and in a dry run. */
  readonly callId?: string
  readonly removed?: readonly RemovedEntry[]
  /** Present when more was removed than the list names. */
  readonly removedTotal?: number
}

export const NO_EFFECTS: Effects = { changed: 0 }

/** What an edit did to a document. */
export interface CallChanges extends Pick<Counts, 'gone'> {
  readonly effects: Effects
}

const CALL_ID_CHARACTERS = 12

/** Compares the bodies before and after an edit. `args` are those of the call. */
export function callChanges(before: DocumentBody, after: DocumentBody, args: unknown, environment: EditEnvironment): CallChanges {
  const { counts } = changesBetween(before, after, args)
  const { changed, removed, removedTotal, gone } = counts
  const callId = changed > 0 ? { callId: `call-${environment.random(CALL_ID_CHARACTERS)}` } : {}
  const total = removedTotal > removed.length ? { removedTotal } : {}
  return { effects: { changed, ...callId, ...(removed.length > 0 && { removed }), ...total }, gone }
}

/** What a dry run tells: nothing that could be undone. [AG-29] */
export function triedEffects(effects: Effects): Effects {
  const { callId: _, ...tried } = effects
  return tried
}
