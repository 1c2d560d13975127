import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { openWire, storedKeys, type WireClient } from '../wire-client.ts'

const ACK = ['ack']
let relay: RelayUnderTest
let open: RelayUnderTest
beforeAll(async () => {
  const env = { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500', RELAY_WS_BUFFER_BYTES: '67108864' }
  relay = await startRelayUnderTest({ env })
  open = await startRelayUnderTest({ env: { ...env, RELAY_ENFORCE_PRIVATE_DOCS: 'false' } })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await open?.[Symbol.asyncDispose]()
})

const enter = async (on: RelayUnderTest, docId: string, sub: string, role: string): Promise<WireClient> =>
  (await openWire(on)).enter(on.token({ sub, role }), docId, ACK)
const events = (client: WireClient) => client.jsonOf(TAG.docEvent).map(({ eventType }) => eventType)
const close = (...clients: WireClient[]) => clients.forEach((client) => void client.socket.close())

describe('rights on the socket', () => {
  /** The callers that may write, only read, or not join. [PERM-3] */
  const table = [
    ['doc owner', 'mia', 'member', 'edit'],
    ['edit share', 'eve', 'member', 'edit'],
    ['view share', 'vic', 'member', 'view'],
    ['workspace owner', 'ann', 'owner', 'edit'],
    ['member without a share', 'sam', 'member', 'none'],
    ['viewer role that owns it', 'mia', 'viewer', 'view'],
    ['viewer role with an edit share', 'eve', 'viewer', 'view'],
    ['viewer role without a share', 'sam', 'viewer', 'none'],
  ] as const

  it.each(table)(
    '[PERM-1] [PERM-3] [WS-21] [WS-27] over the socket a %s has exactly the level of the permission table',
    async (name, sub, role, level) => {
      const id = `table-${name.replaceAll(' ', '-')}`
      const sharedWith = [
        { userId: 'eve', permission: 'edit' },
        { userId: 'vic', permission: 'view' },
      ]
      await relay.rest({ sub: 'mia', role: 'member' }).putDocument(id, { sharedWith })
      const client = await openWire(relay)
      client.auth(relay.token({ sub, role }), ACK)
      client.join(id)
      client.step1()
      client.update(client.put('a'))
      if (level === 'none') {
        expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
        await client.settled()
        expect(client.syncs()).toEqual([])
      } else {
        await until('ack and answer', () => client.acks().at(-1) === 1 && client.syncs().length === 2)
        expect(client.syncs()).toEqual([SYNC.step1, SYNC.step2])
        expect(client.errors()).toMatchObject(level === 'view' ? [{ code: 'ERR_EDIT_FORBIDDEN', frame: 1 }] : [])
      }
      expect(await storedKeys(relay, id)).toEqual(level === 'edit' ? ['a'] : [])
      close(client)
    },
  )

  it('[PERM-1] [WS-21] without enforcement any member may edit, any viewer may read, and all get the events', async () => {
    await open.rest({ sub: 'mia', role: 'member' }).putDocument('open', {})
    const [sam, vic] = [await enter(open, 'open', 'sam', 'member'), await enter(open, 'open', 'vic', 'viewer')]
    sam.update(sam.put('a'))
    await until('the viewer', () => vic.has('a'))
    vic.update(vic.put('b'))
    await until('the refusal', () => vic.errors().length === 1)
    expect(vic.errors()[0]).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    await open.rest({ sub: 'mia', role: 'member' }).putDocument('open', { name: 'x' })
    await until('the events', () => events(sam).length === 1 && events(vic).length === 1)
    close(sam, vic)
  })

  it('[PERM-2] [WS-54] a transfer gives the new owner access at once, and the new owner may remove the old one', async () => {
    await relay.rest({ sub: 'mia', role: 'member' }).putDocument('given', {})
    const mia = await enter(relay, 'given', 'mia', 'member')
    const ben = await openWire(relay)
    ben.auth(relay.token({ sub: 'ben', role: 'member' }), ACK)
    ben.join('given')
    expect(await ben.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    const answer = await relay.fetch('/api/docs/given/transfer', {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token({ sub: 'mia', role: 'member' })}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to_user_id: 'ben' }),
    })
    expect(answer.ok).toBe(true)
    await until('the events', () => events(ben).length === 1 && events(mia).length === 1)
    expect(ben.jsonOf(TAG.docEvent)[0]).toMatchObject({ eventType: 'updated', userId: 'mia', metadata: { owner_id: 'ben' } })
    mia.update(mia.put('still an editor'))
    await until('the ack', () => mia.acks().at(-1) === 2)
    await relay.rest({ sub: 'ben', role: 'member' }).putDocument('given', { sharedWith: [] })
    await until('mia to be out', () => mia.errors().length === 1)
    expect(mia.errors()[0]).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    expect(events(mia)).toHaveLength(1)
    ben.join('given')
    expect((await ben.next(TAG.sync))[1]).toBe(SYNC.step1)
    ben.update(ben.put('mine'))
    await until('the ack', () => ben.acks().at(-1) === 1)
    close(mia, ben)
  })

  it('[WS-26] a change above 8 MiB reaches a connected client in messages of at most 4 MiB, before its event', async () => {
    await relay.rest().putDocument('large', {})
    const client = await enter(relay, 'large', 'ann', 'owner')
    const from = client.frames.length
    const shapes = Array.from({ length: 18 }, (_, i) => ({ id: `s${i}`, type: 'text', text: 'x'.repeat(1_000_000) }))
    await relay.rest().putDocument('large', { pages: [{ id: 'p', name: 'P', shapes }] })
    await until('the event', () => events(client).length === 1)
    const frames = client.frames.slice(from)
    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThan(4.5 * 1024 * 1024)
    expect(frames.at(-1)?.[0]).toBe(TAG.docEvent)
    expect(client.doc.getMap('shapes:p').size).toBe(18)
    expect(client.doc.store.pendingStructs).toBe(null)
    close(client)
  })
})
