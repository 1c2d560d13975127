import pg from 'pg'
import * as Y from 'yjs'

/** An append to a log, as recorded by the database. */
interface Append {
  readonly document: string
  readonly seq: number
  /** The node that the document names as owner, by its row of `nodes`; `null` when there is none. */
  readonly owner: string | null
  readonly writer: string | null
}

/** Observes the store without the relays: a trigger records which node's connection moved the end of which log. [LIFE-26] */
export interface StoreAudit extends AsyncDisposable {
  /** The name of the node that owns the document; `null` when none does. */
  ownerOf(docId: string): Promise<string | null>
  /** Returns the appends by a node while another node owned the document. There must be none. */
  foreignAppends(): Promise<readonly Append[]>
  /** Returns how often a document went from one node to another without a release in between. */
  takeovers(): Promise<number>
  /** Returns the number of appends, so that a check that saw none does not pass. */
  appends(): Promise<number>
  /** Returns the document of its snapshot and log, read without a relay. Throws when the log has a gap. */
  logOf(docId: string): Promise<Y.Doc>
  /** Returns the last sequence number of the document's log. `coveredSeqOf` returns up to which number the stored body contains the log. */
  lastSeqOf(docId: string): Promise<number>
  coveredSeqOf(docId: string): Promise<number>
  /** Returns the number of the last heartbeat of each node. */
  beats(): Promise<ReadonlyMap<string, number>>
  /** Whether a connection from one of these ports has an open transaction that has written. */
  isWithinTransaction(ports: ReadonlySet<number>): Promise<boolean>
}

/** The database setting that names the node of a connection. */
export const NODE_SETTING = 'fault_run.node'

const TRIGGER = `
  create table fault_audit (entry bigint generated always as identity, key bigint, seq bigint, owner text, writer text, is_append boolean);
  create function note_head() returns trigger language plpgsql as $$ begin
    insert into fault_audit (key, seq, owner, writer, is_append)
      select new.key, new.last_seq, (select node_id from nodes where inc = new.owner), current_setting('${NODE_SETTING}', true),
        new.last_seq > old.last_seq;
    return null;
  end $$;
  create trigger note_append after update on log_heads for each row
    when (new.last_seq > old.last_seq) execute function note_head();
  create trigger note_takeover after update on log_heads for each row
    when (new.last_seq = old.last_seq and new.owner <> old.owner) execute function note_head();`

export async function openStoreAudit(url: string): Promise<StoreAudit> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  // A restart of the server ends the connections; the next query opens a new one.
  pool.on('error', () => undefined)
  await pool.query(TRIGGER)
  const rows = async <T>(query: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
    (await pool.query<T & pg.QueryResultRow>(query, [...values])).rows
  const count = async (which: string): Promise<number> =>
    Number((await rows<{ n: string }>(`select count(*) as n from fault_audit where ${which}`))[0]?.n ?? 0)
  const seqOf = async (docId: string, column: 'last_seq' | 'covered_seq'): Promise<number> => {
    const [head] = await rows<{ seq: string }>(
      `select ${column} as seq from documents join log_heads using (key) where documents.id = $1`,
      [docId],
    )
    return Number(head?.seq ?? 0)
  }
  return {
    async ownerOf(docId) {
      const found = await rows<{ node_id: string }>(
        `select node_id from documents join log_heads using (key) join nodes on inc = owner where documents.id = $1`,
        [docId],
      )
      return found[0]?.node_id ?? null
    },
    async foreignAppends() {
      const found = await rows<{ id: string; seq: string; owner: string; writer: string }>(
        `select documents.id, seq, owner, writer from fault_audit join documents using (key)
          where is_append and owner is distinct from writer and writer <> '' order by entry`,
      )
      return found.map(({ id, seq, owner, writer }) => ({ document: id, seq: Number(seq), owner, writer }))
    },
    takeovers: () => count('not is_append'),
    appends: () => count('is_append'),
    async logOf(docId) {
      const doc = new Y.Doc()
      const [head] = await rows<{ key: string; last_seq: string }>(
        'select key, last_seq from documents join log_heads using (key) where documents.id = $1',
        [docId],
      )
      if (head === undefined) throw new Error(`${docId} is not in the store`)
      const [snapshot] = await rows<{ through_seq: string; bytes: Buffer }>(
        'select through_seq, bytes from snapshots where key = $1 order by through_seq desc limit 1',
        [head.key],
      )
      let reached = Number(snapshot?.through_seq ?? 0)
      if (snapshot !== undefined) Y.applyUpdate(doc, snapshot.bytes)
      const records = await rows<{ seq: string; bytes: Buffer }>(
        'select seq, bytes from updates where key = $1 and seq > $2 order by seq',
        [head.key, reached],
      )
      for (const { seq, bytes } of records) {
        if (Number(seq) !== ++reached) throw new Error(`the log of ${docId} has ${seq} where ${reached} is due`)
        Y.applyUpdate(doc, bytes)
      }
      if (reached !== Number(head.last_seq)) throw new Error(`the log of ${docId} ends at ${reached}, not at ${head.last_seq}`)
      return doc
    },
    lastSeqOf: (docId) => seqOf(docId, 'last_seq'),
    coveredSeqOf: (docId) => seqOf(docId, 'covered_seq'),
    async beats() {
      const found = await rows<{ node_id: string; beat: string }>('select node_id, beat from nodes order by inc')
      return new Map(found.map(({ node_id, beat }) => [node_id, Number(beat)]))
    },
    async isWithinTransaction(ports) {
      const found = await rows<{ n: string }>(
        `select count(*) as n from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction' and backend_xid is not null and client_port = any($1)`,
        [[...ports]],
      )
      return Number(found[0]?.n ?? 0) > 0
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
