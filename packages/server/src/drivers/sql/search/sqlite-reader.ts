import type { SearchQuery, Term } from '@docrelay/model/search/query'
import { fewestTerms } from '@docrelay/model/search/query'
import type { HitGroup } from '@docrelay/model/search/ranking'
import type { FindRequest, Found, IndexedState } from '../../../search/search-index.port.ts'
import { foundOf, isAlwaysExact, ListPositions, nothingFound, RowCounts } from './counting.ts'
import { HeldStates } from './held-states.ts'
import type { IndexReader } from './index-engine.ts'
import { keyAndClass } from './index-rows.ts'
import { identityOf, type IndexFile, indexFolder, indexPath, isDamage, openToRead } from './sqlite-index-file.ts'

const OPEN_FILES = 16
/** A search checks its time after this many rows. */
const ROWS_PER_LOOK = 4096
/** A search for some of its terms keeps at most this many rows in memory. */
const MOST_KEPT_ROWS = 2_000_000

interface Opened {
  readonly file: IndexFile
  readonly identity: string
  readonly held: HeldStates
  /** The version of the index file, and the documents that were behind then, at the last look; `null` before the first look. */
  seen: { readonly dataVersion: number; readonly documents: readonly IndexedState[] } | null
}

export function openSqliteIndexReader(storePath: string, nowMs: () => number): IndexReader {
  const folder = indexFolder(storePath)
  const open = new Map<string, Opened>()
  const positions = new ListPositions()

  function close(workspaceId: string): void {
    open.get(workspaceId)?.file.db.close()
    open.delete(workspaceId)
  }

  function openedOf(workspaceId: string): Opened | null {
    const path = indexPath(folder, workspaceId)
    const known = open.get(workspaceId)
    const identity = identityOf(path)
    if (known !== undefined && known.identity !== identity) close(workspaceId)
    if (identity === null) return null
    let opened = open.get(workspaceId)
    if (opened === undefined) {
      const file = openToRead(path)
      if (file === null) return null
      opened = { file, identity, held: new HeldStates(), seen: null }
    }
    open.delete(workspaceId)
    open.set(workspaceId, opened)
    const [oldest] = open.keys()
    if (open.size > OPEN_FILES && oldest !== undefined) close(oldest)
    return opened
  }

  function find(request: FindRequest): Found {
    const opened = openedOf(request.workspaceId)
    if (opened === null) return nothingFound(request, false)
    const { db } = opened.file
    // All queries of a search see the same moment.
    db.exec('begin')
    try {
      const stale = staleIn(opened, request.documents)
      const { groups, cutOff } = groupsIn(
        opened.file,
        request,
        positions.of(request.documents),
        nowMs() + request.withinMs,
        nowMs,
      )
      return foundOf(request, groups, stale, cutOff)
    } finally {
      db.exec('rollback')
    }
  }

  return {
    async find(request) {
      try {
        return find(request)
      } catch (error) {
        close(request.workspaceId)
        const nothing = nothingFound(request, false)
        return isDamage(error) ? { ...nothing, isDamaged: true } : nothing
      }
    },
    async close() {
      for (const workspaceId of [...open.keys()]) close(workspaceId)
    },
  }
}

/**
 * Returns the keys of documents that are behind. Reads states again only after somebody has written to the file, and only of documents that were
 * behind.
 */
function staleIn(opened: Opened, documents: readonly IndexedState[]): readonly number[] {
  const { file, held } = opened
  const stale = held.behind(documents)
  const [dataVersion] = file.statement('pragma data_version').get() as unknown as [number]
  if (stale.length === 0 || (opened.seen?.dataVersion === dataVersion && opened.seen.documents === documents)) return stale
  held.learn(statesIn(file, held.toRead(stale)))
  opened.seen = { dataVersion, documents }
  return held.behind(documents)
}

