import type { ArgumentsSchema, ValueSchema } from '../packages/server/src/mcp/arguments.ts'
import { TOOL_ROWS } from '../packages/server/src/mcp/tools/all-tools.ts'
import { errorsOf, TOOL_ERRORS, type ToolErrorCode } from '../packages/server/src/mcp/tools/tool-errors.ts'
import type { ListedTool, ToolRow } from '../packages/server/src/mcp/tools/tool-row.ts'

const NEEDS: Readonly<Record<ToolRow['access'], string>> = {
  none: '–',
  view: 'may read the document',
  edit: 'may write the document',
  owner: 'owns the document',
  create: 'role member or owner',
}

/** Arguments with the same meaning in every tool. */
const SHARED = ['docId', 'pageId', 'expectedVersion', 'dryRun', 'requestId', 'limit', 'cursor', 'format']

/** Returns the page about the MCP tools: arguments, results and refusals of each. */
export function toolsPage(
  title: string,
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const common = commonCodes()
  return [
    `# ${title}`,
    'How to connect, and what a session looks like: [agents-guide.md](../agents-guide.md). A client calls a tool as `service_` and its name; `tools/list` has the same as JSON Schema.',
    'Hints: R reads only, D may destroy, I may be repeated, O asks other hosts. A tool that reads takes a token of the read bucket, any other of the write bucket. `?toolsets=` and `?readonly=1` choose among them.',
    table(
      ['Tool', 'Toolset', 'Needs', 'Hints', 'What it is for'],
      TOOL_ROWS.map((tool) => [
        `[${tool.name}](#${tool.name})`,
        tool.toolset,
        NEEDS[tool.access],
        hintsOf(tool),
        tool.description,
      ]),
    ),
    '## Shared arguments',
    table(
      ['Argument', 'Meaning'],
      [
        ['docId, pageId', 'ids of `list_documents` and `get_document`; names are no ids'],
        [
          'expectedVersion',
          'the `serverVersion` you read; at any other version nothing is written. Positions such as `@3` need it',
        ],
        ['dryRun', '`true`: checks, converts and answers as a write would, and stores nothing'],
        [
          'requestId',
          '1 to 128 characters: a repeat with the same arguments within 10 minutes answers the first result, with `replayed`',
        ],
        ['limit, cursor', 'how many entries; `nextCursor` of the answer before'],
        [
          'format',
          '`markdown` (`md`) or `html`; content that is written is Markdown when absent, `get_prose` answers HTML when absent',
        ],
      ],
    ),
    'Every answer about one document has `serverVersion`; reads also have `source`. Writes have `fixes` and `warnings` when there is something to say, and `dryRun` or `replayed`.',
    '## Errors',
    'A failure is a result with `isError`, `code`, `message` and the facts named here (`?`: not always). The message says all that is needed to repair the call.',
    table(
      ['Code', 'When', 'Facts', 'Tools'],
      (Object.entries(TOOL_ERRORS) as [ToolErrorCode, (typeof TOOL_ERRORS)[ToolErrorCode]][])
        .map(([code, row]) => [code, row.when, row.facts.join(', '), toolsOf(code, common)])
        .filter(([, , , tools]) => tools !== ''),
    ),
    ...TOOL_ROWS.flatMap((tool) => sectionOf(tool, common)),
  ].join('\n\n')
}

function sectionOf(tool: ListedTool, common: ReadonlySet<string>): readonly string[] {
  const schema = tool.inputSchema as unknown as ArgumentsSchema
  const required = new Set(schema.required)
  const args = Object.entries(schema.properties).map(([name, value]) => {
    const mark = required.has(name) ? '' : '?'
    return SHARED.includes(name) ? `\`${name}${mark}\`` : `\`${name}${mark}\` ${inWords(value)}`
  })
  const { anyOf } = tool.outputSchema as { readonly anyOf: readonly [{ required: readonly string[] }] }
  const always = anyOf[0].required
  const sometimes = tool.results.filter((name) => !always.includes(name))
  const own = errorsOf(tool).filter((code) => !common.has(code))
  return [
    `### ${tool.name}`,
    tool.description,
    `Takes: ${args.join(', ') || 'nothing'}.`,
    `Returns: ${[...always, ...sometimes.map((name) => `${name}?`)].join(', ')}.`,
    ...(own.length === 0 ? [] : [`Refuses with: ${own.join(', ')}.`]),
    ...tool.examples.slice(0, 1).map((example) => `Example: \`${JSON.stringify(withDocument(tool, example))}\``),
  ]
}

/** Makes a complete call from an example; the examples of rows omit the document. */
function withDocument({ inputSchema }: ToolRow, example: object): object {
  const { properties } = inputSchema as unknown as ArgumentsSchema
  return Object.hasOwn(properties, 'docId') ? { docId: 'doc', ...example } : example
}

function inWords({ type, enum: choices, minimum, maximum, maxLength, minItems, maxItems, items }: ValueSchema): string {
  if (choices !== undefined) return choices.join(' \\| ')
  const from = minimum ?? minItems
  const to = maximum ?? maxItems ?? maxLength
  const bounds = from === undefined && to === undefined ? '' : ` (${from ?? ''}–${to ?? ''})`
  const members = Object.entries(items?.properties ?? {}).map(([name, { type: of }]) => `${name}: ${[of].flat().join(' or ')}`)
  const of = items === undefined ? '' : members.length === 0 ? ` of ${String(items.type)}` : ` of {${members.join(', ')}}`
  return `${String(type)}${of}${bounds}`
}

function hintsOf({ annotations: hints }: ToolRow): string {
  const letters = [
    hints.readOnlyHint && 'R',
    hints.destructiveHint && 'D',
    hints.idempotentHint && 'I',
    hints.openWorldHint && 'O',
  ]
  return letters.filter((letter) => letter !== false).join(' ')
}

/** Returns the codes of whole groups of tools, which are listed once and not for each tool. */
function commonCodes(): ReadonlySet<string> {
  return new Set(Object.entries(TOOL_ERRORS).flatMap(([code, row]) => ('tools' in row ? [code] : [])))
}

function toolsOf(code: ToolErrorCode, common: ReadonlySet<string>): string {
  const names = TOOL_ROWS.filter((tool) => errorsOf(tool).includes(code)).map(({ name }) => name)
  if (names.length === TOOL_ROWS.length) return 'every'
  if (!common.has(code)) return names.join(', ')
  const row = TOOL_ERRORS[code]
  switch ('tools' in row ? row.tools : undefined) {
    case 'ofDocuments':
      return 'all with docId'
    case 'readsOfDocuments':
      return 'all that read a document'
    case 'writesOfDocuments':
      return 'all that write a document'
    case 'ofPages':
      return 'all with pageId'
    case 'writes':
      return 'all that write'
    case 'paged':
      return 'all with docId and cursor'
    case 'repeatable':
      return 'all with requestId'
    default:
      return names.join(', ')
  }
}
