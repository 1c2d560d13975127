import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { logged, type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

interface Blocks {
  readonly id: string
  readonly blocks: readonly { readonly id: string; readonly text: string }[]
}

async function created(agent: McpAgent, name: string): Promise<{ readonly docId: string; readonly pageId: string }> {
  const { id, prosePageId } = await agent.call('create_document', { name })
  return { docId: String(id), pageId: String(prosePageId) }
}

async function textOf(agent: McpAgent, page: object): Promise<string> {
  const { page: shown } = await agent.call('get_prose', { ...page, format: 'markdown' })
  return (shown as { readonly content: string }).content
}

describe.each(await storesUnderTest())('tools on $name', ({ env, remove }) => {
  let relay: RelayUnderTest
  /** An agent with the static token, and a member with a token of the issuer. */
  let host: McpAgent
  let ann: McpAgent

  beforeAll(async () => {
    relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_WRITES_PER_SEC: '0', ...env } })
    host = await mcpAgent(relay.mcpUrl, readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim())
    ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  describe('an agent', () => {
    it('[TOOL-create_document] [MCP-20] an agent creates a blank document, finds it in the list, and is its owner', async () => {
      const made = await host.call('create_document', { name: '  A plan ' })
      expect(made).toMatchObject({ name: 'A plan', serverVersion: 1 })
      expect(made['id']).toMatch(/^doc-[A-Za-z0-9_-]{12}$/)
      const listed = await host.call('list_documents', { query: 'a PLAN' })
      expect(listed).toMatchObject({ returned: 1, localAccessEnabled: false })
      expect(listed['documents']).toEqual([
        {
          id: made['id'],
          name: 'A plan',
          modifiedAt: expect.any(Number),
          source: 'relay',
          pageCount: 2,
          canvasPageCount: 1,
          prosePageCount: 1,
        },
      ])
      const read = await host.call('get_document', { docId: made['id'] })
      expect(read).toMatchObject({
        id: made['id'],
        name: 'A plan',
        lockedBy: null,
        access: 'owner',
        collectionId: null,
        pages: [{ id: made['canvasPageId'], name: 'Canvas', shapeCount: 0 }],
        prosePages: [{ id: made['prosePageId'], name: 'Prose', order: 0 }],
        fields: [],
        referenceCount: 0,
        serverVersion: 1,
        source: 'relay',
      })
      const owned = await relay.rest({ role: 'owner' }).listDocuments()
      const stored = owned.find(({ id }) => id === made['id'])
      expect(stored).toMatchObject({ ownerId: 'service:mcp', ownerName: 'MCP integration' })
    })

    it('[CONC-2] [TOOL-15] [TOOL-16] an agent writes and reads a cold document, and each answer shows the result', async () => {
      const at = await created(ann, 'cold')
      const set = await ann.call('set_prose', {
        ...at,
        content: '# Aims\n\nFirst words.\n\n## Means\n\n| a | b |\n|---|---|\n| 1 | 2 |',
      })
      expect(set).toMatchObject({ pageId: at.pageId, ok: true, serverVersion: 2 })
      const { blocks } = set as unknown as Blocks
      const first = blocks.find(({ text }) => text === 'First words.')
      const inserted = await ann.call('insert_block', { ...at, content: 'Second words.', id: first?.id, expectedVersion: 2 })
      expect(inserted).toMatchObject({ serverVersion: 3, blocks: [{ type: 'paragraph', text: 'Second words.' }] })
      expect(await ann.refused('insert_block', { ...at, content: 'x', id: first?.id, expectedVersion: 2 })).toMatchObject({
        code: 'ERR_VERSION_CONFLICT',
        expectedVersion: 2,
        serverVersion: 3,
      })
      await ann.call('move_block', { ...at, anchor: 'Second words.', targetAnchor: 'First words.', side: 'before' })
      expect(await ann.call('get_outline', at)).toMatchObject({
        outline: [
          { index: 0, title: 'Aims' },
          { index: 1, title: 'Means' },
        ],
      })
      expect(await ann.call('get_table', at)).toMatchObject({ table: { rows: 2, cols: 2 } })
      expect(await ann.call('edit_table', { ...at, op: 'addRow', row: 1 })).toMatchObject({ ok: true, table: { rows: 3 } })
      expect(await ann.call('insert_section', { ...at, level: 2, title: 'End', body: 'Done.', afterIndex: 1 })).toMatchObject({
        index: 2,
      })
      await ann.call('restructure_outline', { ...at, op: 'promote', index: 2 })
      await ann.call('delete_block', { ...at, anchor: 'Done.' })
      const text = await textOf(ann, at)
      expect(text.indexOf('Second words.')).toBeLessThan(text.indexOf('First words.'))
      expect(text).toMatch(/^# End$/m)
      const { serverVersion } = await ann.call('get_document', { docId: at.docId })
      expect((await relay.rest({ sub: 'ann' }).getDocument(at.docId)).serverVersion).toBe(serverVersion)
    })

    it('[TOOL-21] a dry run answers as the write would, without writing', async () => {
      const at = await created(ann, 'tried')
      const tried = await ann.call('set_prose', { ...at, content: 'Never stored.', dryRun: true })
      expect(tried).toMatchObject({ dryRun: true, serverVersion: 1, blocks: [{ text: 'Never stored.' }] })
      expect(await ann.call('delete_document', { docId: at.docId, dryRun: true })).toEqual({ deleted: at.docId, dryRun: true })
      expect((await textOf(ann, at)).trim()).toBe('')
    })

    it('[TOOL-22] a repeat of a call whose answer was lost returns the first answer', async () => {
      const once = await ann.call('create_document', { name: 'once', requestId: 'r1' })
      expect(await ann.call('create_document', { name: 'once', requestId: 'r1' })).toEqual({ ...once, replayed: true })
      expect(await ann.refused('create_document', { name: 'other', requestId: 'r1' })).toMatchObject({
        code: 'ERR_REQUEST_ID_REUSED',
      })
      expect((await host.call('create_document', { name: 'once', requestId: 'r1' }))['id']).not.toBe(once['id'])
      expect(await host.call('list_documents', { query: 'once' })).toMatchObject({ returned: 2 })
    })

    it('[TOOL-add_prose_page] [TOOL-rename_prose_page] [TOOL-reorder_prose_pages] [TOOL-delete_prose_page] an agent adds, renames, reorders and deletes prose pages', async () => {
      const { docId, pageId } = await created(ann, 'pages')
      const page = await ann.call('add_prose_page', { docId, content: 'text' })
      expect(page).toMatchObject({ name: 'Prose p.2', order: 1, blocks: [{ text: 'text' }] })
      await ann.call('rename_prose_page', { docId, pageId: page['id'], name: 'Two' })
      const order = [page['id'], pageId]
      expect(await ann.call('reorder_prose_pages', { docId, order })).toMatchObject({ order, ok: true })
      expect((await ann.call('get_document', { docId }))['prosePages']).toMatchObject([
        { name: 'Two', order: 0 },
        { id: pageId, order: 1 },
      ])
      expect(await ann.call('delete_prose_page', { docId, pageId })).toMatchObject({ deleted: pageId })
      expect(await ann.refused('delete_prose_page', { docId, pageId: page['id'] })).toMatchObject({ code: 'ERR_LAST_PAGE' })
    })

    it('[TOOL-set_fields] [TOOL-list_fields] [TOOL-rename_document] [TOOL-13] an agent sets fields and the title', async () => {
      const { docId } = await created(ann, 'fields')
      const fields = [{ name: 'client', value: 'Ada' }, { name: 'empty' }]
      expect(await ann.call('set_fields', { docId, fields })).toMatchObject({
        set: ['client', 'empty'],
        added: ['client', 'empty'],
      })
      expect(await ann.call('set_fields', { docId, fields: [{ name: 'empty', value: null }] })).toMatchObject({
        removedNames: ['empty'],
      })
      expect(await ann.call('list_fields', { docId })).toMatchObject({ fields: [{ name: 'client', value: 'Ada' }], count: 1 })
      const renamed = await ann.call('rename_document', { docId, name: 'n'.repeat(201) })
      expect(renamed).toMatchObject({ id: docId, name: 'n'.repeat(200), fixes: [{ action: 'clamped', field: 'name' }] })
    })
  })

  describe('an agent beside a person who types', () => {
    it('[CONC-2] [CONC-4] [CONC-8] [PRES-1] an agent and a typing person keep their words, and the person sees the agent at once', async () => {
      const at = await created(ann, 'shared')
      await ann.call('set_prose', { ...at, content: 'Of the agent.\n\nOf the person.' })
      const cold = await textOf(ann, at)
      const person = relay.sync(at.docId, { sub: 'ann', role: 'member' })
      await saved(person)
      const fragment = person.doc.getXmlFragment(`prose:${at.pageId}`)
      await until('the text to arrive', () => fragment.toString().includes('Of the person.'))
      expect(await textOf(ann, at)).toBe(cold)

      const typed = fragment.get(1) as unknown as { get(index: number): { insert(at: number, text: string): void } }
      const typing = (async () => {
        for (const word of ['so', 'many', 'words']) {
          typed.get(0).insert(0, `${word} `)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      })()
      for (let i = 0; i < 5; i++) await ann.call('insert_block', { ...at, content: `Line ${i}.`, anchor: 'Of the agent.' })
      await typing
      expect([...person.awareness.getStates().values()]).toContainEqual({
        user: expect.objectContaining({
          id: 'ann',
          name: 'Agent',
          color: expect.stringMatching(/^#/),
          kind: 'agent',
          page: at.pageId,
        }),
        cursor: { anchor: expect.any(Object), head: expect.any(Object) },
      })
      await saved(person)
      await until('the lines to arrive', () => fragment.toString().includes('Line 4.'))
      const text = await textOf(ann, at)
      expect(text).toContain('words many so Of the person.')
      for (let i = 0; i < 5; i++) expect(text).toContain(`Line ${i}.`)
      person.destroy()
    })

    it('[CONC-7] [TOOL-20] an edit that expects a version read before a person typed is refused', async () => {
      const at = await created(ann, 'versions')
      await ann.call('set_prose', { ...at, content: 'Start.' })
      const person = relay.sync(at.docId, { sub: 'ann', role: 'member' })
      await saved(person)
      const { serverVersion } = await ann.call('get_document', { docId: at.docId })
      const fragment = person.doc.getXmlFragment(`prose:${at.pageId}`)
      await until('the text to arrive', () => fragment.toString().includes('Start.'))
      ;(fragment.get(0) as unknown as { get(index: number): { insert(at: number, text: string): void } }).get(0).insert(0, 'Re')
      await saved(person)
      const expectedVersion = serverVersion
      expect(await ann.refused('set_prose', { ...at, content: 'Over.', expectedVersion })).toMatchObject({
        code: 'ERR_VERSION_CONFLICT',
      })
      expect(await ann.refused('delete_document', { docId: at.docId, expectedVersion })).toMatchObject({
        code: 'ERR_VERSION_CONFLICT',
        expectedVersion,
      })
      expect(await textOf(ann, at)).toContain('ReStart.')
      person.destroy()
    })
  })

  describe('refused calls', () => {
    it('[MCP-27] unknown, foreign and deleted documents are not found; only a deleted one of the own workspace is named so', async () => {
      const { docId } = await created(ann, 'gone')
      expect(await ann.call('delete_document', { docId })).toEqual({ deleted: docId })
      const message = expect.any(String)
      for (const tool of ['get_document', 'list_fields', 'list_files', 'delete_document']) {
        expect(await ann.refused(tool, { docId })).toEqual({ code: 'ERR_DOC_NOT_FOUND', message, docId, deleted: true })
        expect(await ann.refused(tool, { docId: 'never' })).toEqual({ code: 'ERR_DOC_NOT_FOUND', message, docId: 'never' })
      }
      expect(await ann.refused('rename_document', { docId, name: 'x' })).toMatchObject({
        code: 'ERR_DOC_NOT_FOUND',
        deleted: true,
      })
      await logged(relay, docId, '"document.deleted"')
      const audit = relay.logLines.filter((line) => line.includes(docId) && line.includes('"audit":true'))
      expect(audit.map((line) => (JSON.parse(line) as { readonly event: string }).event)).toEqual([
        'document.created',
        'document.deleted',
      ])
    })

    it('[MCP-25] [MCP-26] the refusal of a caller without a right names the missing right', async () => {
      const { docId, pageId } = await created(ann, 'private')
      const bob = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'bob', role: 'member' }))
      const eve = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'eve', role: 'viewer' }))
      expect(await bob.refused('get_document', { docId })).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN', docId })
      expect(await bob.refused('set_prose', { docId, pageId, content: 'x' })).toMatchObject({
        code: 'ERR_EDIT_FORBIDDEN',
        docId,
        role: 'member',
      })
      expect(await bob.refused('delete_document', { docId })).toMatchObject({
        code: 'ERR_DELETE_FORBIDDEN',
        docId,
        role: 'member',
      })
      expect(await bob.call('list_documents', { query: docId })).toMatchObject({ documents: [], returned: 0 })
      expect(await eve.refused('create_document', {})).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', role: 'viewer' })
      expect(await eve.refused('delete_document', { docId: 'never' })).toMatchObject({
        code: 'ERR_DELETE_FORBIDDEN',
        role: 'viewer',
      })
      expect(eve.tools.every(({ annotations }) => (annotations as { readonly readOnlyHint: boolean }).readOnlyHint)).toBe(true)
    })

    it('[TOOL-6] [TOOL-10] [TOOL-11] [TOOL-12] [TOOL-26] unknown arguments, pages and tools are refused', async () => {
      const { docId, pageId } = await created(ann, 'refused')
      const narrow = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }), '?toolsets=read,prose&readonly=1')
      expect(await narrow.refused('set_prose', { docId, pageId, content: 'x' })).toMatchObject({
        code: 'ERR_TOOL_DISABLED',
        toolset: 'prose',
      })
      expect(await ann.refused('get_document', { docID: docId })).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        argument: 'docID',
        nearest: 'docId',
        known: ['docId'],
      })
      expect(await ann.refused('get_document', { docId: '../x' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'docId' })
      for (const tool of ['get_page', 'get_prose', 'get_outline', 'get_table', 'delete_prose_page'])
        expect(await ann.refused(tool, { docId, pageId: 'nope' })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND', pageId: 'nope' })
      expect(await ann.refused('get_page', { docId, pageId })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND', otherKind: 'prose' })
      expect(await ann.refused('set_prose', { docId, pageId, content: 'x'.repeat(1_048_577) })).toMatchObject({
        code: 'ERR_PROSE_TOO_LARGE',
      })
    })
  })

  describe('lists and files', () => {
    it('[TOOL-24] [TOOL-25] a list continues where it ended, but a content cursor is valid only in its version', async () => {
      for (let i = 0; i < 5; i++) await created(ann, `paged ${i}`)
      const names: unknown[] = []
      let cursor: unknown
      do {
        const part = await ann.call('list_documents', { query: 'paged', limit: 2, ...(cursor !== undefined && { cursor }) })
        names.push(...(part['documents'] as readonly { readonly name: string }[]).map(({ name }) => name))
        cursor = part['nextCursor']
      } while (cursor !== undefined)
      expect(names).toEqual(['paged 4', 'paged 3', 'paged 2', 'paged 1', 'paged 0'])
      expect(await ann.refused('list_documents', { cursor: 'x' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'cursor' })

      const at = await created(ann, 'long')
      await ann.call('set_prose', { ...at, content: 'one\n\ntwo\n\nthree' })
      const { nextCursor } = await ann.call('get_prose', { ...at, limit: 2 })
      expect(await ann.call('get_prose', { ...at, limit: 2, cursor: nextCursor })).toMatchObject({
        page: { content: expect.stringContaining('three') },
      })
      await ann.call('insert_block', { ...at, content: 'x', anchor: 'one' })
      expect(await ann.call('get_prose', { ...at, limit: 2, cursor: nextCursor })).toMatchObject({
        page: { content: expect.stringMatching(/^<p id="[^"]*">three<\/p>$/) },
        serverVersion: 3,
      })
    })

    it('[FILE-1] [FILE-3] [FILE-4] [TOOL-get_storage] files are listed with the used storage, and small ones are returned inline', async () => {
      const bytes = new TextEncoder().encode('the bytes of a file')
      const hash = await relay.rest({ sub: 'ann' }).uploadBlob(bytes, 'application/octet-stream')
      const missing = 'f'.repeat(64)
      const shape = (id: string, blobRef: string) => ({
        id,
        type: 'file',
        x: 0,
        y: 0,
        blobRef,
        fileName: `${id}.pdf`,
        mimeType: 'application/pdf',
      })
      await relay.rest({ sub: 'ann' }).putDocument('with-files', {
        name: 'files',
        pages: [{ id: 'c', name: 'C', shapes: [shape('s1', hash), shape('s2', `blob://${missing}`)] }],
        richTextPages: [],
      })
      const docId = 'with-files'
      expect(await ann.call('list_files', { docId })).toMatchObject({
        files: [
          { id: 's1', hash, blobRef: hash, inStore: true, sizeBytes: bytes.length, mimeType: 'application/pdf' },
          { id: 's2', hash: missing, blobRef: null, inStore: false, sizeBytes: null },
        ],
        count: 2,
        serverVersion: 1,
        source: 'relay',
      })
      const file = { id: 's1', name: 's1.pdf', hash, mimeType: 'application/pdf', size: bytes.length, transport: 'inline' }
      for (const named of [{ id: 's1' }, { hash }, { blobRef: `blob://${hash}` }])
        expect(await ann.call('get_file', { docId, ...named })).toEqual({
          ...file,
          base64: Buffer.from(bytes).toString('base64'),
          serverVersion: 1,
          source: 'relay',
        })
      for (const named of [{ id: 's2' }, { hash: missing }, { hash: 'e'.repeat(64) }])
        expect(await ann.refused('get_file', { docId, ...named })).toMatchObject({ code: 'ERR_FILE_NOT_FOUND' })
      expect(await ann.refused('get_file', { docId, id: 's1', hash })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
      expect(await ann.refused('get_file', { docId, hash: 'x' })).toMatchObject({ code: 'ERR_BAD_BLOB_REF', got: 'x' })

      const large = await relay.rest({ sub: 'ann' }).uploadBlob(new Uint8Array(1_048_577), 'image/png')
      await relay.rest({ sub: 'ann' }).putDocument('with-large', {
        pages: [{ id: 'c', name: 'C', shapes: [shape('s1', large)] }],
        richTextPages: [],
      })
      expect(await ann.refused('get_file', { docId: 'with-large', id: 's1' })).toMatchObject({
        code: 'ERR_FILE_TOO_LARGE_FOR_INLINE',
        sizeBytes: 1_048_577,
        maxBytes: 1_048_576,
        path: `/api/blobs/${large}`,
      })
      const storage = await ann.call('get_storage')
      expect(storage).toMatchObject({ quotaBytes: null, backend: 'filesystem', blobBytes: bytes.length + 1_048_577 })
      expect(storage['usedBytes']).toBe(Number(storage['docBytes']) + Number(storage['blobBytes']))
    })
  })

  it('[MCP-57] [TOOL-5] the official client lists and calls the tools, and validates their results', async () => {
    for (const mode of ['legacy', 'auto'] as const) {
      const client = new Client({ name: 'official', version: '1' }, { versionNegotiation: { mode } })
      const requestInit = { headers: { authorization: `Bearer ${relay.token({ sub: 'ann', role: 'member' })}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(relay.mcpUrl), { requestInit }))
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(ann.tools.map(({ name }) => name))
      const made = await client.callTool({ name: 'service_create_document', arguments: { name: `by ${mode}` } })
      const { id, prosePageId } = made.structuredContent as { readonly id: string; readonly prosePageId: string }
      await client.callTool({ name: 'service_set_prose', arguments: { docId: id, pageId: prosePageId, content: '*Words*' } })
      const read = await client.callTool({
        name: 'service_get_prose',
        arguments: { docId: id, pageId: prosePageId, format: 'md' },
      })
      expect(read.structuredContent).toMatchObject({ page: { content: '*Words*\n' } })
      expect((await client.callTool({ name: 'service_get_document', arguments: { docId: 'never' } })).isError).toBe(true)
      await client.close()
    }
  })
})
