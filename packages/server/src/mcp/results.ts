import type { Refusal } from '@docrelay/model/edit'
import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

/** The member `result` of a call: compact JSON once more as text for clients that read only text. [TOOL-7, TOOL-8] */
export function callResult(outcome: ToolSuccess | ToolFailure): JsonObject {
  if (outcome.kind === 'success') {
    const { structured } = outcome
    return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured, isError: false }
  }
  const { code, message, facts } = outcome
  return {
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: { code, message, ...facts },
    isError: true,
  }
}

export function success(structured: JsonObject): ToolSuccess {
  return { kind: 'success', structured }
}

/** A refusal of the document model as what a call answers. */
export function refusal({ code, message, facts }: Refusal): ToolFailure {
  return failure(code, message, facts)
}

export function failure(code: string, message: string, facts: JsonObject = {}): ToolFailure {
  return { kind: 'failure', code, message, facts }
}
