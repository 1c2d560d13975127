import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

const ANN = { sub: 'ann', role: 'member' }
const directory = mkdtempSync(join(tmpdir(), 'mcp-pictures-'))
let relay: RelayUnderTest
let client: Client

beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_MCP_LOCAL_DOCUMENTS_DIR: directory } })
  client = await connect(relay)
})
afterAll(async () => {
  await client?.close()
  await relay?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

async function connect(to: RelayUnderTest): Promise<Client> {
  const made = new Client({ name: 'looks', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${to.token(ANN)}` } }
  await made.connect(new StreamableHTTPClientTransport(new URL(to.mcpUrl), { requestInit }))
  return made
}

const box = (id: string, x: number): Members => ({ id, type: 'rectangle', x, y: 0, width: 100, height: 80, label: id })
const BODY = { name: 'Drawn', pages: [{ id: 'p', name: 'P', shapes: [box('a', 0), box('b', 50), box('c', 400)] }] }

/** Calls a tool, checks that the result has a text and a PNG, and returns the structured content. */
async function look(tool: string, args: Members): Promise<Members> {
  const { content, structuredContent, isError } = await client.callTool({ name: `service_${tool}`, arguments: args })
  expect(isError).toBe(false)
  expect(content).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: 'image/png' }])
  const [text, image] = content as unknown as [{ readonly text: string }, { readonly data: string }]
  expect(JSON.parse(text.text)).toEqual(structuredContent)
  expect(Buffer.from(image.data, 'base64').subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  return structuredContent as Members
}

it('[AG-109] [TOOL-7] the official client gets a picture of a page and of a shape after the text, cold and live', async () => {
  await relay.rest(ANN).putDocument('d', BODY)
  const cold = await look('get_page', { docId: 'd', pageId: 'p', image: true, lint: true })
  expect(cold).toMatchObject({ shapeCount: 3, lint: [{ kind: 'overlap', shapes: ['a', 'b'] }] })
  expect(await look('get_shape', { docId: 'd', pageId: 'p', id: 'c', image: true })).toMatchObject({ shape: { id: 'c' } })
  const person = relay.sync('d', ANN)
  await saved(person)
  const live = await look('get_page', { docId: 'd', pageId: 'p', image: true, lint: true })
  expect([live['shapes'], live['lint']]).toEqual([cold['shapes'], cold['lint']])
  person.destroy()
})

it('[AG-109] a call for a missing page fails in the same way with and without a picture', async () => {
  await relay.rest(ANN).putDocument('e', BODY)
  for (const args of [
    { docId: 'e', pageId: 'x' },
    { docId: 'none', pageId: 'p' },
  ]) {
    const ask = (image: boolean) => client.callTool({ name: 'service_get_page', arguments: { ...args, image } })
    const [plain, seen] = [await ask(false), await ask(true)]
    expect(seen).toEqual(plain)
    expect(seen.isError).toBe(true)
  }
})

it('[AG-109] [LOCAL-3] a local document can be pictured', async () => {
  await writeFile(join(directory, 'sketch.json'), JSON.stringify({ ...BODY, serverVersion: 3 }))
  expect(await look('get_page', { docId: 'sketch', pageId: 'p', image: true })).toMatchObject({ source: 'local', shapeCount: 3 })
})

it('[AG-109] [TOOL-24] a paged shape list continues with or without a picture, and lint covers the whole page', async () => {
  await relay.rest(ANN).putDocument('f', BODY)
  const first = await look('get_page', { docId: 'f', pageId: 'p', image: true, lint: true, limit: 1 })
  expect(first).toMatchObject({ shapes: [{ id: 'a' }], lint: [{ shapes: ['a', 'b'] }] })
  const rest = { docId: 'f', pageId: 'p', cursor: first['nextCursor'] }
  const { structuredContent } = await client.callTool({ name: 'service_get_page', arguments: rest })
  expect(structuredContent).toMatchObject({ shapes: [{ id: 'b' }, { id: 'c' }] })
  expect(structuredContent).not.toHaveProperty('lint')
  expect(await look('get_page', { ...rest, image: true })).toMatchObject({ shapes: [{ id: 'b' }, { id: 'c' }] })
})

it('[RES-4] every canvas page can be read as a picture by its URI, whatever its id and content', async () => {
  const shapes = ['rectangle', 'ellipse', 'text', 'connector', 'line', 'file', 'group', 'sticky'].map((type, i) => ({
    ...{ id: `s${i}`, type, x: i * 150, y: 0, x2: 10, y2: 90 },
    ...{ label: `<${type}> & "more"`, text: 'text', startShapeId: 'gone' },
  }))
  const many = Array.from({ length: 500 }, (_, i) => box(`m${i}`, i * 120))
  const ids = ['plain', 'with space', 'a.svg', 'ä/ö?#%', 'empty', 'many']
  const pages = ids.map((id) => ({ id, name: id, shapes: id === 'empty' ? [] : id === 'many' ? many : shapes }))
  await relay.rest(ANN).putDocument('r s', { name: 'All', pages })
  const read = async (uri: string) => (await client.readResource({ uri })).contents as unknown as readonly Members[]
  const [document] = await read('relay://doc/r%20s')
  const { resources } = JSON.parse(String(document?.['text'])) as { readonly resources: readonly string[] }
  expect(resources).toHaveLength(ids.length)
  for (const uri of resources) {
    const [content, ...more] = await read(uri)
    expect(more).toEqual([])
    expect(content).toMatchObject({ uri, mimeType: 'image/svg+xml', text: expect.stringMatching(/^<svg [^]*<\/svg>$/) })
  }
  await expect(read('relay://doc/r%20s/page/plain')).rejects.toMatchObject({ code: -32_602 })
})
