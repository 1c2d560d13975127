import { readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { readS3Address } from '../../drivers/s3/s3-address.ts'
import { type S3UnderTest, startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

const ANN = { sub: 'ann', role: 'member' }
const MIB = 1_048_576
const docId = 'with files'

/** Puts a document with a file shape for each of `files`, and uploads these files. */
async function withFiles(relay: RelayUnderTest, files: readonly Uint8Array<ArrayBuffer>[]): Promise<McpAgent> {
  const rest = relay.rest(ANN)
  for (const bytes of files) expect(await rest.uploadBlob(bytes, 'image/png')).toBe(hashOf(bytes))
  const shapes = files.map((bytes, i) => ({ id: `s${i}`, type: 'file', blobRef: hashOf(bytes), fileName: `${i}.png` }))
  await rest.putDocument(docId, { name: 'F', pages: [{ id: 'c', name: 'C', shapes }], richTextPages: [] } as never)
  return mcpAgent(relay.mcpUrl, relay.token(ANN))
}

async function inStore(agent: McpAgent): Promise<readonly unknown[]> {
  const { files } = await agent.call('list_files', { docId })
  return (files as readonly { readonly inStore: boolean; readonly sizeBytes: number | null }[]).map((file) =>
    file.inStore ? file.sizeBytes : null,
  )
}

interface Keeping extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** The places for file bytes, which are outside the database. */
const KEEPINGS: Readonly<Record<string, () => Promise<Keeping>>> = {
  'on disk': async () => ({ env: {}, [Symbol.asyncDispose]: async () => undefined }),
  'in an object store': async () => {
    const s3 = await startS3()
    return { env: s3Env(s3), [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose]() }
  },
}

const s3Env = ({ url, credentials }: S3UnderTest) => ({
  RELAY_BLOBS_URL: url,
  RELAY_S3_ACCESS_KEY_ID: credentials.accessKeyId,
  RELAY_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})

/** Returns the bytes of a get_file answer, inline or from its link. */
async function bytesOf({ base64, url }: Readonly<Record<string, unknown>>): Promise<Buffer> {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64')
  return Buffer.from(await (await fetch(String(url))).arrayBuffer())
}

const empty = { name: 'F', pages: [{ id: 'c', name: 'C', shapes: [] }], richTextPages: [] } as never

/** Each place has databases of its own. */
const places = await Promise.all(
  Object.entries(KEEPINGS).map(async ([where, keep]) => (await storesUnderTest()).map((store) => ({ ...store, where, keep }))),
)

describe.each(places.flat())('files kept $where with $name', ({ env, remove, where, keep }) => {
  let keeping: Keeping
  let relay: RelayUnderTest
  beforeAll(async () => {
    keeping = await keep()
    relay = await startRelayUnderTest({ mcp: 'local', env: { ...env, ...keeping.env } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await keeping?.[Symbol.asyncDispose]()
    await remove()
  })

  it('[FILE-5] [FILE-7] [FILE-9] a file added to a cold or live document reads back whole, also after a restart', async () => {
    const rest = relay.rest(ANN)
    for (const kind of ['cold', 'live']) await rest.putDocument(kind, empty)
    await saved(relay.sync('live', ANN))
    const agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
    const files = [
      { docId: 'cold', bytes: someBytes(70_000, 9) },
      { docId: 'live', bytes: someBytes(70_000, 8) },
    ]
    const calls = files.map(({ docId: kind, bytes }) => {
      const base64 = Buffer.from(bytes).toString('base64')
      return { docId: kind, pageId: 'c', fileName: 'a.png', base64, requestId: kind }
    })
    const answers: Readonly<Record<string, unknown>>[] = []
    for (const [i, { bytes }] of files.entries()) {
      const added = await agent.call('add_file', calls[i])
      expect(added).toMatchObject({ hash: hashOf(bytes), size: 70_000, fileCategory: 'image', mimeType: 'image/png' })
      answers.push(added)
    }
    await relay.kill()
    await relay.restart()
    const after = await mcpAgent(relay.mcpUrl, relay.token(ANN))
    for (const [i, { docId: kind, bytes }] of files.entries()) {
      expect(await after.call('add_file', calls[i])).toEqual({ ...answers[i], replayed: true })
      expect((await after.call('list_files', { docId: kind }))['files']).toMatchObject([
        { id: answers[i]?.['shapeId'], inStore: true, sizeBytes: 70_000, blobRef: hashOf(bytes) },
      ])
      const file = await after.call('get_file', { docId: kind, blobRef: `blob://${hashOf(bytes)}` })
      expect(Buffer.compare(await bytesOf(file), bytes)).toBe(0)
      const { blobReferences } = (await rest.getDocument(kind)) as unknown as { readonly blobReferences: readonly string[] }
      expect(blobReferences).toEqual([hashOf(bytes)])
    }
  })

  it('[FILE-5] [FILE-9] add_file takes a stored file by its hash alone, and refuses an unknown hash', async () => {
    await relay.rest(ANN).putDocument('again', empty)
    const agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
    const bytes = someBytes(1_000, 10)
    const call = { docId: 'again', pageId: 'c' }
    const { hash } = await agent.call('add_file', { ...call, fileName: 'a.csv', base64: Buffer.from(bytes).toString('base64') })
    const used = await agent.call('add_file', { ...call, fileName: 'b.csv', blobRef: hash, x: 900 })
    expect(used).toMatchObject({ hash: hashOf(bytes), size: 1_000, mimeType: 'text/csv', fileCategory: 'spreadsheet' })
    const lost = hashOf(someBytes(1, 11))
    expect(await agent.refused('add_file', { ...call, fileName: 'c.csv', blobRef: lost })).toMatchObject({
      code: 'ERR_FILE_NOT_FOUND',
      hash: lost,
    })
    expect((await agent.call('list_files', { docId: 'again' }))['files']).toHaveLength(2)
  })

  if (where === 'on disk') {
    it('[FILE-4] get_file returns a file inline up to 1 MiB, and names the REST path for a larger one', async () => {
      const files = [someBytes(MIB, 1), someBytes(MIB + 1, 2), someBytes(0)]
      const agent = await withFiles(relay, files)
      for (const i of [0, 2]) {
        const { base64, ...file } = await agent.call('get_file', { docId, id: `s${i}` })
        expect(file).toMatchObject({ transport: 'inline', size: files[i]?.byteLength, mimeType: 'image/png' })
        expect(Buffer.from(String(base64), 'base64').equals(files[i] as Uint8Array)).toBe(true)
      }
      const refused = await agent.refused('get_file', { docId, id: 's1' })
      const path = `/api/blobs/${hashOf(files[1] as Uint8Array)}`
      expect(refused).toMatchObject({ code: 'ERR_FILE_TOO_LARGE_FOR_INLINE', sizeBytes: MIB + 1, maxBytes: MIB, path })
      expect(refused['message']).toContain(path)
      const got = await relay.fetch(path, { headers: { authorization: `Bearer ${relay.token(ANN)}` } })
      expect((await got.arrayBuffer()).byteLength).toBe(MIB + 1)
    })

    it('[FILE-1] [FILE-3] a file with missing or truncated bytes is reported as not in the store', async () => {
      const files = [someBytes(10, 3), someBytes(11, 4), someBytes(12, 5)]
      const agent = await withFiles(relay, files)
      expect(await inStore(agent)).toEqual([10, 11, 12])
      const [lost = '', cut = ''] = files.map((bytes) => {
        const hash = hashOf(bytes)
        const folder = join(relay.dataDir, 'blobs', hash.slice(0, 2))
        return join(folder, readdirSync(folder).find((name) => name.startsWith(hash.slice(2))) ?? '')
      })
      rmSync(lost)
      truncateSync(cut, 4)
      expect(await inStore(agent)).toEqual([null, null, 12])
      for (const id of ['s0', 's1']) {
        expect(await agent.refused('get_file', { docId, id })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
      }
    })
  }
})

describe('files kept in an object store', () => {
  let s3: S3UnderTest
  let relay: RelayUnderTest
  beforeAll(async () => {
    s3 = await startS3()
    relay = await startRelayUnderTest({
      mcp: 'local',
      env: { ...s3Env(s3), RELAY_MCP_BLOB_URL_TTL_SECS: '3' },
    })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await s3?.[Symbol.asyncDispose]()
  })

  it('[FILE-4] get_file returns a link for a file of any size, which works without a credential until it expires', async () => {
    const bytes = someBytes(MIB + 1, 6)
    const agent = await withFiles(relay, [bytes])
    const file = await agent.call('get_file', { docId, hash: hashOf(bytes) })
    expect(file).toMatchObject({ transport: 'url', size: MIB + 1 })
    expect(file).not.toHaveProperty('base64')
    const expiresAt = Number(file['expiresAt'])
    expect(Math.abs(expiresAt - Date.now() - 3_000)).toBeLessThan(1_500)
    const got = await fetch(String(file['url']))
    expect([got.status, got.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(hashOf(new Uint8Array(await got.arrayBuffer()))).toBe(hashOf(bytes))
    await new Promise((resolve) => setTimeout(resolve, expiresAt - Date.now() + 1_100))
    const late = await fetch(String(file['url']))
    expect(late.status).toBe(403)
    await late.body?.cancel()
    expect(relay.logLines.join('')).not.toContain('X-Amz-Signature')
  })

  it('[FILE-1] [FILE-3] get_file reports a file that the store lost as not found', async () => {
    const bytes = someBytes(20, 7)
    const agent = await withFiles(relay, [bytes])
    expect(await inStore(agent)).toEqual([20])
    const [key] = (await s3.everything()).filter((name) => name.includes(hashOf(bytes).slice(2)))
    await s3.client.send(new DeleteObjectCommand({ Bucket: readS3Address(s3.url).bucket, Key: key }))
    expect(await inStore(agent)).toEqual([null])
    expect(await agent.refused('get_file', { docId, id: 's0' })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
  })
})
