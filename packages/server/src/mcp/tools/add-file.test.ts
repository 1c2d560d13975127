import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { BlobUpload } from '../../blobs/uploads.ts'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { type RestRelay, startRestRelay } from '../../http/testing/rest-relay.ts'
import { type Internet, startInternet } from '../../outbound/testing/internet.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import type { JsonObject, ToolCall } from '../tool.ts'
import { type AddFileDeps, addFileTool } from './add-file.ts'
import { typeByExtension } from '../../blobs/file-types.ts'

const MAX_BLOB_BYTES = 100_000
const SECRET = 'Bearer canary-7f3a9c'
const url = 'https://files.example/a.pdf?signature=canary-query'

let internet: Internet
let relay: RestRelay
beforeAll(async () => {
  internet = await startInternet(['files.example', 'cdn.example'])
  relay = await startRestRelay({
    blobs: { maxBlobBytes: MAX_BLOB_BYTES },
    ingest: { allowedHosts: ['files.example'], network: internet.network },
  })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await internet?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  internet.requests.length = 0
  internet.connections.length = 0
})

const serve = (bytes: Uint8Array, headers = {}) =>
  internet.sites.set('files.example', (_, response) => response.writeHead(200, headers).end(bytes))
const serving = (answer: (response: ServerResponse) => void) =>
  internet.sites.set('files.example', (_, response) => answer(response))

/** A workspace with one document and the `add_file` tool. */
async function workspace(
  limits: Partial<typeof NO_LIMITS> & { quotaBytes?: number; maxDocBytes?: number } = {},
  takes: (upload: BlobUpload) => BlobUpload = (upload) => upload,
) {
  const workspaceId = randomUUID()
  const as = { sub: 'ann', wsp: [{ id: workspaceId, role: 'member' }] } as const
  const body = { name: 'D', pages: [{ id: 'c', name: 'C', shapes: [] }], richTextPages: [] }
  await relay.call('PUT', '/api/docs/doc', { as, body })
  const { documents, ingest, storage } = relay
  const blobs: AddFileDeps['blobs'] = { ...relay.blobs, upload: (by, upload) => relay.blobs.upload(by, takes(upload)) }
  const usage = async () => ({
    docBytes: await storage.documents.usedBytes(workspaceId),
    blobBytes: await storage.blobs.meteredBytes(workspaceId),
  })
  const time = manualTime()
  const tool = addFileTool({ documents, blobs, ingest, maxBlobBytes: MAX_BLOB_BYTES, usage, timers: time.timers })
  const access = { workspaceId, limits: { ...NO_LIMITS, ...limits } }
  const more = { access }
  return {
    time,
    usage,
    workspaceId,
    as,
    add: (args: JsonObject, over: Parameters<typeof toolCall>[1] = more) =>
      runTool([tool], 'add_file', toolCall({ docId: 'doc', pageId: 'c', fileName: 'a.pdf', ...args }, { ...over, access })),
    shapes: async () => {
      const { json } = await relay.call('GET', '/api/docs/doc', { as })
      return (json['pages'] as readonly { readonly shapes: readonly JsonObject[] }[])[0]?.shapes ?? []
    },
    held: () => storage.blobs.meteredBytes(workspaceId),
  }
}
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

