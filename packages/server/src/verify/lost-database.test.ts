import { afterAll, describe, expect, it } from 'vitest'
import { creation, written } from '../documents/testing/document-writes.ts'
import { openStoredContents } from '../drivers/sql/inspect-store.ts'
import { isServerLost } from '../drivers/sql/postgres.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from '../drivers/sql/testing/postgres-under-test.ts'
import { openHost } from '../drivers/sql/testing/store-under-test.ts'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { startTcpProxy, type TcpProxy } from '../test/tcp-proxy.ts'
import type { StoredContents } from './stored-contents.port.ts'
import { type Finding, ServerLostError, verify } from './verify.ts'

const probe = await openPostgresUnderTest()
if (typeof probe === 'string') process.stderr.write(`skipped: ${probe}\n`)

const NO_BLOBS = { read: () => Promise.resolve(null), async *list() {} }

describe.skipIf(typeof probe === 'string')('a check of a store on PostgreSQL', () => {
  const server = probe as PostgresUnderTest
  afterAll(() => server[Symbol.asyncDispose]())

  let documents = 0

  /** Checks a store of documents through a proxy. `breaking` chooses when the proxy cuts the connection. */
  async function verifyThrough(breaking: (contents: StoredContents, proxy: TcpProxy) => Partial<StoredContents>) {
    const host = await openHost(server.url)
    const id = `doc-${++documents}`
    written(await host.documents.write(creation({ workspaceId: 'w', id })))
    await host[Symbol.asyncDispose]()
    const url = new URL(server.url)
    await using proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) })
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    await using contents = await openStoredContents(url.href, silentLogger)
    const findings: Finding[] = []
    const store = { ...contents, ...breaking(contents, proxy) }
    const outcome = await verify({ store, blobs: NO_BLOBS, random: systemRandom, report: (each) => findings.push(each) }).catch(
      (error: unknown) => error,
    )
    return { outcome, findings }
  }

  const LOST = expect.objectContaining({
    message: expect.stringMatching(/^the database server was lost, so the check is not complete/),
  })

  it('[OPS-11] a database server that becomes unreachable is reported as lost, and nothing as damaged', async () => {
    const { outcome, findings } = await verifyThrough((contents, proxy) => ({
      async *problems() {
        await proxy.down()
        yield* contents.problems()
      },
    }))
    expect([outcome, findings]).toEqual([LOST, []])
    expect(outcome).toBeInstanceOf(ServerLostError)
  })

  it('[OPS-11] a connection that breaks during a read is reported as a lost server, and nothing as damaged', async () => {
    const { outcome, findings } = await verifyThrough((contents, proxy) => ({
      eachDocument: (work) =>
        contents.eachDocument(async (document) => {
          proxy.reset()
          await work(document)
        }),
    }))
    expect([outcome, findings]).toEqual([LOST, []])
  })
})

const withCode = (code: string) => Object.assign(new Error('told by the server'), { code })

it.each([
  ['a server that goes down', withCode('57P01')],
  ['a server that starts', withCode('57P03')],
  ['a server without memory', withCode('53200')],
  ['a reset connection', withCode('ECONNRESET')],
  ['a name that is not found', withCode('EAI_AGAIN')],
  ['a connection that ended', new Error('Connection terminated unexpectedly')],
  ['a statement on a connection that ended', new Error('Client has encountered a connection error and is not queryable')],
  ['a connection that is not made in time', new Error('timeout exceeded when trying to connect')],
])('[OPS-11] %s is taken for a lost database server', (_, error) => {
  expect(isServerLost(error)).toBe(true)
})

it.each([
  ['a damaged page', withCode('XX001')],
  ['a statement that took longer than the role allows', withCode('57014')],
  ['a statement in a transaction that failed before', withCode('25P02')],
  ['a file that the server cannot read', withCode('58030')],
  ['a missing file', withCode('58P01')],
  ['a column that is not there', withCode('42703')],
  ['an exception of the program', Object.assign(new TypeError('not a buffer'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['a text that cannot be decoded', new Error('not the text of a row')],
])('[OPS-11] %s is not taken for a lost database server', (_, error) => {
  expect(isServerLost(error)).toBe(false)
})
