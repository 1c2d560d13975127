import { type RawBuilder, sql } from 'kysely'
import type { SearchQuery, Term } from '@docrelay/model/search/query'
import { fewestTerms } from '@docrelay/model/search/query'
import type { HitGroup } from '@docrelay/model/search/ranking'
import type { FindRequest, IndexedState } from '../../../search/search-index.port.ts'
import { LOCK_SEEDS } from '../lock-seeds.ts'
import { originalText, storedText } from '../stored-text.ts'
import type { Connection } from '../tables.ts'
import { foundOf, isAlwaysExact, ListPositions, nothingFound, RowCounts } from './counting.ts'
import { HeldStates } from './held-states.ts'
import { type IndexReader, type IndexWriter, type OnNew, type Pause } from './index-engine.ts'
import { hashOf, type IndexRow, keyAndClass, planRows, rowRange, SLOT_BITS, type StoredRow } from './index-rows.ts'
import { packWords, writtenWords } from './packed-words.ts'
import { dropTables, makeTables, POSTGRES_FORMAT, VECTOR, WRITTEN } from './postgres-index-tables.ts'

/**
 * Maximum number of words that one statement adds. A word takes the server about 6 µs, so that a batch ends within 5 ms. The words are counted
 * instead of the time measured: on a busy machine every statement takes long, and then batches of one row would make that worse. [AG-64]
 */
const MOST_WORDS = 600
const MOST_ROWS = 100

/**
 * Opens the writing side of the index. `isShared`: several nodes fill this index. Each document is then written in its own transaction, under a lock,
 * and only when it is still stored and the index holds an earlier state of it. Otherwise the rows of two nodes could be mixed, and the slower node
 * could store an older state. [AG-63]
 */
export function openPostgresWriter(db: Connection, onNew: OnNew, isShared = false): IndexWriter {
  const workspaces = createWorkspaceNumbers(db, isShared)
  let isMade: Promise<void> | null = null

  async function made(): Promise<void> {
    isMade ??= makeTables(db).then((isNew) => {
      if (isNew) workspaces.forget()
      if (isNew) onNew(null)
    })
    try {
      await isMade
    } catch (error) {
      isMade = null
      throw error
    }
  }

  /** Runs `work`. When somebody has dropped the tables, creates them again, so that the index is built anew, and repeats `work`. */
  async function withTables<T>(work: () => Promise<T>): Promise<T> {
    await made()
    try {
      return await work()
    } catch (error) {
      if (!isMissingTable(error)) throw error
      isMade = null
      await made()
      return work()
    }
  }

  /** Runs the changes of one document. In a shared index they are one transaction, so that no other node sees a part of them. */
  function asOne(key: number, work: (on: Connection) => Promise<void>): Promise<void> {
    if (!isShared) return work(db)
    return db.transaction().execute(async (writer) => {
      const seed = sql.lit(LOCK_SEEDS.indexedDocument)
      await sql`select pg_advisory_xact_lock(hashtextextended(${String(key)}, ${seed}))`.execute(writer)
      await work(writer)
    })
  }

  return {
    states: (workspaceId) =>
      withTables(async () => {
        const states = await statesOf(db, await workspaces(workspaceId), null)
        return new Map(states.map((state) => [state.key, state]))
      }),
    state: ({ key }) =>
      withTables(async () => {
        return stateIn(db, key)
      }),
    workspaces: () =>
      withTables(async () => {
        const { rows } = await sql<{ name: string }>`select name from search_workspaces order by number`.execute(db)
        return rows.map(({ name }) => originalText(name))
      }),
    write: (workspaceId, state, rows, pause) =>
      withTables(async () => {
        const number = await workspaces(workspaceId)
        const { key, version, updatedAtMs, coveredSeq } = state
        await asOne(key, async (on) => {
          // Another node may have deleted the document after its body was read, and may already have removed it from the index. [AG-59]
          if (isShared && !(await isStored(on, key))) return removeIn(on, key, pause)
          if (isShared && !isLater(state, await stateIn(on, key))) return
          const plan = planRows(key, await storedRows(on, key), rows.map(packedRow))
          await deleteRows(on, key, plan.remove, pause)
          for (const batch of batchesOf(plan.add)) {
            await insertRows(on, number, batch)
            await pause()
          }
          await sql`
          insert into search_documents (key, workspace, version, updated_at_ms, covered_seq)
          values (${key}, ${number}, ${version}, ${updatedAtMs}, ${coveredSeq})
          on conflict (key) do update set version = excluded.version, updated_at_ms = excluded.updated_at_ms,
            covered_seq = excluded.covered_seq`.execute(on)
        })
      }),
    remove: (_workspaceId, key, pause) => withTables(() => asOne(key, (on) => removeIn(on, key, pause))),
    // Does nothing, because the server looks after its own files.
    async forget() {},
    async clear() {
      await dropTables(db)
      isMade = null
      await made()
    },
    async close() {},
  }
}

