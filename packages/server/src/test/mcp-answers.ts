import { TOOL_ROWS } from '../mcp/tools/all-tools.ts'
import { errorsOf, TOOL_ERRORS, type ToolErrorCode } from '../mcp/tools/tool-errors.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns everything that a call returned or changed, as text. Minted ids, stamps of connectors, which depend on such ids, versions and times are
 * replaced.
 */
export function comparable(value: unknown, docId: string): unknown {
  const names = new Map<string, string>()
  const text = JSON.stringify(value, (name, member: unknown) =>
    ['serverVersion', 'modifiedAt', 'expectedVersion', 'stamp'].includes(name) ? 0 : member,
  )
  return text
    .replaceAll(docId, 'DOC')
    .replace(
      /(blk|page|shape|doc|call)-[A-Za-z0-9_-]{10,12}/g,
      (id) => names.get(id) ?? (names.set(id, `#${names.size}`), `#${names.size}`),
    )
}

const rows = new Map(TOOL_ROWS.map((row) => [row.name, row]))

/** Returns how the members of a failure differ from its row of the table; `null` when they match. */
export function failureFlaw(name: string, failure: Members): unknown {
  const { code, message: _, ...facts } = failure
  const tool = rows.get(name)
  if (tool === undefined || !errorsOf(tool).includes(code as ToolErrorCode)) return `${name} may not answer ${String(code)}`
  const told: readonly string[] = TOOL_ERRORS[code as ToolErrorCode].facts
  const required = told.filter((fact) => !fact.endsWith('?'))
  const missing = required.filter((fact) => !Object.hasOwn(facts, fact))
  // Every failure of a step has the member `step`. [AG-57]
  const isStep = (fact: string) => name === 'edit_document' && fact === 'step'
  const unknown = Object.keys(facts).filter((fact) => !told.includes(fact) && !told.includes(`${fact}?`) && !isStep(fact))
  return missing.length + unknown.length === 0 ? null : { missing, unknown }
}
