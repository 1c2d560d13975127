import type { JsonObject, ToolDefinition } from '../tool.ts'
import type { ToolErrorCode } from './tool-errors.ts'

/**
 * A tool with everything that the tool list, the reference, the table of codes and the general tests need. They are all derived from the
 * rows, so nothing else names the tool.
 */
export interface ToolRow extends ToolDefinition {
  /** Position in the tool list, from 1. [TOOL-1] */
  readonly place: number
  /** Codes that this tool returns in addition to those that its arguments imply. [TOOL-9] */
  readonly errors: OwnErrors
  /**
   * Arguments, without `docId`, of calls that succeed on the sample document (`testing/sample-document.ts`). The first one is shown in the
   * reference. Tests run all of them, on cold and live documents, and with other values of the same kinds. [CONC-2]
   */
  readonly examples: readonly JsonObject[]
  /**
   * Optional arguments that some calls take for nothing, each with such a call: it is `refused` where the arguments alone show that,
   * otherwise `told` in a warning or fix. A test names the arguments that always have an effect. [AG-33]
   */
  readonly needless?: NeedlessArguments
}

/** By argument: a call, without `docId`, in which it has no effect. */
export interface NeedlessArguments {
  readonly [argument: string]: { readonly refused: JsonObject } | { readonly told: JsonObject }
}

/** A tool as it is listed. */
export interface ListedTool extends ToolRow {
  /** Members of answers that come from the tool itself, as the specification lists them. [TOOL-29] */
  readonly results: readonly string[]
}

/**
 * By code: the arguments, without `docId`, of a call that gets this code on the sample document; `null` when arguments alone cannot cause
 * it.
 */
export type OwnErrors = { readonly [code in ToolErrorCode]?: JsonObject | null }
