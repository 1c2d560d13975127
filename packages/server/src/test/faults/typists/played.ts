import type { TypedCharacter } from './words.ts'

/** The result of people typing beside agents. */
export interface Played {
  /** Typed letters that the relay acknowledged. */
  readonly acknowledged: number
  /** Acknowledged letters that no view showed at the end of a round. */
  readonly missing: number
  /** Missing letters that no call reported. With careful calls: all missing letters. [AG-97, AG-98] */
  readonly untold: readonly TypedCharacter[]
  /** Missing letters that the undos of their round neither restored nor named as kept. [AG-98] */
  readonly notBack: readonly TypedCharacter[]
  /** Number of missing letters that cannot be judged, because an answer listed fewer blocks than it counted. */
  readonly notJudged: number
  /** The differences between the views of the document. [AG-103] */
  readonly different: readonly string[]
  readonly kills: number
  readonly calls: number
  /** Number of calls during which the relay was killed. */
  readonly unanswered: number
  readonly tasks: { readonly done: number; readonly failed: number }
  /** Times from a keystroke to the ack of everything typed, in ms. */
  readonly ackMs: readonly number[]
  readonly worstLagMs: number
  readonly refusals: ReadonlyMap<string, number>
}

/** Whether every lost letter was reported and restored or named as kept, and all views agree. */
export function isKept({ untold, notBack, different }: Played): boolean {
  return untold.length === 0 && notBack.length === 0 && different.length === 0
}
