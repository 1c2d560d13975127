import type { BodyFacts } from '@docrelay/model/body-facts'
import type { Fix, Warning } from '@docrelay/model/edit'
import { quote } from '@docrelay/model/quote'

const MAX_NOTES = 50

/** `fixes` and `warnings` of an answer, each with its total when it was cut. */
export type Notes = Readonly<Record<string, unknown>>

interface Noted {
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
}

/**
 * Returns `fixes` and `warnings` of a result: absent when empty, equal ones merged with their count, at most 50 of
 * each. [TOOL-17..TOOL-19]
 */
export function notes({ fixes, warnings }: Noted): Notes {
  return { ...list('fixes', merged(fixes)), ...list('warnings', merged(warnings)) }
}

/**
 * Returns the notes of an edit of a document with these facts. A lock informs people: it stops nobody and becomes a
 * warning. [TOOL-19, CANVAS-23]
 */
export function editNotes({ carried }: BodyFacts, { fixes, warnings }: Noted): Notes {
  const { lockedBy, lockedByName } = carried
  if (typeof lockedBy !== 'string' || lockedBy === '') return notes({ fixes, warnings })
  const holder = typeof lockedByName === 'string' && lockedByName !== '' ? lockedByName : lockedBy
  const locked = { reason: `the document is locked by ${quote(holder)}; it was written all the same`, field: 'lockedBy' }
  return notes({ fixes, warnings: [locked, ...warnings] })
}

/** Adds warnings to the notes of an answer. */
export function withMoreWarnings(told: Notes, more: readonly Warning[]): Notes {
  const { warnings: known = [], warningsTotal, ...others } = told as Notes & { readonly warnings?: readonly Notes[] }
  const left = typeof warningsTotal === 'number' ? warningsTotal - known.length : 0
  const added = merged(more)
  const all = list('warnings', [...known, ...added])
  return left === 0 ? { ...others, ...all } : { ...others, ...all, warningsTotal: known.length + left + added.length }
}

function list(name: 'fixes' | 'warnings', entries: readonly Notes[]): Notes {
  if (entries.length === 0) return {}
  if (entries.length <= MAX_NOTES) return { [name]: entries }
  return { [name]: entries.slice(0, MAX_NOTES), [`${name}Total`]: entries.length }
}

/** Merges entries that are equal except for their place; the first place is kept. */
function merged(entries: readonly (Fix | Warning)[]): readonly Notes[] {
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
