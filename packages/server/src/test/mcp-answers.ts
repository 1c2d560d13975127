import { TOOL_ROWS } from '../mcp/tools/all-tools.ts'
import { errorsOf, TOOL_ERRORS, type ToolErrorCode } from '../mcp/tools/tool-errors.ts'

type Members = Readonly<Record<string, unknown>>

/** Everything that a call says or leaves behind, but for minted ids, stamps of connectors, which hold such ids, versions and times. */
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

/** What a failure has that its row of the table has not, or the reverse; `null` when it is as the table says. */
export function failureFlaw(name: string, failure: Members): unknown {
  const { code, message: _, ...facts } = failure
  const tool = rows.get(name)
  if (tool === undefined || !errorsOf(tool).includes(code as ToolErrorCode)) return `${name} may not answer ${String(code)}`
  const told: readonly string[] = TOOL_ERRORS[code as ToolErrorCode].facts
  const required = told.filter((fact) => !fact.endsWith('?'))
  const missing = required.filter((fact) => !Object.hasOwn(facts, fact))
  // Any failure of a step says which one it is. [AG-57]
  const isStep = (fact: string) => name === 'edit_document' && fact === 'step'
  const unknown = Object.keys(facts).filter((fact) => !told.includes(fact) && !told.includes(`${fact}?`) && !isStep(fact))
  return missing.length + unknown.length === 0 ? null : { missing, unknown }
}
