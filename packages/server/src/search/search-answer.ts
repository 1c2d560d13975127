import { writeSearchCursor } from './search-cursor.ts'
import type { SearchAnswer, SearchRequest } from './search.ts'

/** Returns the members of a search answer, for REST and for agents. [AG-61, AG-62, AG-63] */
export function presentAnswer(
  { hits, next, partial, incomplete, behind }: SearchAnswer,
  asked: SearchRequest,
): Readonly<Record<string, unknown>> {
  return {
    hits,
    returned: hits.length,
    ...(next !== null && { nextCursor: writeSearchCursor(next, asked) }),
    ...(partial && { partial }),
    ...(incomplete && { incomplete }),
    ...(behind > 0 && { behind }),
  }
}
