import type { JsonObject, ToolDefinition } from '../tool.ts'
import type { ToolErrorCode } from './tool-errors.ts'

/**
 * A tool with everything that the tool list, the reference, the table of codes and the general tests need. All of them are derived from the
 * rows, so a tool is described in one place.
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
   * Optional arguments that have no effect in some calls, each with such a call. The call is `refused` when the arguments alone show that; otherwise
   * a warning or fix says so (`told`). A test lists the arguments that always have an effect. [AG-33]
   */
  readonly needless?: NeedlessArguments
}

/** By argument: a call, without `docId`, in which the argument has no effect. */
export interface NeedlessArguments {
  readonly [argument: string]: { readonly refused: JsonObject } | { readonly told: JsonObject }
}

/** A tool in the form in which `tools/list` shows it. */
export interface ListedTool extends ToolRow {
  /** Members of a success that come from the tool itself, as the specification lists them. [TOOL-29] */
  readonly results: readonly string[]
}

/**
 * By error code: the arguments, without `docId`, of a call that gets this code on the sample document; `null` when no arguments alone can cause
 * the code.
 */
export type OwnErrors = { readonly [code in ToolErrorCode]?: JsonObject | null }
