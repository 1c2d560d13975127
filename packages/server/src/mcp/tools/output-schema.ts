import type { JsonObject } from '../tool.ts'
import { BOOLEAN, FACTS, fixes, MEMBERS, members, type OutputMembers, TOTALS, warnings } from './output-members.ts'
import { errorsOf, TOOL_ERRORS, type ToolErrorCode } from './tool-errors.ts'
import type { ToolRow } from './tool-row.ts'

/**
 * Makes the output schema of a row: the members of a success, requiring those that every success has. A failure has other members. `own`: members
 * with another meaning in this tool. Members of the answers of every tool are left out; `completeOutput` adds them. [TOOL-5]
 */
export function output(required: readonly string[], optional: readonly string[] = [], own: OutputMembers = {}): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries([...required, ...optional].map((name) => [name, own[name] ?? typeOf(name)])),
    anyOf: [{ required }, { required: ['code', 'message'] }],
  }
}

function typeOf(name: string): JsonObject {
  const type = MEMBERS[name]
  if (type === undefined) throw new Error(`no type is known of the member ${name} of answers`)
  return type
}

/**
 * Completes an output schema for the tool list: adds the members that a success of any tool may have, and the facts of failures that only
 * this tool has. Facts of failures that every tool shares are only in the table of codes, to keep the list short. A name used by success and
 * failure gets both types. [AG-94]
 */
export function completeOutput(tool: ToolRow): JsonObject {
  const own = tool.outputSchema['properties'] as OutputMembers
  const ofSuccess: OutputMembers = { ...own, ...sharedBy(tool, own) }
  const isOwn = (code: ToolErrorCode): boolean => !('tools' in TOOL_ERRORS[code])
  const facts = errorsOf(tool).flatMap((code) =>
    TOOL_ERRORS[code].facts.map((fact) => fact.replace('?', '')).filter((fact) => isOwn(code) || Object.hasOwn(ofSuccess, fact)),
  )
  const ofFailure = ['code', 'message', ...facts].map((fact) => {
    const type = factType(fact)
    return [fact, either(ofSuccess[fact] ?? type, type)] as const
  })
  return { ...tool.outputSchema, properties: { ...ofSuccess, ...Object.fromEntries(ofFailure) } }
}

function factType(fact: string): JsonObject {
  const type = FACTS[fact]
  if (type === undefined) throw new Error(`no type is known of the fact ${fact} of failures`)
  return type
}

/** By tool: members of its fixes and warnings that name the shape, node, edge or step they are about. */
const PLACES: Readonly<Record<string, readonly [fixes: string, warnings: string]>> = {
  add_shapes: ['shape', 'shape'],
  generate_diagram: ['node edge', 'node edge'],
  edit_document: ['shape node edge step', 'shape node edge step'],
}

/** Returns members that come from arguments or kind of the tool, such as `dryRun` and `fixes`. */
function sharedBy({ bucket, access, name, inputSchema }: ToolRow, own: OutputMembers): OutputMembers {
  const takes = (argument: string): boolean => Object.hasOwn(inputSchema['properties'] as object, argument)
  const [inFixes, inWarnings] = PLACES[name] ?? ['', '']
  const isEdit = bucket === 'write' && access === 'edit'
  return {
    ...fixes(bucket, inFixes),
    ...(bucket === 'write' || Object.hasOwn(own, 'warnings') ? warnings(inWarnings) : {}),
    ...(takes('docId') && access !== 'none' ? { news: typeOf('news') } : {}),
    ...(takes('dryRun') ? { dryRun: BOOLEAN } : {}),
    ...(takes('requestId') ? { replayed: BOOLEAN } : {}),
    ...(isEdit ? { undoable: BOOLEAN } : {}),
    ...members({
      integer: Object.keys(own)
        .flatMap((list) => TOTALS[list] ?? [])
        .join(' '),
    }),
  }
}

/** Combines two schemas: a value may have the type of either. */
function either(a: JsonObject, b: JsonObject): JsonObject {
  if (JSON.stringify(a) === JSON.stringify(b)) return a
  const types = [...new Set([a['type'], b['type']].flat())]
  const [first, second] = [a['properties'], b['properties']] as readonly (OutputMembers | undefined)[]
  const items = [a['items'], b['items']] as readonly (JsonObject | undefined)[]
  return {
    ...b,
    ...a,
    type: types.length === 1 ? types[0] : types,
    ...(first !== undefined && second !== undefined && { properties: { ...second, ...first } }),
    ...(items[0] !== undefined && items[1] !== undefined && { items: either(items[0], items[1]) }),
  }
}
