import { startPostgresForRun } from '../packages/server/src/drivers/sql/testing/postgres-under-test.ts'

/** Called by vitest before the first and after the last file: one PostgreSQL server for all files, each with its own databases. */
export default async function setup(): Promise<() => Promise<void>> {
  return startPostgresForRun()
}
