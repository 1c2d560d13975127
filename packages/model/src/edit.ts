import type { DocumentBody } from './body.ts'
import type { TextChange } from './prose/text-splices.ts'
import type { Seen } from './seen/seen.ts'
import type { ShownPage } from './seen/shown.ts'

/** One adjustment that a write made to its input, for the caller. [interface, MCP rule 10; TOOL-17] */
export interface Fix {
  readonly action: 'dropped_unknown' | 'dropped_invalid' | 'clamped' | 'unwrapped' | 'rebuilt_table' | 'stripped_children'
  readonly reason: string
  readonly field?: string
  readonly path?: string
  readonly nodeType?: string
  /** The place of the shape in the call. */
  readonly shape?: number
  /** The place of the node, or of the edge, in the call. [DIAG-2] */
  readonly node?: number
  readonly edge?: number
  /** The step of the call, from 1. [AG-57] */
  readonly step?: number
}

/** Input that was kept as given and may not do what the caller meant. [TOOL-19] */
export interface Warning {
  readonly reason: string
  readonly field?: string
  readonly nearest?: readonly string[]
  /** The place of the shape in the call. */
  readonly shape?: number
  /** The place of the node in the call. */
  readonly node?: number
  /** The place of the edge in the call. */
  readonly edge?: number
  /** The step of the call, from 1. [AG-57] */
  readonly step?: number
}

/**
 * Why an edit changes nothing: a code of the closed table, a sentence, and the facts that a caller needs to repair its
 * call. [TOOL-8, TOOL-9]
 */
export interface Refusal {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly facts: { readonly [member: string]: unknown }
}

/** A link to a document of the relay, or a relative link, as the content of a call has it. [AG-84] */
export interface ContentLink {
  readonly href: string
  /** The page on which the link stands. */
  readonly pageId?: string
  /** The step of the call, from 1. */
  readonly step?: number
}

export interface Edited<R> {
  readonly kind: 'edited'
  /** The given body (`===`) when nothing changed; unchanged parts keep their identity. */
  readonly body: DocumentBody
  readonly result: R
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
  /** Ids of the written blocks; where blocks changed places, the ids of the moved blocks. [PROSE-50] */
  readonly writtenBlocks?: readonly string[]
  /** The id of the written page, on which people see the agent; absent when no page was written. [PRES-1] */
  readonly writtenPage?: string
  /** The written shapes, shown as the agent's selection. When absent, the written blocks are shown. [PRES-1] */
  readonly selection?: readonly string[]
  /** The words that were edited in text blocks, for a live document in which others type beside them. [AG-48] */
  readonly textChanges?: readonly TextChange[]
  /** What the caller knows of the pages that the call wrote as a whole. [AG-17] */
  readonly shown?: readonly ShownPage[]
  /** The call replaced a page that its caller was not shown whole, so the state before is worth keeping. [AG-26] */
  readonly isBlind?: true
  /** Links in the content of the call that are not checked yet, since their targets are in other documents. [AG-84] */
  readonly links?: readonly ContentLink[]
}

/** Time and randomness of one attempt of an edit. A retry gets new ones, so an edit must keep nothing between calls. */
export interface EditEnvironment {
  readonly nowMs: number
  /** `count` random characters of `[A-Za-z0-9_-]`. */
  random(count: number): string
  /** What the caller saw of the document before the call; absent when unknown. [AG-17] */
  readonly seen?: Seen
}

/**
 * The effect of one write tool on a document. Pure, and the same for a cold document, a live one and a dry run.
 * [CONC-1] `args` passed the tool's schema. An edit decides everything that depends on the document, so that a retry
 * decides again. [CONC-6]
 */
export type Edit<A, R> = (body: DocumentBody, args: A, environment: EditEnvironment) => Edited<R> | Refusal

/** An edit that was computed from a body and is not written yet. */
export interface PlannedEdit<R> {
  readonly before: DocumentBody
  readonly edited: Edited<R>
}

/** A write tool of one document, as a row of `edits.ts`. [CONC-1] */
export interface EditRow<A = never, R extends object = object> {
  readonly edit: Edit<A, R>
  /**
   * Refuses arguments that are wrong for every document; returns `null` otherwise. Absent when arguments alone are never
   * wrong. The edit makes the same checks again. [MCP-3]
   */
  readonly flaw?: (args: A) => Refusal | null
  /** The edit searches for ways of connectors, which takes long even on a page of a few kilobytes. [CONC-13] */
  readonly routes?: true
  /**
   * Fits a planned edit to a newer body, as if the edit had run on that body; `null` when the edit has to run again. Takes much less time than the edit.
   * Only an edit that adds parts and changes no others has this member. Such an edit is planned while people go on changing the document. [CONC-14]
   */
  refit?(planned: PlannedEdit<R>, now: DocumentBody, args: A, environment: EditEnvironment): Edited<R> | null
}

export function refused(code: string, message: string, facts: Refusal['facts'] = {}): Refusal {
  return { kind: 'refused', code, message, facts }
}

const OUTDATED = 'OUTDATED'

/** The refusal of an edit whose preparation no longer fits the document. The relay then prepares the edit again; no caller sees this code. */
export function outdated(message: string): Refusal {
  return refused(OUTDATED, message)
}

export function isOutdated(answer: object): boolean {
  return isRefusal(answer) && answer.code === OUTDATED
}

/** Whether a step of an edit returned a refusal. */
export function isRefusal(answer: object): answer is Refusal {
  return 'kind' in answer && answer.kind === 'refused'
}
