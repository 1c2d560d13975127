import type { ChangeFeed, ChangeRow } from '../../../feed/change-feed.port.ts'
import type { IdRange } from '../../../feed/feed-table.port.ts'
import type { Told } from '../../../drivers/sql/feed-writing.ts'

interface Row {
  readonly id: number
  readonly atMs: number
  readonly origin: string
  readonly told: Told
}

/**
 * The change feed in memory, with transactions. A row gets its id when its transaction begins and becomes visible when that
 * transaction commits, so ids become visible out of order. The id of a transaction that is rolled back never becomes visible.
 */
export class MemoryFeed {
  /** The rows in the order of their ids. */
  readonly rows: Row[] = []
  readonly #open = new Map<number, number>()
  readonly #nowMs: () => number
  #lastId = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Begins a transaction that may write a row, and returns the id of that row. */
  begin(): number {
    this.#open.set(++this.#lastId, this.#nowMs())
    return this.#lastId
  }

  /** Ends a transaction. `told` is `null` when it was rolled back or writes no row. */
  end(id: number, told: Told | null, origin: string): void {
    this.#open.delete(id)
    if (told === null) return
    const at = this.rows.findLastIndex((row) => row.id < id)
    this.rows.splice(at + 1, 0, { id, atMs: this.#nowMs(), origin, told })
  }

  /** Returns the port of the process `origin`. */
  of(origin: string): ChangeFeed {
    return {
      begin: async () => {
        const top = this.rows.at(-1)?.id ?? 0
        const gaps = [...this.#open.keys()].filter((id) => id < top).map((id) => ({ from: id, to: id }))
        const recent = this.rows.map(({ id, atMs }) => ({ id, atMs }))
        return { top, recent, gaps: gaps.sort((a, b) => a.from - b.from) }
      },
      read: async ({ above, gaps, limit, asksOpen }) => {
        const late = this.rows.filter(({ id }) => id <= above && gaps.some((gap) => isIn(gap, id)))
        const rows = [...late, ...this.rows.filter(({ id }) => id > above).slice(0, limit)]
        const openSinceMs = asksOpen && this.#open.size > 0 ? Math.min(...this.#open.values()) : null
        const aboveAtMs = this.rows.find(({ id }) => id === above)?.atMs ?? null
        const moment = { lastId: this.#lastId, nowMs: this.#nowMs(), openSinceMs, aboveAtMs }
        return { ...moment, rows: rows.map((row) => rowFor(row, origin)) }
      },
      purge: async () => false,
    }
  }
}

function isIn({ from, to }: IdRange, id: number): boolean {
  return from <= id && id <= to
}

function rowFor({ id, atMs, origin, told }: Row, reader: string): ChangeRow {
  const head = told.kind === 'deleted' ? told.before : told.head
  const { workspaceId, id: docId, key, lastSeq: seq, version } = head
  const common = { id, atMs, workspaceId, docId, key, seq, version, actor: told.actor, isOwn: origin === reader }
  switch (told.kind) {
    case 'edited':
      return { ...common, kind: told.kind }
    case 'deleted':
      return { ...common, kind: told.kind, before: head, tombstone: told.tombstone }
    default:
      return { ...common, kind: told.kind, head, isSharingChanged: told.isSharingChanged }
  }
}
