import { isRefusal } from '@docrelay/model/edit'
import type { Naming } from '@docrelay/model/prose/block-names'
import { quote } from '@docrelay/model/quote'
import { readQuery } from '@docrelay/model/search/query'
import { presentAnswer } from '../../search/search-answer.ts'
import { readSearchCursor } from '../../search/search-cursor.ts'
import type { Search, SearchRequest } from '../../search/search.ts'
import { badArgument } from '../arguments.ts'
import { refusal, success } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { documentFailure, type WasDeleted } from './document-failures.ts'
import { annotations, input, PAGED, TEXT } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

export interface SearchToolDeps {
  readonly search: Search
  readonly wasDeleted: WasDeleted
}

const MAX_LIMIT = 20
const DEFAULT_LIMIT = 10

/** The tool `search`. [AG-59] */
export function searchTool(deps: SearchToolDeps): ToolRow {
  return {
    name: 'search',
    place: 51,
    title: 'Search',
    description: 'Find words or "a phrase" in documents. Returns blocks, best first.',
    errors: { ERR_SEARCH_QUERY: { query: '?!' } },
    examples: [{ query: 'alpha' }, { query: '"art of computer" knuth', limit: 1 }],
    inputSchema: input({ query: TEXT }, { docId: TEXT, ...PAGED }),
    outputSchema: output(['hits', 'returned'], ['nextCursor', 'partial', 'incomplete', 'behind']),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'none',
    bucket: 'read',
    flaw(args) {
      const asked = requestOf(args)
      return 'kind' in asked ? asked : null
    },
    run: (call) => search(call, deps),
  }
}

async function search({ access, args, signal, naming }: ToolCall, deps: SearchToolDeps): Promise<ToolSuccess | ToolFailure> {
  const asked = requestOf(args, naming)
  if ('kind' in asked) return asked
  try {
    return success(presentAnswer(await deps.search.search(access, asked, signal), asked))
  } catch (error) {
    if (asked.docId === null || signal.aborted) throw error
    return documentFailure(error, { access, docId: asked.docId, does: 'read' }, deps.wasDeleted)
  }
}

/** Converts checked arguments into a search request, or a failure that shows without reading a document. [MCP-3] */
function requestOf(args: JsonObject, naming: Naming = 'stamped'): SearchRequest | ToolFailure {
  const { query: text, docId = null, limit = DEFAULT_LIMIT, cursor } = args as unknown as SearchArguments
  const query = readQuery(text)
  if (isRefusal(query)) return refusal(query)
  const from = cursor === undefined ? 0 : readSearchCursor(cursor, { query, docId })
  if (from !== null) return { query, docId, limit: Math.min(limit, MAX_LIMIT), from, naming }
  const expected = 'the nextCursor of the answer before, with the other arguments unchanged'
  const got = quote(cursor ?? '')
  return badArgument('cursor', `cursor must be ${expected}; "${got}" is not.`, { expected, got })
}

interface SearchArguments {
  readonly query: string
  readonly docId?: string
  readonly limit?: number
  readonly cursor?: string
}
