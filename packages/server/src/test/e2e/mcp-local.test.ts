import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const directory = mkdtempSync(join(tmpdir(), 'mcp-local-'))
let relay: RelayUnderTest
let host: McpAgent
let ann: McpAgent

beforeAll(async () => {
  const env = { RELAY_MCP_LOCAL_DOCUMENTS_DIR: directory, RELAY_WRITES_PER_SEC: '0' }
  relay = await startRelayUnderTest({ mcp: 'local', env })
  host = await mcpAgent(relay.mcpUrl, staticToken())
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

const staticToken = () => readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim()
const file = (id: string) => join(directory, `${id}.json`)

const HASH = 'ab'.repeat(32)
const BODY = {
  name: 'On this host',
  pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 0, y: 0, width: 10, height: 10 }] }],
  richTextPages: [
    {
      id: 'r1',
      name: 'Prose',
      content: `<h1>Head</h1><table><tr><td><p>cell</p></td></tr></table><p>text</p><img src="blob://${HASH}">`,
    },
  ],
}
const LOCAL = { serverVersion: 3, source: 'local' }

describe('local documents', () => {
  beforeAll(() => writeFile(file('plan'), JSON.stringify({ ...BODY, serverVersion: 3 })))

  it('[LOCAL-1] [LOCAL-2] [LOCAL-3] the static token and members get a list with the present local documents', async () => {
    for (const agent of [host, ann]) {
      const listed = await agent.call('list_documents', { query: 'this host' })
      expect(listed).toMatchObject({ localAccessEnabled: true, returned: 1 })
      expect(listed['documents']).toMatchObject([{ id: 'plan', source: 'local', canvasPageCount: 1, prosePageCount: 1 }])
    }
    await writeFile(file('brief'), JSON.stringify({ ...BODY, name: 'Brief' }))
    expect(await ann.call('list_documents', { query: 'brief' })).toMatchObject({ returned: 1 })
    expect(await ann.call('get_document', { docId: 'brief' })).toMatchObject({ name: 'Brief', serverVersion: 0 })
    await rm(file('brief'))
    expect(await ann.call('list_documents', { query: 'brief' })).toMatchObject({ returned: 0 })
    expect(await ann.refused('get_document', { docId: 'brief' })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
  })

  it.each([
    ['get_document', {}, { name: 'On this host', access: 'view', collectionId: null }],
    ['get_page', { pageId: 'c1' }, { shapeCount: 1 }],
    ['get_shape', { pageId: 'c1', id: 's1' }, { shape: { id: 's1' } }],
    ['get_prose', { pageId: 'r1', format: 'markdown' }, { page: { content: expect.stringContaining('# Head') } }],
    ['get_outline', { pageId: 'r1' }, { outline: [{ title: 'Head' }] }],
    ['list_references', {}, { count: 0 }],
    ['list_fields', {}, { count: 0 }],
    ['list_files', {}, { count: 1, files: [{ hash: HASH, inStore: false }] }],
    ['get_table', { pageId: 'r1', tableIndex: 0 }, { pageId: 'r1' }],
  ])('[LOCAL-3] [LOCAL-5] %s reads local documents', async (tool, args, result) => {
    const before = await readFile(file('plan'))
    expect(await ann.call(tool, { docId: 'plan', ...args })).toMatchObject({ ...result, ...LOCAL })
    expect(await readFile(file('plan'))).toEqual(before)
  })

  it('[LOCAL-5] get_file of a local document returns only blobs of the workspace', async () => {
    const refused = await ann.refused('get_file', { docId: 'plan', hash: HASH })
    expect(refused).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
    const bytes = new TextEncoder().encode('of the workspace')
    const hash = await relay.rest({ sub: 'ann' }).uploadBlob(bytes, 'image/png')
    await writeFile(file('files'), JSON.stringify(BODY).replaceAll(HASH, hash))
    expect(await ann.call('get_file', { docId: 'files', hash })).toMatchObject({
      base64: Buffer.from(bytes).toString('base64'),
      serverVersion: 0,
      source: 'local',
    })
    expect(await ann.refused('get_file', { docId: 'plan', hash })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
  })

  it('[LOCAL-3] resources list and read local documents', async () => {
    const client = new Client({ name: 'agent', version: '1' })
    const headers = { authorization: `Bearer ${staticToken()}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(relay.mcpUrl), { requestInit: { headers } }))
    try {
      const uris = (await client.listResources()).resources.map(({ uri }) => uri)
      expect(uris).toContain('relay://doc/plan')
      const { contents } = await client.readResource({ uri: 'relay://doc/plan' })
      const { resources, ...summary } = JSON.parse((contents[0] as { text: string }).text) as { resources: string[] }
      expect(summary).toMatchObject({ id: 'plan', ...LOCAL })
      expect(resources).toHaveLength(3)
      for (const uri of resources) expect((await client.readResource({ uri })).contents).toHaveLength(1)
      const ref = { type: 'ref/resource', uri: 'relay://doc/{id}' } as const
      const { completion } = await client.complete({ ref, argument: { name: 'id', value: 'pla' } })
      expect(completion.values).toEqual(['plan'])
    } finally {
      await client.close()
    }
  })

  it.each([
    ['rename_document', { name: 'x' }],
    ['delete_document', {}],
    ['delete_document', { dryRun: true }],
    ['set_prose', { pageId: 'r1', content: 'x', format: 'markdown' }],
    ['add_prose_page', { name: 'x' }],
    ['set_fields', { fields: [{ name: 'a', value: 'b' }] }],
  ])(
    '[LOCAL-4] a write to a local document by %s %o is refused with the advice to save it to the relay first',
    async (tool, args) => {
      const refused = await ann.refused(tool, { docId: 'plan', ...args })
      expect(refused).toMatchObject({ code: 'ERR_LOCAL_READ_ONLY', docId: 'plan', promote: 'PUT /api/docs/plan' })
      expect(refused['message']).toMatch(/PUT \/api\/docs\/plan or the promote command of the editor, and then repeat the call/)
      expect(JSON.parse(await readFile(file('plan'), 'utf8'))).toEqual({ ...BODY, serverVersion: 3 })
    },
  )

  it('[LOCAL-4] a document stored in the relay hides a local one with the same id', async () => {
    await writeFile(file('both'), JSON.stringify({ ...BODY, name: 'Both' }))
    const headers = { authorization: `Bearer ${relay.token({ sub: 'ann', role: 'member' })}`, 'content-type': 'application/json' }
    const put = await fetch(`${relay.baseUrl}/api/docs/both`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ ...BODY, name: 'Both stored' }),
    })
    expect(put.status).toBeLessThan(300)
    const listed = await ann.call('list_documents', { query: 'both' })
    expect(listed['documents']).toMatchObject([{ id: 'both', name: 'Both stored', source: 'relay' }])
    expect(await ann.call('get_document', { docId: 'both' })).toMatchObject({ source: 'relay', serverVersion: 1 })
    expect(await ann.call('rename_document', { docId: 'both', name: 'Promoted' })).toMatchObject({ serverVersion: 2 })
  })
})