async function stateIn(db: Connection, key: number): Promise<IndexedState | null> {
  const { rows } = await sql<StateRow>`
    select key, version, updated_at_ms, covered_seq from search_documents where key = ${key}`.execute(db)
  return rows[0] === undefined ? null : stateOf(rows[0])
}

async function isStored(db: Connection, key: number): Promise<boolean> {
  return (await db.selectFrom('documents').select('key').where('key', '=', key).executeTakeFirst()) !== undefined
}

async function removeIn(db: Connection, key: number, pause: Pause): Promise<void> {
  await sql`delete from search_documents where key = ${key}`.execute(db)
  const ids = (await storedRows(db, key)).map(({ id }) => id)
  await deleteRows(db, key, ids, pause)
}

/** Whether `state` is later than `held`: by its version, and within one version by the log entry that the body includes. */
function isLater(state: IndexedState, held: IndexedState | null): boolean {
  if (held === null || state.version !== held.version) return state.version > (held?.version ?? 0)
  if (state.coveredSeq !== held.coveredSeq) return state.coveredSeq > held.coveredSeq
  return state.updatedAtMs > held.updatedAtMs
}

async function deleteRows(db: Connection, key: number, ids: readonly number[], pause: Pause): Promise<void> {
  for (let from = 0; from < ids.length; from += MOST_ROWS) {
    const batch = ids.slice(from, from + MOST_ROWS)
    await sql`delete from search_rows where ${isOfDocument(key)} and id = any(${batch}::bigint[])`.execute(db)
    await pause()
  }
}

async function storedRows(db: Connection, key: number): Promise<readonly StoredRow[]> {
  const { rows } = await sql<{ id: number; hash: string }>`
    select id, left(md5(words), 12) as hash from search_rows where ${isOfDocument(key)} order by id`.execute(db)
  return rows.map(({ id, hash }) => ({ id, hash: Number.parseInt(hash, 16) }))
}

interface PackedRow extends Omit<IndexRow, 'words'> {
  readonly words: Buffer
  readonly wordCount: number
}

/** The hash of a row is that of its packed words, because PostgreSQL computes it from the stored bytes. */
function packedRow({ placeClass, words }: IndexRow): PackedRow {
  const packed = packWords(words)
  return { placeClass, words: packed, wordCount: words.split(' ').length, hash: hashOf(packed) }
}

function* batchesOf<Row extends PackedRow>(rows: readonly Row[]): Generator<readonly Row[]> {
  let batch: Row[] = []
  let words = 0
  for (const row of rows) {
    if (batch.length > 0 && (batch.length === MOST_ROWS || words + row.wordCount > MOST_WORDS)) {
      yield batch
      ;[batch, words] = [[], 0]
    }
    batch.push(row)
    words += row.wordCount
  }
  if (batch.length > 0) yield batch
}

/** Compares the document key and class in the id, for which there is an index half as large as one on whole ids. */
function isOfDocument(key: number): RawBuilder<unknown> {
  const { first, last } = rowRange(key)
  return sql`id >> ${sql.lit(SLOT_BITS)} between ${keyAndClass(first)} and ${keyAndClass(last)}`
}

function insertRows(db: Connection, workspace: string, rows: readonly (PackedRow & { readonly id: number })[]): Promise<unknown> {
  const [ids, words] = [rows.map(({ id }) => id), rows.map((row) => row.words)]
  return sql`
    insert into search_rows (id, workspace, words)
    select r.id, ${workspace}, r.words from unnest(${ids}::bigint[], ${words}::bytea[]) as r (id, words)`.execute(db)
}