function statesIn(file: IndexFile, keys: readonly number[] | null): readonly IndexedState[] {
  const columns = 'select key, version, updated_at_ms, covered_seq from documents'
  const rows =
    keys === null
      ? file.statement(columns).all()
      : file.statement(`${columns} where key in (select value from json_each(?))`).all(JSON.stringify(keys))
  return (rows as unknown as readonly [number, number, number, number][]).map(([key, version, updatedAtMs, coveredSeq]) => ({
    key,
    version,
    updatedAtMs,
    coveredSeq,
  }))
}

class OutOfTime extends Error {}

/** Returns the groups of rows with all terms. When there are none, returns groups of rows with enough terms for a partial hit. */
function groupsIn(
  file: IndexFile,
  { query }: FindRequest,
  positions: ReadonlyMap<number, number>,
  endsMs: number,
  nowMs: () => number,
): { readonly groups: readonly HitGroup[]; readonly cutOff: boolean } {
  const counted = (match: string): { readonly counts: RowCounts; readonly cutOff: boolean } => {
    const counts = new RowCounts(positions)
    const cutOff = !eachRow(file, match, endsMs, nowMs, (id) => counts.add(keyAndClass(id), 1))
    return { counts, cutOff }
  }
  const all = counted(query.terms.map(matchOfTerm).join(' AND '))
  const matched = query.terms.length
  if (isAlwaysExact(query)) return { groups: all.counts.groups(matched, true), cutOff: all.cutOff }
  const exact = counted(phrase(query.sequence))
  const full = [...exact.counts.groups(matched, true), ...all.counts.groups(matched, false, exact.counts)]
  const cutOff = all.cutOff || exact.cutOff
  return full.length > 0 || cutOff || matched === 1 ? { groups: full, cutOff } : someTerms(file, query, positions, endsMs, nowMs)
}

/** Counts for each row how many terms it contains, and returns the groups of partial hits. */
function someTerms(
  file: IndexFile,
  query: SearchQuery,
  positions: ReadonlyMap<number, number>,
  endsMs: number,
  nowMs: () => number,
): { readonly groups: readonly HitGroup[]; readonly cutOff: boolean } {
  const held = new Map<number, number>()
  let cutOff = false
  for (const term of query.terms) {
    const isWhole = eachRow(file, matchOfTerm(term), endsMs, nowMs, (id) => {
      if (!positions.has(Math.floor(keyAndClass(id) / 4))) return
      held.set(id, (held.get(id) ?? 0) + 1)
      if (held.size > MOST_KEPT_ROWS) throw new OutOfTime()
    })
    if (!isWhole) cutOff = true
  }
  const byMatched = new Map<number, RowCounts>()
  for (const [id, matched] of held) {
    if (matched < fewestTerms(query)) continue
    let counts = byMatched.get(matched)
    if (counts === undefined) byMatched.set(matched, (counts = new RowCounts(positions)))
    counts.add(keyAndClass(id), 1)
  }
  return { groups: [...byMatched].flatMap(([matched, counts]) => counts.groups(matched, false)), cutOff }
}

/** Calls `see` for each matching row. Returns whether it came to the last row in time. */
function eachRow(file: IndexFile, match: string, endsMs: number, nowMs: () => number, see: (id: number) => void): boolean {
  let left = ROWS_PER_LOOK
  const rows = file.statement('select rowid from texts where texts match ?').iterate(match) as unknown as Iterable<[number]>
  try {
    for (const [id] of rows) {
      see(id)
      if (--left > 0) continue
      left = ROWS_PER_LOOK
      if (nowMs() >= endsMs) return false
    }
    return true
  } catch (error) {
    if (error instanceof OutOfTime) return false
    throw error
  }
}

function matchOfTerm(term: Term): string {
  if (term.kind === 'phrase') return phrase(term.words)
  return `${phrase([term.word])}${term.alsoLonger ? '*' : ''}`
}

/** Quotes words, which consist of letters and digits and so need no escape. */
function phrase(words: readonly string[]): string {
  return `"${words.join(' ')}"`
}
