import { RelayError } from '@docrelay/client/errors'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { openWire, storedKeys, type WireClient } from '../wire-client.ts'

const ACK = ['ack']
const SECRET = 'revocation-secret-for-tests'
const MIA = { sub: 'mia', role: 'member' }
const person = (sub: string) => ({ sub, role: 'member' })
const tomorrow = () => new Date(Date.now() + 86_400_000)

let relay: RelayUnderTest
const mia = () => relay.rest(MIA)
const enter = async (sub: string, docId: string): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token(person(sub)), docId, ACK)
/** Makes the `nth` edit of a client and waits until it is durable. The client has entered, and its answer to the relay's step1 is acknowledged. */
async function write(client: WireClient, nth: number, key: string): Promise<void> {
  client.update(client.put(key))
  await until('the ack', () => (client.acks().at(-1) ?? 0) >= nth + 1)
}
const events = (client: WireClient) => client.jsonOf(TAG.docEvent)
const sharesOf = async (id: string) => (await mia().getDocument(id))['sharedWith']
const purge = (ws: string, userId: string, bearer = SECRET) =>
  rawHttp(relay)('POST', `/api/v1/internal/workspace/${ws}/purge-member`, {
    as: null,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: { user_id: userId },
  })
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: unknown) => (error instanceof RelayError ? error.code : String(error)),
  )

