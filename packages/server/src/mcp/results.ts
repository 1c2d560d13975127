import type { Fix, Refusal, Warning } from '@docrelay/model/edit'
import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

const MAX_NOTES = 50

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

/** `fixes` and `warnings` of a result: absent when there are none, equal ones merged with their count, at most 50 of each. [TOOL-17..TOOL-19] */
export function notes({
  fixes,
  warnings,
}: {
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
}): JsonObject {
  return { ...list('fixes', merged(fixes)), ...list('warnings', merged(warnings)) }
}

function list(name: 'fixes' | 'warnings', entries: readonly JsonObject[]): JsonObject {
  if (entries.length === 0) return {}
  if (entries.length <= MAX_NOTES) return { [name]: entries }
  return { [name]: entries.slice(0, MAX_NOTES), [`${name}Total`]: entries.length }
}

/** Equal but for where they happened: the first place stands for all. */
function merged(entries: readonly (Fix | Warning)[]): readonly JsonObject[] {
  const counts = new Map<string, { readonly entry: Fix | Warning; count: number }>()
  for (const entry of entries) {
    const { path: _, ...rest } = entry as Fix
    const key = JSON.stringify(rest)
    const seen = counts.get(key)
    if (seen === undefined) counts.set(key, { entry, count: 1 })
    else seen.count++
  }
  return [...counts.values()].map(({ entry, count }) =>
    count === 1 ? { ...entry } : { ...entry, reason: `${entry.reason} (${count} times)` },
  )
}
