import type { JsonObject, ToolDefinition } from '../tool.ts'
import type { ToolErrorCode } from './tool-errors.ts'

/**
 * A tool with everything that lists, texts and tests say of it, so that nothing else has to name it: what is listed, the reference, the table of
 * codes and the laws of all tools are made of the rows.
 */
export interface ToolRow extends ToolDefinition {
  /** Its place in the interface's list, from 1. [TOOL-1] */
  readonly place: number
  /** What it refuses besides the codes of all tools with such arguments. [TOOL-9] */
  readonly errors: OwnErrors
  /**
   * Arguments without `docId` of calls that succeed on the sample document (`testing/sample-document.ts`). The first one is shown in the
   * reference. The laws try all of them, cold and live, and with other values of the same kinds. [CONC-2]
   */
  readonly examples: readonly JsonObject[]
}

/** By code, the arguments without `docId` of a call that is refused with it on the sample document; `null` where it takes more than arguments. */
export type OwnErrors = { readonly [code in ToolErrorCode]?: JsonObject | null }
