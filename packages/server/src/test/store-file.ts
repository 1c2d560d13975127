import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RelayUnderTest } from './relay-under-test.ts'

type Row = Readonly<Record<string, unknown>>

/** Reads the SQLite file of a relay, running or stopped, as another process would. */
export function storedRows(relay: RelayUnderTest, query: string, ...parameters: string[]): Row[] {
  const db = new DatabaseSync(join(relay.dataDir, 'relay.db'), { readOnly: true })
  try {
    return db.prepare(query).all(...parameters)
  } finally {
    db.close()
  }
}

/** Changes the SQLite file of a stopped relay. */
export function changeStored(relay: RelayUnderTest, statement: string, ...parameters: string[]): void {
  const db = new DatabaseSync(join(relay.dataDir, 'relay.db'))
  try {
    db.prepare(statement).run(...parameters)
    // `total_changes` includes changes by triggers: `updates` is a view that triggers write through.
    const changes = db.prepare('select total_changes() as n').get()?.['n']
    if (changes === 0) throw new Error(`nothing was changed by: ${statement}`)
  } finally {
    db.close()
  }
}

/** How far the log of a document goes, and how much of it the stored body contains. */
export interface StoredHead {
  readonly version: number
  readonly lastSeq: number
  readonly coveredSeq: number
}

export function storedHead(relay: RelayUnderTest, id: string): StoredHead | null {
  const query = `select version, last_seq, covered_seq from documents join log_heads using (key) where id = ?`
  const row = storedRows(relay, query, id)[0]
  if (row === undefined) return null
  return { version: Number(row['version']), lastSeq: Number(row['last_seq']), coveredSeq: Number(row['covered_seq']) }
}

/** Whether the stored body of a live document contains every edit of its log. */
export function isCovered(relay: RelayUnderTest, id: string): boolean {
  const head = storedHead(relay, id)
  return head !== null && head.lastSeq > 0 && head.coveredSeq === head.lastSeq
}