describe('a file from a url', () => {
  it('[FILE-5] [FILE-6] [FILE-7] [TOOL-add_file] a file is fetched with the given authorization, stored, and placed on the page', async () => {
    const bytes = someBytes(5_000, 1)
    serve(bytes, { 'content-type': 'Image/PNG; q=1' })
    const { add, shapes, workspaceId, held } = await workspace()
    const added = await add({ url, authorization: SECRET, x: 5, label: 'Picture' })
    const hash = hashOf(bytes)
    expect(added).toMatchObject({
      ...{ pageId: 'c', hash, blobRef: hash, fileName: 'a.pdf', mimeType: 'image/png', size: 5_000, fileCategory: 'image' },
      serverVersion: 2,
    })
    expect(await shapes()).toMatchObject([{ id: added['shapeId'], type: 'file', x: 5, blobRef: hash, label: 'Picture' }])
    expect(internet.requests.map(({ headers }) => headers.authorization)).toEqual([SECRET])
    expect(await held()).toBe(5_000)
    using database = new DatabaseSync(join(relay.directory, 'relay.db'), { readOnly: true })
    const row = database.prepare('select provenance from blob_grants where workspace_id = ?').get(workspaceId)
    expect(JSON.parse(String(row?.['provenance']))).toEqual({ source: 'mcp:add_file', tags: [] })
    expect(JSON.stringify(relay.logLines)).not.toContain('canary')
  })

  it.each([
    [{ mimeType: 'Text/CSV; charset=x' }, 'image/png', 'text/csv'],
    [{}, 'text/html; charset=utf-8', 'application/octet-stream'],
    [{}, 'image/svg+xml', 'image/svg+xml'],
    [{}, undefined, 'application/pdf'],
    [{ fileName: 'x.html' }, undefined, 'application/octet-stream'],
    [{ mimeType: 'no type' }, 'image/png', 'application/octet-stream'],
    [{ mimeType: 'application/xhtml+xml' }, 'image/png', 'application/octet-stream'],
  ])(
    '[FILE-6] the type is taken from the call %j, else from the source %s, else from the file name: %s',
    async (args, remote, mimeType) => {
      serve(someBytes(10, 2), remote === undefined ? {} : { 'content-type': remote })
      const { add, shapes } = await workspace()
      expect(await add({ url, ...args })).toMatchObject({ mimeType })
      expect(await shapes()).toMatchObject([{ mimeType }])
    },
  )

  it('[FILE-6] [TOOL-17] a fix reports a type in the call under which no file can be stored, and no other type', async () => {
    const { add } = await workspace()
    const fixesOf = async (args: JsonObject) => (await add({ base64: 'SGVsbG8=', ...args }))['fixes']
    for (const mimeType of ['text/html', 'no type', 'application/xhtml+xml; charset=utf-8'])
      for (const dryRun of [true, false])
        expect(await fixesOf({ mimeType, dryRun })).toEqual([
          { action: 'dropped_invalid', field: 'mimeType', reason: expect.stringContaining('application/octet-stream') },
        ])
    for (const args of [{ mimeType: 'Application/Octet-Stream; x=1' }, { mimeType: 'Text/CSV' }, { fileName: 'a.html' }])
      expect(await fixesOf(args)).toBeUndefined()
  })

  it('[FILE-8] [TOOL-20] nothing is fetched for a missing page, a wrong version or a missing right to edit', async () => {
    serve(someBytes(10, 3))
    const { add } = await workspace()
    expect(await add({ url, pageId: 'gone' })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
    expect(await add({ url, expectedVersion: 7 })).toMatchObject({ code: 'ERR_VERSION_CONFLICT' })
    expect(await add({ url, docId: 'nowhere' })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
    expect(internet.connections).toEqual([])
  })

  it('[TOOL-21] a dry run fetches and stores nothing, and is refused for the reasons found before a fetch', async () => {
    const { add, shapes, held } = await workspace()
    expect(await add({ url, dryRun: true })).toMatchObject({
      hash: null,
      blobRef: null,
      size: null,
      dryRun: true,
      serverVersion: 1,
    })
    expect(await add({ url: 'https://other.example/', dryRun: true })).toMatchObject({ code: 'ERR_URL_NOT_ALLOWED' })
    expect([internet.connections, await shapes(), await held()]).toEqual([[], [], 0])
  })

  it('[MCP-15] cancelling a call during its fetch closes the connection, and stores neither blob nor shape', async () => {
    for (const beginsAnswer of [false, true]) {
      const caller = new AbortController()
      const closed = new Promise<boolean>((resolve) =>
        serving((response) => {
          response.once('close', () => resolve(response.writableFinished))
          if (beginsAnswer)
            response.writeHead(200).write('a first part', () => setImmediate(() => caller.abort(new Error('the caller left'))))
          else caller.abort(new Error('the caller left'))
        }),
      )
      const { add, shapes, held } = await workspace()
      await expect(add({ url }, { signal: caller.signal })).rejects.toThrow('the caller left')
      expect([await closed, await shapes(), await held()]).toEqual([false, [], 0])
    }
  })

  it('[MCP-16] during a fetch the caller gets progress each second, and none after it', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    serving((response) => asked.resolve(response))
    const { add, time } = await workspace()
    const steps: Parameters<ToolCall['progress']>[0][] = []
    const adding = add({ url }, { progress: (step) => void steps.push(step) })
    const response = await asked.promise
    expect(steps).toEqual([])
    await time.advance(2_500)
    expect(steps).toEqual([
      { progress: 1, message: 'fetching the url, 1 s' },
      { progress: 2, message: 'fetching the url, 2 s' },
    ])
    response.end('bytes')
    expect(await adding).toMatchObject({ size: 5 })
    await time.advance(5_000)
    expect([steps.length, time.waiting()]).toEqual([2, 0])
  })

  it('[TOOL-22] a repeat with its request id neither fetches nor stores again', async () => {
    serve(someBytes(10, 4))
    const { add, shapes } = await workspace()
    const once = { requestId: 'r', request: randomUUID(), digest: 'd' }
    const first = await add({ url }, { once })
    expect(first).not.toHaveProperty('code')
    expect(await add({ url }, { once })).toEqual({ ...first, replayed: true })
    expect([internet.requests.length, (await shapes()).length]).toEqual([1, 1])
  })

  it('[FILE-5] [TOOL-28] each failure of the source has its own code, and stores neither blob nor shape', async () => {
    const { add, shapes, held } = await workspace()
    expect(await add({ url: 'https://other.example/' })).toMatchObject({ code: 'ERR_URL_NOT_ALLOWED', host: 'other.example' })
    serving((response) => response.writeHead(302, { location: 'https://cdn.example/x' }).end())
    expect(await add({ url })).toMatchObject({ code: 'ERR_URL_NOT_ALLOWED', host: 'cdn.example' })
    serving((response) => response.writeHead(404).end('the text of the source'))
    const missing = await add({ url })
    expect(missing).toMatchObject({ code: 'ERR_FETCH_FAILED', status: 404, reason: 'status' })
    expect(JSON.stringify(missing)).not.toContain('the text')
    serving((response) => response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()))
    expect(await add({ url })).toMatchObject({ code: 'ERR_FETCH_FAILED' })
    serve(Buffer.alloc(MAX_BLOB_BYTES + 1))
    expect(await add({ url })).toMatchObject({ code: 'ERR_FILE_TOO_LARGE', maxBytes: MAX_BLOB_BYTES })
    expect([await shapes(), await held()]).toEqual([[], 0])
  })

  it('[MCP-3] [FILE-5] an invalid authorization value is refused without being quoted', async () => {
    const { add } = await workspace()
    const refused = await add({ url, authorization: 'canary\r\nX: 1' })
    expect(refused).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'authorization' })
    expect(JSON.stringify(refused)).not.toContain('canary')
    for (const bad of ['http://files.example/', 'file:///etc/passwd', '', 'x'])
      expect(await add({ url: bad })).toMatchObject({ code: 'ERR_BAD_URL' })
  })
})

