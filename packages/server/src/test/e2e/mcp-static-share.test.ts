import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RelayError } from '@docrelay/client/errors'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { openWire } from '../wire-client.ts'

const MEMBER = { sub: 'mia', role: 'member' } as const
const VIEWER = { sub: 'vic', role: 'viewer' } as const
const OWNER = { sub: 'olga', role: 'owner' } as const

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof RelayError ? error.code : String(error)),
  )

describe.each(await storesUnderTest())('documents of the static token on $name', ({ env, remove }) => {
  afterAll(remove)

  describe.each([
    ['none', 'none', 'none'],
    ['view', 'view', 'view'],
    ['edit', 'edit', 'view'],
  ] as const)('that members may %s', (share, ofMember, ofViewer) => {
    let relay: RelayUnderTest
    let host: McpAgent
    let docId: string
    let warnings: unknown

    beforeAll(async () => {
      relay = await startRelayUnderTest({ mcp: 'local', env: { ...env, RELAY_MCP_STATIC_TOKEN_SHARE: share } })
      host = await mcpAgent(relay.mcpUrl, readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim())
      const made = await host.call('create_document', { name: 'Zebra of the host' })
      docId = String(made['id'])
      warnings = made['warnings']
    })
    afterAll(() => relay?.[Symbol.asyncDispose]())

    const levels = [
      [MEMBER, ofMember],
      [VIEWER, ofViewer],
      [OWNER, 'owner'],
    ] as const

    it('[AG-89] create_document with the static token warns exactly when only workspace owners see the document', () => {
      if (share === 'none') expect(warnings).toMatchObject([{ reason: expect.stringContaining('only owners of the workspace') }])
      else expect(warnings).toBeUndefined()
    })

    it.each(levels)('[AG-89] [PERM-1] [PERM-8] REST gives $sub of the workspace the level', async (person, level) => {
      const client = relay.rest(person)
      const listed = (await client.listDocuments()).filter(({ id }) => id === docId)
      expect(listed.map(({ access }) => access)).toEqual(level === 'none' ? [] : [level])
      expect(await failure(client.getDocument(docId))).toBe(level === 'none' ? 'VIEW_FORBIDDEN' : 'done')
      expect(await failure(client.recoveryPoints(docId))).toBe(level === 'none' ? 'VIEW_FORBIDDEN' : 'done')
      const isFound = async (): Promise<boolean> => {
        const headers = { authorization: `Bearer ${relay.token(person)}` }
        const answer = await relay.fetch('/api/v1/search?q=zebra', { headers })
        const { hits } = (await answer.json()) as { readonly hits: readonly { readonly docId: string }[] }
        return hits.some((hit) => hit.docId === docId)
      }
      // The search index contains a new document only after a moment.
      if (level === 'none') expect(await isFound()).toBe(false)
      else await until('the document in the index', isFound)
      const isWriter = level === 'edit' || level === 'owner'
      const refused = level === 'none' ? 'VIEW_FORBIDDEN' : 'EDIT_FORBIDDEN'
      expect(await failure(client.captureRecoveryPoint(docId))).toBe(isWriter ? 'done' : refused)
      if (level !== 'owner')
        expect(await failure(client.shareDocument(docId, []))).toBe(
          level === 'none' ? 'VIEW_FORBIDDEN' : person.role === 'viewer' ? 'EDIT_FORBIDDEN' : 'OWNER_REQUIRED',
        )
    })

    it.each(levels)('[AG-89] [PERM-1] MCP gives $sub of the workspace the level', async (person, level) => {
      const agent = await mcpAgent(relay.mcpUrl, relay.token(person))
      const { documents } = (await agent.call('list_documents')) as unknown as { readonly documents: readonly { id: string }[] }
      expect(documents.some(({ id }) => id === docId)).toBe(level !== 'none')
      const read = await agent.answer('get_document', { docId })
      expect(level === 'none' ? read.result.code : read.result['access']).toBe(level === 'none' ? 'ERR_VIEW_FORBIDDEN' : level)
      const written = await agent.answer('add_canvas_page', { docId, dryRun: true })
      expect(written.isError).toBe(level === 'none' || level === 'view')
    })

    it.each(levels)('[AG-89] [WS-54] a socket gives $sub of the workspace the level, and its events', async (person, level) => {
      const socket = await openWire(relay)
      if (level === 'none') {
        socket.auth(relay.token(person), ['ack'])
        socket.join(docId)
        expect(await socket.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
        return
      }
      await socket.enter(relay.token(person), docId, ['ack'])
      if (level !== 'view') {
        socket.update(socket.put(person.sub))
        await socket.acknowledged()
      }
      const told = () => socket.jsonOf(TAG.docEvent).filter((event) => (event as { readonly docId: string }).docId === docId)
      await host.call('rename_document', { docId, name: `Zebra for ${person.sub}` })
      await until('the event', () => told().length > 0)
      expect(told()[0]).toMatchObject({ metadata: { access: level } })
    })

    it('[AG-89] a member of another workspace gets nothing', async () => {
      const eve = relay.rest({ sub: 'eve', claims: { wsp: [{ id: 'next-door', role: 'owner' }] } })
      expect(await failure(eve.getDocument(docId))).not.toBe('done')
      expect(await failure(eve.listDocuments())).not.toBe('done')
    })
  })
})
