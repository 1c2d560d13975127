import type { TypedCharacter } from './words.ts'

/** What came of people typing beside agents. */
export interface Played {
  /** Typed letters that the relay acknowledged. */
  readonly acknowledged: number
  /** Of these, letters that were nowhere at the end of a round. */
  readonly missing: number
  /** Missing letters of which no call told. Of careful calls: all that are missing. [AG-97, AG-98] */
  readonly untold: readonly TypedCharacter[]
  /** Missing letters that were neither back after the calls of their round were undone nor named as kept. [AG-98] */
  readonly notBack: readonly TypedCharacter[]
  /** How many missing letters nobody can say this of, as the undo of a call kept more blocks than it lists. */
  readonly notJudged: number
  /** How the views of the document differ. [AG-103] */
  readonly different: readonly string[]
  readonly kills: number
  readonly calls: number
  /** Calls under which the relay was killed. */
  readonly unanswered: number
  readonly tasks: { readonly done: number; readonly failed: number }
  /** From a keystroke to the acknowledgement of everything typed. */
  readonly ackMs: readonly number[]
  readonly worstLagMs: number
  readonly refusals: ReadonlyMap<string, number>
}

/** Whether nothing acknowledged was lost without being told, everything came back, and all views agree. */
export function isKept({ untold, notBack, different }: Played): boolean {
  return untold.length === 0 && notBack.length === 0 && different.length === 0
}
