import type { DocumentBody } from './body.ts'

/** What a write adjusted in its input, told to the caller. [interface, MCP rule 10; TOOL-17] */
export interface Fix {
  readonly action: 'dropped_unknown' | 'dropped_invalid' | 'clamped' | 'unwrapped' | 'rebuilt_table' | 'stripped_children'
  readonly reason: string
  readonly field?: string
  readonly path?: string
  readonly nodeType?: string
}

/** Input that was kept as given but may not do what was meant. [TOOL-19] */
export interface Warning {
  readonly reason: string
  readonly field?: string
  readonly nearest?: readonly string[]
}

/** Why an edit does nothing: a code of the closed table, a sentence, and the facts a caller needs to repair its call. [TOOL-8, TOOL-9] */
export interface Refusal {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly facts: { readonly [member: string]: unknown }
}

export interface Edited<R> {
  readonly kind: 'edited'
  /** `===` the given one when nothing changed; parts that did not change keep their identity. */
  readonly body: DocumentBody
  readonly result: R
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
  /** Ids of the blocks that were written: where blocks changed places, it is these that moved. [PROSE-50] */
  readonly writtenBlocks?: readonly string[]
  /** The shapes that were written: what an agent is shown to have selected. [PRES-1] */
  readonly selection?: readonly string[]
}

/** Time and randomness of an edit. A retry gets another one, so nothing may be kept between calls. */
export interface EditEnvironment {
  readonly nowMs: number
  /** `count` random characters of `[A-Za-z0-9_-]`. */
  random(count: number): string
}

/**
 * One write tool's effect on a document: pure, the same cold, on a live document and as a dry run. [CONC-1]
 * `args` passed the tool's schema; everything that depends on the document is decided in here, so that a retry decides it anew. [CONC-6]
 */
export type Edit<A, R> = (body: DocumentBody, args: A, environment: EditEnvironment) => Edited<R> | Refusal

export function refused(code: string, message: string, facts: Refusal['facts'] = {}): Refusal {
  return { kind: 'refused', code, message, facts }
}

/** Tells a refusal from whatever else a step of an edit answers. */
export function isRefusal(answer: object): answer is Refusal {
  return 'kind' in answer && answer.kind === 'refused'
}