type WorkspaceNumbers = ((workspaceId: string) => Promise<string>) & { forget(): void }

/**
 * Returns the number of a workspace followed by a point, which no word contains. Reads the number each time from a shared index, because another node
 * may have rebuilt that.
 */
function createWorkspaceNumbers(db: Connection, isShared: boolean): WorkspaceNumbers {
  const known = new Map<string, string>()
  const numberOf = async (workspaceId: string): Promise<string> => {
    const name = storedText(workspaceId)
    const found = isShared ? await numberIn(db, workspaceId) : known.get(name)
    if (found != null) return found
    await sql`insert into search_workspaces (name) values (${name}) on conflict (name) do nothing`.execute(db)
    const number = (await numberIn(db, workspaceId)) ?? ''
    known.set(name, number)
    return number
  }
  return Object.assign(numberOf, { forget: () => known.clear() })
}

async function numberIn(db: Connection, workspaceId: string): Promise<string | null> {
  const { rows } = await sql<{ number: number }>`
    select number from search_workspaces where name = ${storedText(workspaceId)}`.execute(db)
  return rows[0] === undefined ? null : `${rows[0].number}.`
}

/** Reads the states of the documents `keys` in the index; of all documents of the workspace for `null`. */
async function statesOf(db: Connection, workspace: string, keys: readonly number[] | null): Promise<readonly IndexedState[]> {
  const these = keys === null ? sql`` : sql`and key = any(${keys}::bigint[])`
  const { rows } = await sql<StateRow>`
    select key, version, updated_at_ms, covered_seq from search_documents where workspace = ${workspace} ${these}`.execute(db)
  return rows.map(stateOf)
}

interface StateRow {
  readonly key: number
  readonly version: number
  readonly updated_at_ms: number
  readonly covered_seq: number
}

function stateOf({ key, version, updated_at_ms, covered_seq }: StateRow): IndexedState {
  return { key, version, updatedAtMs: updated_at_ms, coveredSeq: covered_seq }
}

/** A reader remembers the held states of at most this many indexes. */
const MOST_REMEMBERED = 16

export function openPostgresIndexReader(db: Connection, nowMs: () => number): IndexReader {
  const positions = new ListPositions()
  const remembered = new Map<string, HeldStates>()

  function heldOf(identity: string): HeldStates {
    const held = remembered.get(identity) ?? new HeldStates()
    remembered.delete(identity)
    remembered.set(identity, held)
    const [oldest] = remembered.keys()
    if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
    return held
  }

  async function staleIn(moment: Connection, { workspace, identity }: PresentIndex, { documents }: FindRequest) {
    const held = heldOf(identity)
    const stale = held.behind(documents)
    if (stale.length === 0) return stale
    held.learn(await statesOf(moment, workspace, held.toRead(stale)))
    return held.behind(documents)
  }

  return {
    async find(request) {
      const endsMs = nowMs() + request.withinMs
      let stale: readonly number[] | null = null
      try {
        return await db
          .transaction()
          .setIsolationLevel('repeatable read')
          .setAccessMode('read only')
          .execute(async (moment) => {
            const present = await presentIndex(moment, request.workspaceId)
            if (present === null) return nothingFound(request, false)
            stale = await staleIn(moment, present, request)
            const groups = await groupsIn(
              moment,
              present.workspace,
              request,
              positions.of(request.documents),
              () => endsMs - nowMs(),
            )
            return foundOf(request, groups, stale, false)
          })
      } catch (error) {
        if (isTimeout(error)) return stale === null ? nothingFound(request, true) : foundOf(request, [], stale, true)
        return nothingFound(request, false)
      }
    },
    async close() {},
  }
}

interface PresentIndex {
  readonly workspace: string
  /** Identifies an index: different for each workspace, and after the index was created anew. */
  readonly identity: string
}

