import type { TaskOutcome } from '../worker-messages.ts'

/** `behind`: storage refused for now. `gone`: deleted. `lost`: the room was reset. */
export type SaveOutcome = 'saved' | 'behind' | 'gone' | 'lost'

/** What a task that stores nothing answers when its room is reset. */
export const LOST: TaskOutcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'the live document was reset' }

/** What a write answers then. */
export const WRITE_LOST: TaskOutcome = {
  kind: 'failed',
  code: 'NOT_PERSISTED',
  message: 'the live document was reset before the change was stored',
}

/** What a task answers that could not store the document. */
export function failed(outcome: Exclude<SaveOutcome, 'saved'>): TaskOutcome {
  if (outcome === 'gone') return { kind: 'gone' }
  return outcome === 'lost' ? LOST : { kind: 'failed', code: 'UNAVAILABLE', message: 'the document could not be stored' }
}