describe('a file from base64', () => {
  it.each(['SGVsbG8', 'SGVsbG8=\n', ' SGVsbG8=', 'SGVsbG9=', 'SGVs-_8=', 'data:text/plain;base64,SGVsbG8=', '====', 'A'])(
    '[FILE-5] %j is refused as invalid Base64',
    async (text) => {
      const { add } = await workspace()
      expect(await add({ base64: text })).toMatchObject({ code: 'ERR_BAD_BASE64' })
    },
  )

  it('[FILE-5] [FILE-9] Base64 data is stored whole, and storing the same bytes again uses no quota', async () => {
    const { add, held } = await workspace({ quotaBytes: 3_000 })
    const bytes = someBytes(1_000, 5)
    expect(await add({ base64: base64(bytes) })).toMatchObject({ hash: hashOf(bytes), size: 1_000, mimeType: 'application/pdf' })
    expect(await add({ base64: base64(bytes), fileName: 'b.png' })).toMatchObject({ hash: hashOf(bytes), mimeType: 'image/png' })
    expect(await held()).toBe(1_000)
    expect(await add({ base64: '' })).toMatchObject({ size: 0 })
  })

  it('[MCP-15] a call aborted while its Base64 data is stored leaves neither blob nor shape', async () => {
    const caller = new AbortController()
    const { add, shapes, held } = await workspace({}, (upload) => {
      async function* leaving() {
        yield* upload.bytes
        caller.abort(new Error('the caller left'))
      }
      return { ...upload, bytes: leaving() }
    })
    await expect(add({ base64: base64(someBytes(100, 10)) }, { signal: caller.signal })).rejects.toThrow('the caller left')
    expect([await shapes(), await held()]).toEqual([[], 0])
  })

  it('[FILE-9] [ERR_STORAGE_QUOTA] [ERR_FILE_TOO_LARGE] data over a limit is not stored; a dry run refuses it', async () => {
    const { add, held, shapes } = await workspace({ quotaBytes: 3_000 })
    for (const dryRun of [true, false]) {
      expect(await add({ base64: base64(someBytes(3_000, 6)), dryRun })).toMatchObject({
        code: 'ERR_STORAGE_QUOTA',
        addedBytes: 3_000,
        quotaBytes: 3_000,
      })
      expect(await add({ base64: base64(someBytes(MAX_BLOB_BYTES + 1, 6)), dryRun })).toMatchObject({
        code: 'ERR_FILE_TOO_LARGE',
        sizeBytes: MAX_BLOB_BYTES + 1,
        maxBytes: MAX_BLOB_BYTES,
      })
    }
    expect([await held(), await shapes()]).toEqual([0, []])
  })

  it('[FILE-8] when the document is full after the bytes were stored, the error names their hash for a retry', async () => {
    const { usage, ...before } = await workspace()
    const { docBytes } = await usage()
    const bytes = someBytes(900, 7)
    // The quota has room for either the bytes or the shape, but not for both.
    const tight = await workspace({ quotaBytes: docBytes + 950 })
    const refused = await tight.add({ base64: base64(bytes) })
    const hash = hashOf(bytes)
    expect(refused).toMatchObject({ code: 'ERR_STORAGE_QUOTA', hash })
    expect(refused['message']).toContain(`blobRef ${hash}`)
    expect([await tight.held(), await tight.shapes()]).toEqual([900, []])
    expect(await before.held()).toBe(0)
  })
})

