import { randomUUID } from 'node:crypto'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onPostgres } from '../../drivers/sql/testing/on-postgres.ts'
import { at } from '../../kernel/at.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelaysTogether, type RelayTogether, startRelaysTogether } from '../relays-together.ts'
import { until } from '../relay-under-test.ts'
import { openWire, pause, type WireClient } from '../wire-client.ts'

await onPostgres((url) =>
  describe('two relays on one database', () => {
    let relays: RelaysTogether
    let here: RelayTogether
    let there: RelayTogether
    beforeAll(async () => {
      relays = await startRelaysTogether(2, url, { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500', RELAY_WRITES_PER_SEC: '0' })
      here = at(relays.nodes, 0)
      there = at(relays.nodes, 1)
    })
    afterAll(() => relays?.[Symbol.asyncDispose]())

    /** Each test has its own workspace, so that it gets only its own events. */
    const workspaceOf = () => {
      const workspace = `w-${randomUUID()}`
      const claims = (sub: string, role: string) => ({ sub, role, workspace })
      return {
        workspace,
        rest: (node: RelayTogether, sub = 'ann', role = 'owner') => node.rest(claims(sub, role)),
        async signedIn(node: RelayTogether, sub = 'ann', role = 'owner', jti?: string): Promise<WireClient> {
          const client = await openWire(node)
          client.auth(relays.issuer.token({ ...claims(sub, role), ...(jti !== undefined && { jti }) }))
          await client.next(TAG.authResponse)
          return client
        },
        async entered(node: RelayTogether, docId: string, sub = 'ann', role = 'owner'): Promise<WireClient> {
          return (await openWire(node)).enter(relays.issuer.token(claims(sub, role)), docId, ['ack'])
        },
        token: (sub = 'ann', role = 'owner', jti?: string) =>
          relays.issuer.token({ ...claims(sub, role), ...(jti !== undefined && { jti }) }),
      }
    }
    const told = (client: WireClient) =>
      client.jsonOf(TAG.docEvent).map(({ eventType, docId, userId }) => `${String(eventType)} ${String(docId)} ${String(userId)}`)
    const toldAll = (what: string, clients: readonly WireClient[], events: readonly string[]) =>
      until(what, () => clients.every((client) => told(client).length >= events.length), 4_000)

    it('[WS-51] [WS-52] [WS-53] every change is one event on both nodes, in order, whichever node made it', async () => {
      const { rest, signedIn } = workspaceOf()
      const clients = [await signedIn(here), await signedIn(there), await signedIn(there, 'mia', 'member')]
      await rest(here, 'mia', 'member').putDocument('news', { name: 'One' })
      await rest(there, 'mia', 'member').putDocument('news', { name: 'Two' })
      await rest(there).transferDocument('news', 'ann')
      await rest(here).deleteDocument('news')
      await rest(there).putDocument('news', { name: 'Three' }, { overrideTombstone: true })
      const events = ['created news mia', 'updated news mia', 'updated news ann', 'deleted news ann', 'created news ann']
      await toldAll('all events', clients.slice(0, 2), events)
      await pause(2_500)
      for (const client of clients.slice(0, 2)) expect(told(client)).toEqual(events)
      // The transfer leaves mia, a member, only an edit share. With it she gets every event up to the deletion.
      expect(told(at(clients, 2)).slice(0, 4)).toEqual(events.slice(0, 4))
      const [, updated] = at(clients, 1).jsonOf(TAG.docEvent)
      expect(updated).toMatchObject({ metadata: { title: 'Two', serverVersion: 2 } })
    })

    it('[WS-51] [WS-52] every kind of change is one event on the other node', async () => {
      const { rest, signedIn, token, workspace } = workspaceOf()
      const [near, far] = [await signedIn(here), await signedIn(there)]
      const owner = rest(here)
      const events: string[] = []
      const expectNext = async (...next: readonly string[]): Promise<void> => {
        events.push(...next)
        await until(next.join(', '), () => told(near).length >= events.length, 4_000)
        expect(told(near)).toEqual(events)
      }
      await owner.putDocument('doc', { name: 'Doc' })
      await expectNext('created doc ann')
      await owner.shareDocument('doc', [{ userId: 'bob', permission: 'edit' }])
      await expectNext('updated doc ann')
      await owner.setCollection('doc', 'c1')
      await expectNext('updated doc ann')
      const link = await owner.issueShareLink('doc', new Date(Date.now() + 3_600_000))
      await rest(here, 'vic', 'viewer').redeemShareLink(link.token)
      await expectNext('updated doc vic')
      const purged = await fetch(`${here.baseUrl}/api/v1/internal/workspace/${workspace}/purge-member`, {
        method: 'POST',
        headers: { authorization: `Bearer ${relays.internalBearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ user_id: 'vic' }),
      })
      expect(purged.status).toBe(200)
      await expectNext('updated doc system')
      const agent = await mcpAgent(here.mcpUrl, token())
      const { id: docId } = (await agent.call('create_document', { name: 'Made' })) as { readonly id?: string }
      await expectNext(`created ${docId} ann`)
      await agent.call('rename_document', { docId, name: 'Named' })
      await expectNext(`updated ${docId} ann`)
      await agent.call('delete_document', { docId })
      await expectNext(`deleted ${docId} ann`)
      await owner.captureRecoveryPoint('doc')
      const [point] = await owner.recoveryPoints('doc')
      const restored = await owner.restoreRecoveryPoint('doc', point?.id ?? '')
      await expectNext('deleted doc ann', `created ${restored.newDocId} ann`)
      await toldAll('all of it', [far], events)
      await pause(2_500)
      for (const client of [near, far]) expect(told(client)).toEqual(events)
    })

    it('[AG-23] [AG-76] an agent waiting on one node learns who changed the document on the other', async () => {
      const { rest, token } = workspaceOf()
      await rest(here, 'mia', 'member').putDocument('doc', { name: 'Doc' })
      const agent = await mcpAgent(there.mcpUrl, token())
      const waiting = agent.call('wait_for_change', { docId: 'doc', timeoutSecs: 20 })
      await pause(300)
      await rest(here, 'mia', 'member').putDocument('doc', { name: 'Changed' })
      expect(await waiting).toMatchObject({ edited: true, serverVersion: 2, news: { by: ['mia'] } })
    })

    it('[PERM-2] [WS-54] removing a share on one node ends the joined connection on the other within 2 s', async () => {
      const { rest, entered } = workspaceOf()
      const share = [{ userId: 'vic', permission: 'view' as const }]
      await rest(here).putDocument('plan', { name: 'Plan', sharedWith: share })
      const viewer = await entered(there, 'plan', 'vic', 'viewer')
      await rest(here).putDocument('plan', { name: 'Plan', sharedWith: [] })
      await until('the refusal', () => viewer.errors().some(({ error }) => String(error).startsWith('ERR_VIEW_FORBIDDEN')), 2_500)
      await expect(rest(there, 'vic', 'viewer').getDocument('plan')).rejects.toMatchObject({ status: 403 })
    })

    it('[WS-54] [LIFE-23] a document deleted on one node ends for clients that have it open on the other', async () => {
      const { rest, entered } = workspaceOf()
      await rest(here).putDocument('old', { name: 'Old' })
      const [joined, other] = [await entered(there, 'old'), await entered(there, 'old', 'bob', 'owner')]
      await rest(here).deleteDocument('old')
      const deletions = (client: WireClient) => told(client).filter((event) => event.startsWith('deleted'))
      await until('the deletion', () => [joined, other].every((client) => deletions(client).length > 0), 4_000)
      joined.update(joined.put('late'))
      await until('the refusal of a late edit', () => joined.errors().some(({ error }) => error === 'ERR_DELETED'))
      await pause(2_500)
      for (const client of [joined, other]) expect(deletions(client)).toEqual(['deleted old ann'])
    })

    it('[WS-52] live edits on one node are no event on the other, where the list shows their result', async () => {
      const { rest, entered, signedIn } = workspaceOf()
      await rest(here).putDocument('live', { name: 'Live' })
      const reader = await signedIn(there)
      const editor = await entered(here, 'live')
      await editor.write(editor.put('x'))
      editor.socket.close()
      const version = async () => (await rest(there).listDocuments()).find(({ id }) => id === 'live')?.serverVersion ?? 0
      await until('the stored edit', async () => (await version()) > 1, 5_000)
      await pause(2_500)
      expect(told(reader).filter((event) => !event.startsWith('created'))).toEqual([])
    })

    it('[REST-21] a list on one node shows writes of the other at once', async () => {
      const { rest } = workspaceOf()
      for (let nth = 0; nth < 10; nth++) {
        const [writer, reader] = nth % 2 === 0 ? [here, there] : [there, here]
        await rest(writer).putDocument('doc', { name: `Name ${nth}` }, nth === 0 ? {} : { expectedVersion: nth })
        expect((await rest(reader).listDocuments()).map(({ title }) => title)).toEqual([`Name ${nth}`])
      }
    })

    it('[AG-63] a search on one node finds text that was written on the other', async () => {
      const { rest, token } = workspaceOf()
      const search = async (node: RelayTogether, words: string): Promise<number> => {
        const answer = await fetch(`${node.baseUrl}/api/v1/search?q=${words}`, {
          headers: { authorization: `Bearer ${token()}` },
        })
        return ((await answer.json()) as { hits: unknown[] }).hits.length
      }
      const put = (node: RelayTogether, text: string) =>
        rest(node).putDocument('text', { name: 'Text', richTextPages: [{ id: 'p', name: 'P', content: `<p>${text}</p>` }] })
      await put(here, 'zebra')
      await until('the first text', async () => (await search(there, 'zebra')) === 1, 6_000)
      await put(there, 'giraffe')
      await until('the second text', async () => (await search(here, 'giraffe')) === 1, 6_000)
      expect(await search(here, 'zebra')).toBe(0)
    })

    it('[AUTH-14] [WS-20] a token revoked on one node is refused on the other within 5 s, and its socket closed', async () => {
      const { signedIn, token } = workspaceOf()
      const jti = randomUUID()
      const socket = await signedIn(there, 'ann', 'owner', jti)
      const bearer = token('ann', 'owner', jti)
      const status = async () =>
        (await fetch(`${there.baseUrl}/api/docs`, { headers: { authorization: `Bearer ${bearer}` } })).status
      expect(await status()).toBe(200)
      const pushed = await fetch(`${here.baseUrl}/api/v1/internal/revoke`, {
        method: 'POST',
        headers: { authorization: `Bearer ${relays.internalBearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ revocations: [{ jti, revoked_at: new Date().toISOString() }] }),
      })
      expect(pushed.status).toBe(204)
      await until('the refusal', async () => (await status()) === 401, 5_000)
      await until('the close', () => socket.socket.readyState === socket.socket.CLOSED, 5_000)
    })

    it('[LIFE-27] [OPS-4] each node reports the age of its knowledge of the others', async () => {
      for (const node of [here, there]) {
        const text = await (await fetch(`${node.baseUrl}/metrics`)).text()
        const lag = Number(/^relay_feed_lag_seconds (.+)$/m.exec(text)?.[1])
        expect(lag).toBeGreaterThan(0)
        expect(lag).toBeLessThan(4)
      }
    })
  }),
)