describe.each(await storesUnderTest())('sharing on $name', ({ env, remove }) => {
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '100', ...env } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  it('[SHARE-4] [WS-52] [REST-33] [WS-54] a share link lets a stranger join; its revocation keeps the stranger, a purge does not', async () => {
    await mia().putDocument('story', { name: 'Story' })
    const owner = await enter('mia', 'story')
    const ben = await openWire(relay)
    ben.auth(relay.token(person('ben')), ACK)
    ben.join('story')
    expect(await ben.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })

    const link = await mia().issueShareLink('story', tomorrow())
    expect(link.url).toBe(`${relay.baseUrl}/share#${link.token}`)
    expect(await relay.rest(person('ben')).redeemShareLink(link.token)).toMatchObject({ id: 'story', access: 'view' })
    await until('ben to be told', () => events(ben).length === 1)
    expect(events(ben)[0]).toMatchObject({ eventType: 'updated', docId: 'story', userId: 'ben', metadata: { access: 'view' } })

    ben.following = true
    ben.join('story')
    ben.step1()
    expect((await ben.next(TAG.sync))[1]).toBe(SYNC.step1)
    await write(owner, 1, 'first')
    await until('ben to see an edit', () => ben.has('first'))
    ben.update(ben.put('not mine to write'))
    await until('the refusal', () => ben.errors().length === 2)
    expect(ben.errors()[1]).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })

    await mia().revokeShareLink('story', link.id)
    expect(await refusal(relay.rest(person('eve')).redeemShareLink(link.token))).toBe('NOT_FOUND')
    await write(owner, 2, 'second')
    await until('ben to see the next edit', () => ben.has('second'))

    const purged = await purge('default', 'ben')
    expect([purged.status, purged.json]).toEqual([200, { purged: 1 }])
    await until('ben to be put out', () => ben.errors().length === 3)
    expect(ben.errors()[2]).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    await write(owner, 3, 'third')
    await ben.settled()
    expect([ben.has('third'), events(ben).length]).toEqual([false, 1])
    expect(await refusal(relay.rest(person('ben')).getDocument('story'))).toBe('VIEW_FORBIDDEN')
    expect((await purge('default', 'ben')).json).toEqual({ purged: 0 })
    expect(await storedKeys(relay, 'story')).toEqual(['first', 'second', 'third'])
    expect(await sharesOf('story')).toEqual([])
    owner.socket.close()
    ben.socket.close()
  })

  it('[SHARE-6] [LIFE-13] [WS-54] a replaced share list applies to live joins at once and is not undone by live edits', async () => {
    await mia().putDocument('list', { name: 'List', sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const [owner, vic] = [await enter('mia', 'list'), await enter('vic', 'list')]
    await write(owner, 1, 'before')
    await mia().shareDocument('list', [
      { userId: 'vic', userName: 'Vic', permission: 'editor' },
      { userId: 'gone', permission: 'none' },
    ])
    await until('vic to be told', () => events(vic).length === 1)
    await write(vic, 1, 'by vic')
    expect(vic.errors()).toEqual([])
    const shared = [{ userId: 'vic', userName: 'Vic', permission: 'edit', sharedAt: expect.any(Number) }]
    expect(await sharesOf('list')).toEqual(shared)
    await write(owner, 2, 'after')
    expect(await storedKeys(relay, 'list')).toEqual(['after', 'before', 'by vic'])
    expect(await sharesOf('list')).toEqual(shared)

    await mia().shareDocument('list', [])
    await until('vic to be put out', () => vic.errors().length === 1)
    expect(vic.errors()[0]).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    owner.socket.close()
    vic.socket.close()
  })

  it('[LIFE-3] [SHARE-2] [SHARE-5] links and shares survive kill -9, and the share token is in no log', async () => {
    await mia().putDocument('kept', {})
    const kept = await mia().issueShareLink('kept', tomorrow())
    const revoked = await mia().issueShareLink('kept', tomorrow())
    await mia().revokeShareLink('kept', revoked.id)
    await relay.rest(person('ann')).redeemShareLink(kept.token)
    await mia().putDocument('deleted', {})
    const dead = await mia().issueShareLink('deleted', tomorrow())
    await mia().deleteDocument('deleted')
    await relay.kill()
    await relay.restart()
    expect(await mia().listShareLinks('kept')).toMatchObject([{ id: kept.id, created_by: 'mia', expires_at: kept.expires_at }])
    expect(await relay.rest(person('ann')).getDocument('kept')).toMatchObject({ serverVersion: 2 })
    expect(await relay.rest(person('zoe')).redeemShareLink(kept.token)).toMatchObject({ access: 'view', serverVersion: 3 })
    for (const { token } of [revoked, dead])
      expect(await refusal(relay.rest(person('zoe')).redeemShareLink(token))).toBe('NOT_FOUND')
    for (const { token } of [kept, revoked, dead]) expect(relay.logLines.join('\n')).not.toContain(token.slice(4, 24))
    const told = (): Set<unknown> => {
      const lines = relay.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
      return new Set(lines.filter(({ audit, docId }) => audit === true && docId === 'kept').map(({ event }) => event))
    }
    await until('four kinds of lines', () => told().size >= 4)
    expect(told()).toEqual(new Set(['document.created', 'share-link.issued', 'share-link.revoked', 'share-link.redeemed']))
  })

  it('[REST-33] a purge covers open and closed documents of one workspace, and needs the revocation bearer', async () => {
    for (let i = 0; i < 20; i++) await mia().putDocument(`many-${i}`, { sharedWith: [{ userId: 'leaver', permission: 'edit' }] })
    const leaver = await enter('leaver', 'many-3')
    await write(leaver, 1, 'last words')
    expect((await purge('default', 'leaver', 'another-secret-of-length')).status).toBe(401)
    expect((await purge('elsewhere', 'leaver')).json).toEqual({ purged: 0 })
    expect((await purge('default', 'leaver')).json).toEqual({ purged: 20 })
    await until('the leaver to be put out', () => leaver.errors().length === 1)
    expect(await relay.rest(person('leaver')).listDocuments()).toEqual([])
    expect(await storedKeys(relay, 'many-3')).toEqual(['last words'])
    leaver.socket.close()
  })
})

it('[REST-33] without a configured bearer a purge answers 503', async () => {
  await using bare = await startRelayUnderTest({ env: { RELAY_REVOCATION_BEARER: '' } })
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' }
  const path = '/api/v1/internal/workspace/default/purge-member'
  const answer = await rawHttp(bare)('POST', path, { as: null, headers, body: { user_id: 'ben' } })
  expect([answer.status, answer.json['errorCode']]).toEqual([503, 'UNAVAILABLE'])
})
