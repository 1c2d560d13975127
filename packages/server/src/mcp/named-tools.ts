import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

/** Tools beyond the interface, which a relay or a request may lack. [AG-90] */
export const BEYOND_INTERFACE: ReadonlySet<string> = new Set([
  'edit_text',
  'set_block',
  'delete_section',
  'edit_document',
  'undo',
  'search',
  'wait_for_change',
])

const NAMED = /service_([a-z_]+)/g

/** Returns a text without the clauses that name an unknown tool. A clause ends at a semicolon. [AG-96] */
export function withKnownTools(text: string, isKnown: (tool: string) => boolean): string {
  if (!text.includes('service_')) return text
  const clauses = text.split('; ')
  const kept = clauses.filter((clause) => [...clause.matchAll(NAMED)].every(([, tool]) => isKnown(tool ?? '')))
  if (kept.length === clauses.length || kept.length === 0) return text
  const end = /[.)]$/.exec(text)?.[0] === '.' && !(kept.at(-1) ?? '').endsWith('.') ? '.' : ''
  return kept.join('; ') + end
}

/** Returns the outcome with a message, fixes and warnings that name only tools which the caller has. [AG-96] */
export function namingKnownTools<T extends ToolSuccess | ToolFailure>(outcome: T, isKnown: (tool: string) => boolean): T {
  if (outcome.kind === 'failure') return { ...outcome, message: withKnownTools(outcome.message, isKnown) }
  const { fixes, warnings } = outcome.structured
  if (fixes === undefined && warnings === undefined) return outcome
  const told = (notes: unknown): unknown =>
    Array.isArray(notes)
      ? (notes as readonly JsonObject[]).map((note) => ({ ...note, reason: withKnownTools(String(note['reason']), isKnown) }))
      : notes
  const structured = {
    ...outcome.structured,
    ...(fixes !== undefined && { fixes: told(fixes) }),
    ...(warnings !== undefined && { warnings: told(warnings) }),
  }
  return { ...outcome, structured }
}