/** Rejects when there are no tables. Returns `null` when the tables have another format or the workspace is not in them. */
async function presentIndex(db: Connection, workspaceId: string): Promise<PresentIndex | null> {
  const { rows } = await sql<{ format: string; number: number; made: string }>`
    select f.value as format, w.number, 'search_documents'::regclass::oid::text as made
    from search_facts f, search_workspaces w where f.name = 'format' and w.name = ${storedText(workspaceId)}`.execute(db)
  const [row] = rows
  if (row?.format !== POSTGRES_FORMAT) return null
  const workspace = `${row.number}.`
  return { workspace, identity: `${row.made} ${workspace}` }
}

/** Whether an error has the code of a missing table. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42P01'
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}

interface Counted {
  readonly name: number
  readonly matched: number
  readonly all: number
  readonly exact: number
}

async function groupsIn(
  db: Connection,
  workspace: string,
  { query }: FindRequest,
  positions: ReadonlyMap<number, number>,
  leftMs: () => number,
): Promise<readonly HitGroup[]> {
  const full = await counted(db, rowsWithAll(workspace, query), leftMs)
  const groups = groupsOf(full, positions, isAlwaysExact(query))
  return groups.length > 0 || query.terms.length === 1
    ? groups
    : groupsOf(await counted(db, rowsWithSome(workspace, query), leftMs), positions, false)
}

function groupsOf(rows: readonly Counted[], positions: ReadonlyMap<number, number>, alwaysExact: boolean): readonly HitGroup[] {
  const byMatched = new Map<number, { readonly all: RowCounts; readonly exact: RowCounts }>()
  for (const { name, matched, all, exact } of rows) {
    let counts = byMatched.get(matched)
    if (counts === undefined)
      byMatched.set(matched, (counts = { all: new RowCounts(positions), exact: new RowCounts(positions) }))
    counts.all.add(name, all)
    counts.exact.add(name, alwaysExact ? all : exact)
  }
  return [...byMatched].flatMap(([matched, { all, exact }]) => [
    ...exact.groups(matched, true),
    ...all.groups(matched, false, exact),
  ])
}

async function counted(db: Connection, query: RawBuilder<Counted>, leftMs: () => number): Promise<readonly Counted[]> {
  await sql`select set_config('statement_timeout', ${String(Math.max(1, Math.ceil(leftMs())))}, true)`.execute(db)
  return (await query.execute(db)).rows
}

function rowsWithAll(workspace: string, query: SearchQuery): RawBuilder<Counted> {
  const exact = isAlwaysExact(query) ? sql`0` : sql`count(*) filter (where ${follows(query.sequence)})`
  return sql<Counted>`
    select id >> ${sql.lit(SLOT_BITS)} as name, ${sql.lit(query.terms.length)} as matched, count(*) as all, ${exact} as exact
    from search_rows where ${condition(workspace, query.terms)} group by 1`
}

function rowsWithSome(workspace: string, query: SearchQuery): RawBuilder<Counted> {
  const each = query.terms.map((term) => sql`select id from search_rows where ${condition(workspace, [term])}`)
  return sql<Counted>`
    select id >> ${sql.lit(SLOT_BITS)} as name, matched, count(*) as all, 0 as exact
    from (select id, count(*) as matched from (${sql.join(each, sql` union all `)}) as each_row group by id) as by_row
    where matched >= ${fewestTerms(query)} group by 1, 2`
}

/** Matches the rows that contain all terms. The index itself finds rows with all words; the order of words in phrases is compared afterwards. */
function condition(workspace: string, terms: readonly Term[]): RawBuilder<unknown> {
  const words = terms.flatMap((term) =>
    term.kind === 'phrase'
      ? term.words.map((word) => lexeme(workspace, word, false))
      : [lexeme(workspace, term.word, term.alsoLonger)],
  )
  const phrases = terms.flatMap((term) => (term.kind === 'phrase' && term.words.length > 1 ? [follows(term.words)] : []))
  return sql.join([sql`${VECTOR} @@ ${words.join(' & ')}::tsquery`, ...phrases], sql` and `)
}

/** Quotes a written word, which consists of letters, digits and slashes and so needs no escape. */
function lexeme(workspace: string, word: string, alsoLonger: boolean): string {
  return `'${workspace}${writtenWords(word)}'${alsoLonger ? ':*' : ''}`
}

function follows(words: readonly string[]): RawBuilder<unknown> {
  return sql`position(${`+${writtenWords(words.join(' '))}+`} in ${WRITTEN}) > 0`
}
