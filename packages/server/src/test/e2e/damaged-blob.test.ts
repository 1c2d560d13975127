import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { someBytes } from '../../blobs/testing/blob-bytes.ts'
import { relayCommandHere } from '../relay-command.ts'
import { logged, type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

let relay: RelayUnderTest
const BYTES = someBytes(300_000)
let hash = ''

const folder = () => join(relay.dataDir, 'blobs', hash.slice(0, 2))
/** The newest file of the blob that was not moved aside. */
const path = () => {
  const paths = readdirSync(folder())
    .filter((name) => !name.endsWith('.damaged'))
    .map((name) => join(folder(), name))
  return paths.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0] ?? ''
}
const get = (init: RequestInit = {}, headers: Record<string, string> = {}) =>
  relay.fetch(`/api/blobs/${hash}`, { ...init, headers: { authorization: `Bearer ${relay.token()}`, ...headers } })

beforeAll(async () => {
  relay = await startRelayUnderTest()
  hash = await relay.rest().uploadBlob(BYTES, 'image/png')
  expect((await get()).status).toBe(200)
  // Changes one byte and keeps the size of the file.
  const bytes = readFileSync(path())
  bytes[150_000] = (bytes[150_000] ?? 0) ^ 4
  writeFileSync(path(), bytes)
  expect(statSync(path()).size).toBe(BYTES.byteLength)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

it('[BLOB-23] verify names a blob with damaged bytes and does not change them', async () => {
  const { code, out } = await relayCommandHere(relay.dataDir, ['verify'])
  expect(code).toBe(1)
  expect(out).toContain(`damage: blob ${hash}`)
  expect(statSync(path()).size).toBe(BYTES.byteLength)
})

const READS: readonly [string, RequestInit, Record<string, string>][] = [
  ['GET', {}, {}],
  ['GET of a range that is not damaged', {}, { range: 'bytes=0-9' }],
  ['HEAD', { method: 'HEAD' }, {}],
]
it.each(READS)('[BLOB-23] %s of a damaged blob answers 502 and forbids caching', async (_, init, headers) => {
  const response = await get(init, headers)
  expect(response.status).toBe(502)
  expect(response.headers.get('cache-control') ?? '').not.toContain('immutable')
  if (init.method !== 'HEAD') expect(await response.json()).toMatchObject({ reason: 'damaged' })
})

it('[BLOB-23] [OPS-4] a damaged blob is logged and counted once, and its bytes are moved aside', async () => {
  const text = await (await fetch(`${relay.baseUrl}/metrics`)).text()
  expect(text).toContain('relay_damaged_blobs_total 1')
  await logged(relay, '"blobs.damaged"')
  expect(relay.logLines.filter((line) => line.includes('"blobs.damaged"'))).toHaveLength(1)
  expect(readdirSync(folder())).toEqual([expect.stringMatching(new RegExp(`^${hash.slice(2)}\\.[0-9a-f]{8}\\.damaged$`))])
})

it('[BLOB-23] an upload of the same bytes repairs the damaged blob', async () => {
  await relay.rest().uploadBlob(BYTES, 'image/png')
  const response = await get()
  expect(response.status).toBe(200)
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(BYTES)
})

it('[BLOB-23] the first read finds a blob that was damaged while the relay was stopped', async () => {
  await relay.stop()
  writeFileSync(path(), readFileSync(path()).subarray(0, 1_000))
  await relay.restart()
  expect((await get({}, { range: 'bytes=0-9' })).status).toBe(502)
})

it('[BLOB-3] a start that cannot remove a file of the upload folder logs this, and serves', async () => {
  await relay.stop()
  mkdirSync(join(relay.dataDir, 'blobs', 'tmp', 'lost+found'))
  await relay.restart()
  await logged(relay, '"blobs.not_cleared"')
  const again = await relay.rest().uploadBlob(someBytes(1_000), 'image/png')
  expect(again).toMatch(/^[0-9a-f]{64}$/)
})
