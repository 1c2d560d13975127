import type { TaskOutcome } from '../worker-messages.ts'

/** `behind`: the store did not accept the body this time. `gone`: the document was deleted. `lost`: the room was reset. */
export type SaveOutcome = 'saved' | 'behind' | 'gone' | 'lost'

/** Outcome of a task that stores nothing, when its room is reset. */
export const LOST: TaskOutcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'the live document was reset' }

/** Outcome of a write, when its room is reset. */
export const WRITE_LOST: TaskOutcome = {
  kind: 'failed',
  code: 'NOT_PERSISTED',
  message: 'the live document was reset before the change was stored',
}

/** Outcome of a task that was not done because another node owns the document. [LIFE-26] */
export const MOVED: TaskOutcome = { kind: 'moved' }

/** Outcome of a task that could not store the document. */
export function failed(outcome: Exclude<SaveOutcome, 'saved'>): TaskOutcome {
  if (outcome === 'gone') return { kind: 'gone' }
  return outcome === 'lost' ? LOST : { kind: 'failed', code: 'UNAVAILABLE', message: 'the document could not be stored' }
}
