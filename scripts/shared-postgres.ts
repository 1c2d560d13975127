import { startPostgresForRun } from '../packages/server/src/drivers/sql/testing/postgres-under-test.ts'

/** Called by vitest before the first file and after the last: one PostgreSQL server for all files, in which each has databases of its own. */
export default async function setup(): Promise<() => Promise<void>> {
  return startPostgresForRun()
}
