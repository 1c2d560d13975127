import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

let relay: RelayUnderTest
let ann: McpAgent
let resolver: Server
/** The paths that were requested from the resolver. */
const asked: string[] = []

/** A resolver that misbehaves in a different way for each DOI. */
beforeAll(async () => {
  resolver = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    if (path.endsWith('/good')) response.end(JSON.stringify({ type: 'book', title: 'Good', DOI: '10.1000/GOOD' }))
    else if (path.endsWith('/no-json')) response.end('<html>')
    else if (path.endsWith('/list')) response.end('[]')
    else if (path.endsWith('/large')) response.end(JSON.stringify({ title: 'x'.repeat(1_100_000) }))
    else if (path.endsWith('/away')) response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    else if (path.endsWith('/broken')) response.writeHead(500).end()
    else if (path.endsWith('/cut')) response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(resolver, 'listening')
  const { port } = resolver.address() as AddressInfo
  relay = await startRelayUnderTest({
    mcp: 'local',
    env: { RELAY_CITATIONS_DOI_RESOLVER: `http://127.0.0.1:${port}/csl`, RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' },
  })
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  resolver?.close()
})

let made = 0
const CITED = '<p id="blk-1">Shown <span data-citation="" data-ref-id="smith"></span> before.</p>'
/** Puts a document with one cited item, and opens it as a person when it is to be live. */
async function document(isLive: boolean): Promise<{ readonly docId: string } & Disposable> {
  const docId = `cited-${++made}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, {
    name: 'Cited',
    richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: CITED }],
    references: { items: { smith: { id: 'smith', type: 'book', DOI: '10.1000/S' } }, itemOrder: ['smith'], style: 'mla' },
  })
  if (!isLive) return { docId, [Symbol.dispose]() {} }
  const person = relay.sync(docId, { sub: 'ann', role: 'member' })
  await saved(person)
  return { docId, [Symbol.dispose]: () => person.destroy() }
}
const listed = async (docId: string) =>
  (await ann.call('list_references', { docId }))['references'] as unknown as readonly Members[]

describe.each([
  ['cold', false],
  ['live', true],
] as const)('references of a %s document', (_, isLive) => {
  it('[TOOL-add_reference] [REF-3] [REF-4] [REF-5] [REF-12] add_reference resolves a DOI, adds given items and names existing ones', async () => {
    using made = await document(isLive)
    const { docId } = made
    const items = [{ id: 'mine', DOI: 'https://doi.org/10.1000/good' }, { id: 'new' }, { id: 'other', DOI: 'doi:10.1000/s' }]
    const result = await ann.call('add_reference', { docId, doi: 'https://doi.org/10.1000/good', items })
    expect(result).toMatchObject({
      added: ['10.1000/good', 'new'],
      addedCount: 2,
      skipped: 2,
      duplicates: [
        { id: 'mine', existingId: '10.1000/good', by: 'doi' },
        { id: 'other', existingId: 'smith', by: 'doi' },
      ],
    })
    expect((await listed(docId)).map(({ id, type, title }) => [id, type, title])).toEqual([
      ['smith', 'book', undefined],
      ['10.1000/good', 'book', 'Good'],
      ['new', 'document', undefined],
    ])
    expect((await ann.call('add_reference', { docId, doi: '10.1000/good' }))['serverVersion']).toBe(result['serverVersion'])
  })

  it.each([
    ['unknown', 'ERR_DOI_NOT_FOUND', {}],
    ['no-json', 'ERR_DOI_UNAVAILABLE', { retryable: false }],
    ['list', 'ERR_DOI_UNAVAILABLE', { retryable: false }],
    ['large', 'ERR_DOI_UNAVAILABLE', { retryable: false }],
    ['away', 'ERR_DOI_UNAVAILABLE', { retryable: false }],
    ['broken', 'ERR_DOI_UNAVAILABLE', { retryable: true }],
    ['cut', 'ERR_DOI_UNAVAILABLE', { retryable: true }],
  ])('[REF-5] [REF-11] a resolver answer of %s fails the call with %s, and no given item is added', async (doi, code, facts) => {
    using made = await document(isLive)
    const { docId } = made
    const refused = await ann.refused('add_reference', { docId, doi: `10.1000/${doi}`, items: [{ id: 'new' }] })
    expect(refused).toMatchObject({ code, doi: `10.1000/${doi}`, ...facts })
    expect((await listed(docId)).map(({ id }) => id)).toEqual(['smith'])
  })

  it('[TOOL-update_reference] [TOOL-delete_reference] [REF-6] [REF-7] [REF-8] a cited item is deleted only by force, without a change of the text', async () => {
    using made = await document(isLive)
    const { docId } = made
    expect(await ann.call('update_reference', { docId, id: 'smith', item: { title: 'T', DOI: null } })).toMatchObject({
      id: 'smith',
      item: { id: 'smith', type: 'book', title: 'T' },
    })
    const prose = await ann.call('get_prose', { docId, pageId: 'p' })
    expect(await ann.refused('delete_reference', { docId, id: 'smith' })).toMatchObject({
      code: 'ERR_REFERENCE_CITED',
      count: 1,
      sites: [{ pageId: 'p', pageName: 'Prose', blockId: 'blk-1', text: 'Shown before.' }],
      more: 0,
    })
    expect(await ann.call('delete_reference', { docId, id: 'smith', force: true })).toMatchObject({
      id: 'smith',
      deleted: true,
      orphanedCitations: 1,
    })
    expect(await listed(docId)).toEqual([])
    expect((await ann.call('get_prose', { docId, pageId: 'p' }))['page']).toEqual(prose['page'])
    expect(await ann.call('list_references', { docId })).toMatchObject({ style: 'mla' })
  })
})

it('[REF-5] [MCP-3] no resolver is asked for a document that the caller cannot write, or for text without a DOI', async () => {
  using made = await document(false)
  const before = asked.length
  const doi = '10.1000/fresh'
  expect(await ann.refused('add_reference', { docId: 'nowhere', doi })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
  expect(await ann.refused('add_reference', { docId: made.docId, doi: '10.1/x' })).toMatchObject({ code: 'ERR_DOI_INVALID' })
  expect(asked.length).toBe(before)
})

it('[REF-2] [YDOC-5] a person with the document open gets each added item, and items that others change are kept', async () => {
  using made = await document(true)
  const person = relay.sync(made.docId, { sub: 'ann', role: 'member' })
  await saved(person)
  const [, answer] = await Promise.all([
    ann.call('update_reference', { docId: made.docId, id: 'smith', item: { title: 'by the agent' } }),
    ann.call('add_reference', { docId: made.docId, items: [{ id: 'second' }] }),
  ])
  expect(answer).toMatchObject({ added: ['second'] })
  await saved(person)
  expect((await listed(made.docId)).map(({ id, title }) => [id, title])).toEqual([
    ['smith', 'by the agent'],
    ['second', undefined],
  ])
  person.destroy()
})
