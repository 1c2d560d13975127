import type { RelayError } from '@docrelay/client/errors'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openPostgresUnderTest, type PostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { logged, type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'

const server = await openPostgresUnderTest()
if (typeof server === 'string') process.stderr.write(`skipped: ${server}\n`)

describe.skipIf(typeof server === 'string')('a database server that goes away', () => {
  let proxy: TcpProxy
  let relay: RelayUnderTest
  beforeAll(async () => {
    const url = new URL((server as PostgresUnderTest).url)
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    await proxy.down()
    const logLines: string[] = []
    const starting = startRelayUnderTest({
      logLines,
      mcp: 'local',
      env: { RELAY_STORAGE_URL: url.href, RELAY_CLUSTER_SINGLE_NODE: 'true', RELAY_WRITES_PER_SEC: '0' },
    })
    await Promise.race([starting, logged({ logLines }, 'storage.waiting')])
    await proxy.up()
    relay = await starting
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
    await (server as PostgresUnderTest)[Symbol.asyncDispose]()
  })

  const ready = async () => (await fetch(`${relay.baseUrl}/readyz`)).status
  const refused = async (call: Promise<unknown>) => {
    const error = (await call.then(
      () => new Error('the call was answered'),
      (reason: unknown) => reason,
    )) as RelayError
    return `${error.status} ${error.code}`
  }
  async function edited(id: string): Promise<SyncClient> {
    await relay.rest().putDocument(id, { name: id, richTextPages: [{ id: 'text', name: 'Text', content: '<p>before</p>' }] })
    const client = relay.sync(id)
    await saved(client)
    return client
  }
  const type = (client: SyncClient, text: string) => client.doc.getXmlFragment('prose:text').push([paragraph(text)])
  const content = async (id: string) =>
    ((await relay.rest().getDocument(id)) as { richTextPages: { content: string }[] }).richTextPages[0]?.content

  it('[LIFE-6] [WS-22] during an outage nothing is acknowledged or lost, and the relay continues when the server is back', {
    timeout: patience(60_000),
  }, async () => {
    const id = 'cut'
    const ann = await edited(id)
    const { pid } = relay
    const closes: string[] = []
    await proxy.down()
    type(ann, 'during')
    await until('the sockets to be closed', () => {
      const { closed } = ann.state
      if (closed !== null && closes.at(-1) !== String(closed.code)) closes.push(String(closed.code))
      return closes.includes('1012')
    })
    expect(ann.state.saved).not.toBe('saved')
    expect(await ready()).toBe(503)
    expect(await refused(relay.rest().getDocument(id))).toBe('503 UNAVAILABLE')
    expect(await refused(relay.rest().putDocument('new', { name: 'new' }))).toMatch(/^503 (UNAVAILABLE|NOT_PERSISTED)$/)
    const refusals: string[] = []
    const late = relay.sync(id, { sub: 'late' }, { onError: ({ code }) => refusals.push(code) })
    await until('the join to be refused', () => refusals.length > 0 && late.state.closed?.code === 1012)
    expect(new Set(refusals)).toEqual(new Set(['ERR_UNAVAILABLE']))
    type(ann, 'later')
    await proxy.up()
    const took = stopwatch()
    await until('readiness', async () => (await ready()) === 200)
    expect(took()).toBeLessThan(5_000)
    await until('the edits to be saved', () => ann.state.synced && ann.state.saved === 'saved', 20_000)
    await until('the late one to be in', () => late.state.synced, 20_000)
    expect(await content(id)).toMatch(/before.*during.*later/)
    expect(late.doc.getXmlFragment('prose:text').toString()).toMatch(/before.*during.*later/)
    expect(relay.pid).toBe(pid)
    late.destroy()
    ann.destroy()
  })

  it.each(['cold', 'live'])(
    '[TOOL-8] [TOOL-9] [CONC-4] tools fail and write nothing during an outage, and work again after it, for a %s document',
    async (id) => {
      const member = { sub: 'ann', role: 'member' }
      const client = relay.rest(member)
      const before = '<p id="blk-1">before</p><table><tr><td><p>cell</p></td></tr></table>'
      await client.putDocument(id, { name: id, richTextPages: [{ id: 'text', name: 'Text', content: before }] })
      const person = id === 'live' ? relay.sync(id, member) : null
      if (person !== null) await saved(person)
      const agent = await mcpAgent(relay.mcpUrl, relay.token(member))
      const at = { docId: id, pageId: 'text' }
      const calls = [
        ['set_prose', { ...at, content: 'during' }],
        ['insert_block', { ...at, content: 'during', id: 'blk-1' }],
        ['delete_block', { ...at, id: 'blk-1' }],
        ['edit_table', { ...at, op: 'addRow', row: 0 }],
        ['set_fields', { docId: id, fields: [{ name: 'during', value: 'x' }] }],
        ['rename_document', { docId: id, name: 'during' }],
        ['delete_document', { docId: id }],
        ['create_document', { name: 'during' }],
        ['get_prose', { docId: id }],
        ['list_documents', {}],
      ] as const
      await proxy.down()
      for (const [tool, args] of calls)
        expect(await agent.refused(tool, args), tool).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
      await proxy.up()
      await until('readiness', async () => (await ready()) === 200)
      expect(await client.getDocument(id)).toMatchObject({ name: id, serverVersion: 1, richTextPages: [{ content: before }] })
      expect(await agent.call('list_documents', { query: 'during' })).toMatchObject({ documents: [] })
      const after = await agent.call('insert_block', { ...at, content: 'after', id: 'blk-1', expectedVersion: 1 })
      expect(after).toMatchObject({ serverVersion: 2 })
      expect(await content(id)).toMatch(/before<.*after<.*cell</)
      if (person === null) return
      await until('the person to see it', () => person.doc.getXmlFragment('prose:text').toString().includes('after'), 20_000)
      expect(person.doc.getXmlFragment('prose:text').toString()).not.toContain('during')
      person.destroy()
    },
    patience(60_000),
  )

  it('[TOOL-8] [CONC-4] during repeated outages every edit reported as done is there once, and no refused edit twice', {
    timeout: patience(60_000),
  }, async () => {
    const id = 'flaky'
    await relay
      .rest()
      .putDocument(id, { name: id, richTextPages: [{ id: 'text', name: 'Text', content: '<p id="blk-1">x</p>' }] })
    const person = relay.sync(id)
    await saved(person)
    const agent = await mcpAgent(relay.mcpUrl, relay.token())
    const answered: string[] = []
    const refused: string[] = []
    let running = true
    const working = (async () => {
      for (let i = 0; running; i++) {
        const mark = `[${i}]`
        const { isError, result } = await agent.answer('insert_block', {
          docId: id,
          pageId: 'text',
          content: mark,
          format: 'html',
          id: 'blk-1',
        })
        if (isError) expect(result.code).toBe('ERR_STORE_UNAVAILABLE')
        ;(isError ? refused : answered).push(mark)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    for (let cut = 0; cut < 4; cut++) {
      const [done, failed] = [answered.length, refused.length]
      await until('some edits', () => answered.length >= done + 5)
      // Each outage begins at another moment of a call.
      await new Promise((resolve) => setTimeout(resolve, cut * 7))
      await proxy.down()
      await until('an edit to be refused', () => refused.length > failed)
      await proxy.up()
      await until('readiness', async () => (await ready()) === 200)
    }
    const before = answered.length
    await until('the tool to work again', () => answered.length > before)
    running = false
    await working
    const stored = (await content(id)) ?? ''
    const times = (mark: string) => stored.split(mark).length - 1
    expect(answered.filter((mark) => times(mark) !== 1)).toEqual([])
    expect(refused.filter((mark) => times(mark) > 1)).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
    await until('the person to have the same', () => person.state.synced && person.state.saved === 'saved', 20_000)
    const seen = person.doc.getXmlFragment('prose:text').toString()
    expect([...answered, ...refused].filter((mark) => seen.includes(mark) !== stored.includes(mark))).toEqual([])
    person.destroy()
  })

  it('[LIFE-6] when the server stops answering, the relay closes its sockets with 1012 and does not wait for late answers', {
    timeout: patience(60_000),
  }, async () => {
    const id = 'silent'
    const ann = await edited(id)
    proxy.silent()
    type(ann, 'during')
    await until('the sockets to be closed', () => ann.state.closed?.code === 1012, 20_000)
    expect(ann.state.saved).not.toBe('saved')
    expect(await ready()).toBe(503)
    await proxy.up()
    await until('readiness', async () => (await ready()) === 200)
    await until('the edits to be saved', () => ann.state.synced && ann.state.saved === 'saved', 20_000)
    expect(await content(id)).toMatch(/before.*during/)
    ann.destroy()
  })
})

function paragraph(text: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(text)])
  return element
}
