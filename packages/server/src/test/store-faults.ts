import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { RelayUnderTest } from './relay-under-test.ts'

/** Changes the store of a running relay from another process, so that a write of the relay fails at a chosen moment. */
export interface StoreFaults extends AsyncDisposable {
  /** Makes the store refuse every log record that contains this text. */
  refuseRecordsWith(text: string): Promise<void>
  /** Ends the effect of `refuseRecordsWith`. */
  refuseNothing(): Promise<void>
  /** Blocks all writes of the relay until `release`, for at most a few seconds, after which the relay gives up. */
  hold(): Promise<void>
  release(): Promise<void>
}

/** Opens the store of a relay. `storageUrl` as in `RELAY_STORAGE_URL`; absent for the SQLite file in the data directory. */
export async function openStoreFaults(relay: RelayUnderTest, storageUrl?: string): Promise<StoreFaults> {
  return storageUrl === undefined ? sqliteFaults(join(relay.dataDir, 'relay.db')) : postgresFaults(storageUrl)
}

function sqliteFaults(path: string): StoreFaults {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  return {
    async refuseRecordsWith(text) {
      const hex = Buffer.from(text).toString('hex')
      // A record is first stored in one of these two tables, depending on its length.
      for (const table of ['updates_recent', 'updates_settled']) {
        db.exec(
          `create trigger refused_in_${table} before insert on ${table} when instr(new.bytes, x'${hex}') > 0
           begin select raise(abort, 'refused by the test'); end`,
        )
      }
    },
    async refuseNothing() {
      db.exec('drop trigger refused_in_updates_recent; drop trigger refused_in_updates_settled')
    },
    async hold() {
      db.exec('begin immediate')
    },
    async release() {
      db.exec('rollback')
    },
    async [Symbol.asyncDispose]() {
      db.close()
    },
  }
}

async function postgresFaults(url: string): Promise<StoreFaults> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    async refuseRecordsWith(text) {
      const hex = Buffer.from(text).toString('hex')
      await client.query(`
        create function refuse_record() returns trigger language plpgsql as $$ begin
          if position('\\x${hex}'::bytea in new.bytes) > 0 then raise exception 'refused by the test'; end if;
          return new;
        end $$;
        create trigger refused_records before insert on updates for each row execute function refuse_record()`)
    },
    async refuseNothing() {
      await client.query('drop trigger refused_records on updates; drop function refuse_record()')
    },
    async hold() {
      await client.query('begin; lock table updates in exclusive mode')
    },
    async release() {
      await client.query('rollback')
    },
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}
