import type { SearchRequest } from './search.ts'

/** Makes a cursor, which is valid only for the same words in the same document or workspace. [TOOL-24] */
export function writeSearchCursor(next: number, asked: Pick<SearchRequest, 'query' | 'docId'>): string {
  return `${next}.${fingerprint(asked)}`
}

/** Returns how many hits were passed; `null` when the cursor belongs to a search with other words or another document. */
export function readSearchCursor(cursor: string, asked: Pick<SearchRequest, 'query' | 'docId'>): number | null {
  const [, next, print] = /^(\d{1,3})\.([0-9a-z]{1,8})$/.exec(cursor) ?? []
  return next !== undefined && print === fingerprint(asked) ? Number(next) : null
}

/** Hash that distinguishes searches; not secret. */
function fingerprint({ query, docId }: Pick<SearchRequest, 'query' | 'docId'>): string {
  let hash = 0x811c9dc5
  for (const unit of JSON.stringify([query, docId])) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(36)
}
