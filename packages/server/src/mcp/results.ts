import type { Fix, Refusal } from '@docrelay/model/edit'
import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

/**
 * Makes the member `result` of a call. The text repeats the structured content as compact JSON, for clients that read only text. [TOOL-7,
 * TOOL-8]
 */
export function callResult(outcome: ToolSuccess | ToolFailure): JsonObject {
  if (outcome.kind === 'success') {
    const { structured, pictures = [] } = outcome
    const text = { type: 'text', text: JSON.stringify(structured) }
    return { content: [text, ...pictures.map(imageContent)], structuredContent: structured, isError: false }
  }
  const { code, message, facts } = outcome
  return {
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: { code, message, ...facts },
    isError: true,
  }
}

function imageContent(png: Uint8Array): JsonObject {
  return { type: 'image', data: Buffer.from(png).toString('base64'), mimeType: 'image/png' }
}

export function success(structured: JsonObject, pictures: readonly Uint8Array[] = []): ToolSuccess {
  return { kind: 'success', structured, ...(pictures.length > 0 && { pictures }) }
}

const MAX_FIXES = 50

/** Adds the fixes of repaired arguments to a success. [AG-93, TOOL-17] */
export function withFixes(outcome: ToolSuccess | ToolFailure, made: readonly Fix[]): ToolSuccess | ToolFailure {
  if (outcome.kind === 'failure' || made.length === 0) return outcome
  const { fixes = [], fixesTotal, ...members } = outcome.structured
  const own = fixes as readonly unknown[]
  const all = [...made, ...own]
  const total = made.length + (typeof fixesTotal === 'number' ? fixesTotal : own.length)
  const structured = { ...members, fixes: all.slice(0, MAX_FIXES), ...(total > MAX_FIXES && { fixesTotal: total }) }
  return { ...outcome, structured }
}

/** Turns a refusal of the document model into the failure of a call. */
export function refusal({ code, message, facts }: Refusal): ToolFailure {
  return failure(code, message, facts)
}

export function failure(code: string, message: string, facts: JsonObject = {}): ToolFailure {
  return { kind: 'failure', code, message, facts }
}
