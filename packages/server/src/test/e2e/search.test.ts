import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { relayCommandHere } from '../relay-command.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

interface HitJson {
  readonly docId: string
  readonly kind: string
  readonly id?: string
  readonly snippet: string
}
type Members = Readonly<Record<string, unknown>>

const ANN = { sub: 'ann', role: 'member' }

let relay: RelayUnderTest
let agent: McpAgent
beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' } })
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** Searches, and repeats the search while the index is incomplete, which takes longer on a busy machine. */
async function search(args: Members): Promise<{ readonly hits: readonly HitJson[] } & Members> {
  for (;;) {
    const answer = await agent.call('search', args)
    if (answer['incomplete'] !== true) return { ...answer, hits: answer['hits'] as readonly HitJson[] }
  }
}

const put = (docId: string, body: Members) => relay.rest(ANN).putDocument(docId, body)
const prose = (name: string, content: string): Members => ({ name, richTextPages: [{ id: 'p', name: 'Page', content }] })

describe('search by an agent', () => {
  it('[TOOL-search] [AG-62] a hit has a stamped id, by which the block can be edited at once', async () => {
    await put('stamped', prose('Stamped', '<h2 id="h">Berries</h2><p id="a">Ripe gooseberries</p><p>and more gooseberries</p>'))
    const { hits } = await search({ query: 'gooseberries', docId: 'stamped' })
    expect(hits).toMatchObject([
      { docId: 'stamped', kind: 'prose', section: 'Berries', sectionIndex: 0, snippet: 'Ripe gooseberries' },
      { docId: 'stamped', kind: 'prose', snippet: 'and more gooseberries' },
    ])
    expect(hits[0]?.id).toMatch(/^a#[0-9a-z]{4}$/)
    expect(hits[1]?.id).toMatch(/^@2#[0-9a-z]{4}$/)
    const at = { docId: 'stamped', pageId: 'p' }
    await agent.call('set_prose', { ...at, id: hits[0]?.id, content: 'Picked currants' })
    expect(await agent.refused('set_prose', { ...at, id: hits[0]?.id, content: 'late' })).toMatchObject({
      code: 'ERR_BLOCK_CHANGED',
    })
    expect((await search({ query: 'gooseberries', docId: 'stamped' })).hits).toHaveLength(1)
    expect((await search({ query: 'currant' })).hits).toMatchObject([{ docId: 'stamped' }])
  })

  it('[AG-15] [AG-62] hits have bare ids where the address requests them', async () => {
    await put('bare', prose('Bare', '<p id="a">mulberry</p><p>mulberry tree</p>'))
    const plain = await mcpAgent(relay.mcpUrl, relay.token(ANN), '?ids=bare')
    const { hits } = (await plain.call('search', { query: 'mulberry', docId: 'bare' })) as { readonly hits?: readonly HitJson[] }
    expect(hits?.map(({ id }) => id)).toEqual(['a', '@1'])
  })

  it('[AG-63] text that a person has just drawn is found, in one document and in all, cold and live', async () => {
    await put('drawn', { name: 'Drawn', pages: [{ id: 'c', name: 'Canvas', shapes: [] }] })
    const person = relay.sync('drawn', ANN)
    await saved(person)
    for (const [at, query] of [
      ['s1', { query: 'medlars', docId: 'drawn' }],
      ['s2', { query: 'medlars two' }],
    ] as const) {
      const label = `medlars ${at === 's1' ? 'one' : 'two'}`
      person.doc.getMap('shapes:c').set(at, { id: at, type: 'rectangle', x: 1, y: 1, width: 9, height: 9, label })
      await saved(person)
      const { hits, behind } = await search(query)
      expect([hits.at(-1), behind]).toEqual([
        expect.objectContaining({ kind: 'shape', id: expect.stringMatching(`^${at}#....$`) as unknown, snippet: label }),
        undefined,
      ])
    }
    person.destroy()
  })

  it('[AG-60] [TOOL-search] a bad query, a cursor of another search and an unknown document are refused', async () => {
    expect(await agent.refused('search', { query: '…' })).toMatchObject({ code: 'ERR_SEARCH_QUERY', words: 0, max: 16 })
    const words = 'a b c d e f g h i j k l m n o p q'
    expect(await agent.refused('search', { query: words })).toMatchObject({ code: 'ERR_SEARCH_QUERY', words: 17, max: 16 })
    const long = await agent.refused('search', { query: 'word '.repeat(50) })
    expect(long).toMatchObject({ code: 'ERR_SEARCH_QUERY', characters: 250, max: 200 })
    expect(long).not.toHaveProperty('words')
    expect(await agent.refused('search', { query: 'a', cursor: '10.x' })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      argument: 'cursor',
    })
    expect(await agent.refused('search', { query: 'a', docId: 'never' })).toMatchObject({ code: 'ERR_DOC_NOT_FOUND' })
    const ben = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ben', role: 'member' }))
    await put('of-ann', prose('Private rowan', '<p>rowan</p>'))
    expect(await ben.refused('search', { query: 'rowan', docId: 'of-ann' })).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    expect((await ben.call('search', { query: 'rowan' }))['hits']).toEqual([])
  })

  it('[AG-59] a restored document is found and the deleted one is not', async () => {
    await put('restored', prose('Restored', '<p>sorbus</p>'))
    const rest = relay.rest(ANN)
    expect(await rest.captureRecoveryPoint('restored')).toBe(true)
    await put('restored', prose('Restored', '<p>nothing</p>'))
    expect((await search({ query: 'sorbus' })).hits).toEqual([])
    const points = await rest.recoveryPoints('restored')
    await rest.restoreRecoveryPoint('restored', points.at(-1)?.id ?? '')
    const [hit] = (await search({ query: 'sorbus' })).hits
    await rest.deleteDocument(hit?.docId ?? '')
    expect((await search({ query: 'sorbus' })).hits).toEqual([])
  })
})

describe('the index of a relay', () => {
  const folder = () => join(relay.dataDir, 'relay.db-search')
  const files = () => (existsSync(folder()) ? readdirSync(folder()).filter((name) => name.endsWith('.db')) : [])

  it('[AG-64] survives a kill, is in no backup, and is rebuilt after migrate --reindex, also for a running relay', async () => {
    await put('lasting', prose('Lasting', '<p>bilberry</p>'))
    const found = (await search({ query: 'bilberry' })).hits
    expect(found).toHaveLength(1)
    expect(files()).toHaveLength(1)
    await relay.kill()
    await relay.restart()
    agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
    expect((await search({ query: 'bilberry' })).hits).toEqual(found)

    const backup = join(relay.dataDir, 'copy')
    expect((await relayCommandHere(relay.dataDir, ['backup', backup])).code).toBe(0)
    expect(readdirSync(backup, { recursive: true }).filter((name) => String(name).includes('search'))).toEqual([])

    expect(await relayCommandHere(relay.dataDir, ['migrate', '--reindex'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('search index') as unknown,
    })
    expect(files()).toEqual([])
    await put('after', prose('After', '<p>bilberry bush</p>'))
    await until('the index is built again', () => files().length === 1)
    expect((await search({ query: 'bilberry' })).hits).toHaveLength(2)
  })

  it('[AG-64] is rebuilt when it is missing, and searches report themselves incomplete until then', async () => {
    for (let n = 0; n < 80; n++) await put(`many-${n}`, prose(`Many ${n}`, '<p>cloudberry</p>'))
    await relay.stop()
    rmSync(folder(), { recursive: true })
    await relay.restart()
    agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
    expect(files()).toEqual([])
    const first = await agent.call('search', { query: 'cloudberry', limit: 20 })
    expect(first['incomplete']).toBe(true)
    expect((await search({ query: 'cloudberry', limit: 20 })).hits).toHaveLength(20)
  })
})
