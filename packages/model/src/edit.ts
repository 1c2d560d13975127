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

/** A link to a document of the relay, or a relative one, as it was written in the content of a call. [AG-84] */
export interface ContentLink {
  readonly href: string
  /** The page on which it stands. */
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
  /** Ids of the written blocks; where blocks changed places, the ids of those that moved. [PROSE-50] */
  readonly writtenBlocks?: readonly string[]
  /** The written page, when there is one: the agent is shown on it. [PRES-1] */
  readonly writtenPage?: string
  /** The written shapes, shown as the agent's selection. When absent, the written blocks are shown. [PRES-1] */
  readonly selection?: readonly string[]
  /** The words that were edited in text blocks, for a live document in which others type beside them. [AG-48] */
  readonly textChanges?: readonly TextChange[]
  /** What the caller knows of pages that it wrote as a whole. [AG-17] */
  readonly shown?: readonly ShownPage[]
  /** A page was replaced whose caller was not shown it whole, so the state before is worth keeping. [AG-26] */
  readonly isBlind?: true
  /** Links of the call's content that are still to be checked, since only other documents can tell. [AG-84] */
  readonly links?: readonly ContentLink[]
}

/** Time and randomness of one attempt of an edit. A retry gets new ones, so an edit must keep nothing between calls. */
export interface EditEnvironment {
  readonly nowMs: number
  /** `count` random characters of `[A-Za-z0-9_-]`. */
  random(count: number): string
  /** What the caller saw before; absent: nothing is known of it. [AG-17] */
  readonly seen?: Seen
}

/**
 * The effect of one write tool on a document. Pure, and the same for a cold document, a live one and a dry run.
 * [CONC-1] `args` passed the tool's schema. Everything that depends on the document is decided here, so that a retry
 * decides it again. [CONC-6]
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
   * Returns why a call is refused whatever the document; absent when the arguments alone never decide. The edit checks
   * it again. [MCP-3]
   */
  readonly flaw?: (args: A) => Refusal | null
  /** It looks for ways of connectors, which takes long on a page of a few kilobytes too. [CONC-13] */
  readonly routes?: true
  /**
   * Fits an edit to a newer body, as if it were made of that one; `null` when it has to be made anew. It takes much less time than the edit.
   * Only an edit that adds and leaves everything else alone has this member: it is planned while people go on changing the document. [CONC-14]
   */
  refit?(planned: PlannedEdit<R>, now: DocumentBody, args: A, environment: EditEnvironment): Edited<R> | null
}

export function refused(code: string, message: string, facts: Refusal['facts'] = {}): Refusal {
  return { kind: 'refused', code, message, facts }
}

const OUTDATED = 'OUTDATED'

/** An edit refuses so when what was prepared for it does not fit the document any more: who prepared it does so again. No caller is told this code. */
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