describe('a file by its hash', () => {
  it('[FILE-5] [FILE-6] a file by hash must be held by the workspace; its stored type is used, else that of its name', async () => {
    const { add, as } = await workspace()
    const [typed, untyped] = [someBytes(20, 8), someBytes(21, 9)]
    for (const [bytes, type] of [
      [typed, 'image/gif'],
      [untyped, 'application/octet-stream'],
    ] as const)
      await relay.call('POST', `/api/blobs/${hashOf(bytes)}`, { as, raw: bytes, headers: { 'content-type': type } })
    expect(await add({ blobRef: hashOf(typed) })).toMatchObject({ mimeType: 'image/gif', size: 20 })
    expect(await add({ blobRef: `blob://${hashOf(untyped)}` })).toMatchObject({
      mimeType: 'application/pdf',
      hash: hashOf(untyped),
    })
    const other = await workspace()
    for (const dryRun of [true, false])
      expect(await other.add({ blobRef: hashOf(typed), dryRun })).toMatchObject({
        code: 'ERR_FILE_NOT_FOUND',
        hash: hashOf(typed),
      })
    expect(await other.shapes()).toEqual([])
  })
})

it('[FILE-6] the extension of a file name gives the type in any case; an unknown extension gives none', () => {
  expect(['a.PDF', 'a.b.jpeg', 'a', 'pdf', 'a.', 'a.constructor', 'a.__proto__'].map(typeByExtension)).toEqual([
    'application/pdf',
    'image/jpeg',
    ...[null, null, null, null, null],
  ])
})
