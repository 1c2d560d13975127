import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { openWire, pause, storedKeys, type WireClient } from '../wire-client.ts'

let relay: RelayUnderTest
beforeAll(async () => {
  const env = { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500', RELAY_WRITES_PER_SEC: '0', RELAY_TENANCY_MODE: 'shared' }
  relay = await startRelayUnderTest({ env })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const ACK = ['ack']
const rest = (sub = 'ann', role = 'owner', workspace = 'default') => relay.rest({ sub, role, workspace })
const enter = async (docId: string, sub = 'ann', role = 'owner', features?: readonly string[]): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token({ sub, role }), docId, features)

async function signedIn(sub = 'ann', role = 'owner', workspace = 'default'): Promise<WireClient> {
  const client = await openWire(relay)
  client.auth(relay.token({ sub, role, workspace }))
  await client.next(TAG.authResponse)
  return client
}

const events = (client: WireClient) => client.jsonOf(TAG.docEvent)
const eventsOf = (client: WireClient, docId: string) => events(client).filter((event) => event['docId'] === docId)
const told = (client: WireClient, count: number, docId: string) =>
  until(`${count} events of ${docId}`, () => eventsOf(client, docId).length >= count)
const close = (...clients: WireClient[]) => clients.forEach((client) => void client.socket.close())

describe('DOC_EVENT', () => {
  it('[WS-9] [WS-51] [WS-52] an event has exactly its documented members and reaches every reader once, and nobody else', async () => {
    await rest().putDocument('home', {})
    const clients = {
      actor: await signedIn('mia', 'member'),
      owner: await signedIn('ann'),
      joinedElsewhere: await enter('home', 'ann'),
      viewer: await signedIn('vic', 'viewer'),
      stranger: await signedIn('sam', 'member'),
      foreign: await signedIn('mia', 'owner', 'other'),
      unauthenticated: await openWire(relay),
    }
    await rest('mia', 'member').putDocument('news', { name: 'One', sharedWith: [{ userId: 'vic', permission: 'view' }] })
    await rest('mia', 'member').putDocument('news', { name: 'Two' })
    await rest('mia', 'member').deleteDocument('news')
    await rest('mia', 'member').putDocument('news', { name: 'Three' }, { overrideTombstone: true })
    for (const client of [clients.actor, clients.owner, clients.joinedElsewhere]) {
      await told(client, 4, 'news')
      expect(eventsOf(client, 'news').map(({ eventType, userId }) => [eventType, userId])).toEqual(
        ['created', 'updated', 'deleted', 'created'].map((type) => [type, 'mia']),
      )
    }
    const [created, updated, deleted] = eventsOf(clients.owner, 'news')
    expect(deleted).toEqual({ eventType: 'deleted', docId: 'news', userId: 'mia' })
    for (const event of [created, updated])
      expect(Object.keys(event ?? {}).sort()).toEqual(['docId', 'eventType', 'metadata', 'userId'])
    await told(clients.viewer, 3, 'news')
    expect(eventsOf(clients.viewer, 'news').map(({ eventType }) => eventType)).toEqual(['created', 'updated', 'deleted'])
    for (const client of [clients.stranger, clients.foreign, clients.unauthenticated]) expect(events(client)).toEqual([])
    close(...Object.values(clients))
  })

  it('[WS-51] [PERM-7] metadata of an event equal those that its receiver would get over REST', async () => {
    const shares = [
      { userId: 'vic', permission: 'view' },
      { userId: 'eve', permission: 'edit' },
    ]
    const readers = [
      ['ann', 'owner'],
      ['vic', 'viewer'],
      ['eve', 'member'],
    ] as const
    const clients = await Promise.all(readers.map(([sub, role]) => signedIn(sub, role)))
    await rest().putDocument('meta', { name: 'Meta', sharedWith: shares })
    for (const [at, [sub, role]] of readers.entries()) {
      const client = clients[at] as WireClient
      await told(client, 1, 'meta')
      const listed = (await rest(sub, role).listDocuments()).find(({ id }) => id === 'meta')
      expect(eventsOf(client, 'meta')[0]).toEqual({ eventType: 'created', docId: 'meta', userId: 'ann', metadata: listed })
    }
    close(...clients)
  })

  it('[WS-52] live edits and their saves send no event', async () => {
    await rest().putDocument('quiet', {})
    const [ann, watch] = [await enter('quiet', 'ann', 'owner', ACK), await signedIn()]
    const before = events(watch).length
    ann.update(ann.put('a'))
    await until('the ack', () => ann.acks().at(-1) === 2)
    expect(await storedKeys(relay, 'quiet')).toEqual(['a'])
    close(ann)
    await ann.closed
    await pause(100)
    await rest().putDocument('quiet', { name: 'end' })
    await told(watch, 1, 'quiet')
    expect(
      events(watch)
        .slice(before)
        .map(({ eventType }) => eventType),
    ).toEqual(['updated'])
    close(watch)
  })

  it('[WS-53] a joined client gets the sync frames of a change before its event', async () => {
    await rest().putDocument('ordered', { fields: { fields: {}, order: [] } })
    const clients = await Promise.all([enter('ordered'), enter('ordered', 'ben'), enter('ordered', 'cat')])
    for (let round = 1; round <= 10; round++) {
      const marks = clients.map((client) => client.frames.length)
      const fields = { fields: { [`k${round}`]: { name: `k${round}`, value: 'v' } }, order: [`k${round}`] }
      await rest().putDocument('ordered', { fields })
      for (const [at, client] of clients.entries()) {
        await told(client, round, 'ordered')
        const tags = client.tags().slice(marks[at])
        expect(tags.at(-1)).toBe(TAG.docEvent)
        expect(tags.slice(0, -1).length).toBeGreaterThan(0)
        expect(new Set(tags.slice(0, -1))).toEqual(new Set([TAG.sync]))
        expect(client.has(`k${round}`)).toBe(true)
      }
    }
    close(...clients)
  })
})

describe('losing a document', () => {
  it('[WS-54] [WS-39] a deleted document sends only its event, and later writes get ERR_DELETED with their ordinals, in chunks too', async () => {
    await rest().putDocument('doomed', {})
    const [ann, old] = [await enter('doomed', 'ann', 'owner', ACK), await enter('doomed', 'ben')]
    ann.update(ann.put('a'))
    await until('the ack', () => ann.acks().at(-1) === 2)
    await rest().deleteDocument('doomed')
    for (const client of [ann, old]) await told(client, 1, 'doomed')
    const frames = ann.frames.length
    ann.step1()
    ann.presence({ client: 1, clock: 1, state: {} })
    ann.update(ann.put('b'))
    const chunked = syncFrame(SYNC.update, ann.put('c'))
    ann.sendChunk(1, 0, 2, chunked.subarray(0, 9))
    ann.sendChunk(1, 1, 2, chunked.subarray(9))
    ann.step2()
    old.update(old.put('d'))
    await until('the errors', () => ann.errors().length === 3 && old.errors().length === 1)
    const bare = { error: 'ERR_DELETED', code: 'ERR_DELETED', requestId: null }
    expect(ann.errors()).toEqual([3, 4, 5].map((frame) => ({ ...bare, frame })))
    expect(old.errors()).toEqual([bare])
    expect(ann.tags().slice(frames)).toEqual([TAG.error, TAG.error, TAG.error])
    await rest().putDocument('doomed', { name: 'again' }, { overrideTombstone: true })
    ann.following = false
    ann.join('doomed')
    ann.step1()
    await until('the new life', () => ann.syncs().filter((kind) => kind === SYNC.step2).length === 2)
    expect(await storedKeys(relay, 'doomed')).toEqual([])
    close(ann, old)
  })

  it('[WS-54] [WS-51] every joined caller, also a viewer, gets the deletion exactly once', async () => {
    await rest().putDocument('shared', { sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const clients = await Promise.all([enter('shared', 'vic', 'viewer'), enter('shared', 'ann'), enter('shared', 'ann')])
    await rest().deleteDocument('shared')
    for (const client of clients) {
      await told(client, 1, 'shared')
      await client.settled()
      expect(eventsOf(client, 'shared')).toHaveLength(1)
      expect(client.errors()).toEqual([])
    }
    close(...clients)
  })

  it('[WS-54] [PERM-2] a removed share unbinds at once with ERR_VIEW_FORBIDDEN, a lowered one applies to the next message', async () => {
    const share = (permission?: string) => ({ sharedWith: permission ? [{ userId: 'mia', permission }] : [] })
    await rest().putDocument('private', share('edit'))
    const [ann, mia] = [await enter('private'), await enter('private', 'mia', 'member', ACK)]
    mia.update(mia.put('one'))
    await until('the ack', () => mia.acks().at(-1) === 2)
    await rest().putDocument('private', { ...((await rest().getDocument('private')) as object), ...share('view') })
    await told(mia, 1, 'private')
    mia.update(mia.put('two'))
    await until('the refusal', () => mia.errors().length === 1)
    expect(mia.errors()[0]).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', frame: 3 })
    ann.update(ann.put('still seen'))
    await until('the view', () => mia.has('still seen'))
    await rest().putDocument('private', { ...((await rest().getDocument('private')) as object), ...share() })
    await until('the end', () => mia.errors().length === 2)
    const forbidden = { error: expect.stringMatching(/^ERR_VIEW_FORBIDDEN: ./), code: 'ERR_VIEW_FORBIDDEN', requestId: null }
    expect(mia.errors()[1]).toEqual(forbidden)
    mia.update(mia.put('three'))
    mia.step2()
    await until('the refusals', () => mia.errors().length === 4)
    expect(mia.errors().slice(2)).toEqual([4, 5].map((frame) => ({ ...forbidden, frame })))
    ann.update(ann.put('unseen'))
    await ann.settled()
    await mia.settled()
    expect(mia.has('unseen')).toBe(false)
    expect(eventsOf(mia, 'private')).toHaveLength(1)
    close(ann, mia)
  })

  it('[WS-22] [LIFE-28] [WS-57] a stop closes with 1012, a reason and a retry-after between 250 and 5,000 ms', async () => {
    await rest().putDocument('last', {})
    const clients = await Promise.all(Array.from({ length: 10 }, () => enter('last')))
    expect(await relay.stop()).toBe(0)
    const waits: number[] = []
    for (const { closed } of clients) {
      const { code, reason } = await closed
      expect(code).toBe(1012)
      expect(reason).toMatch(/^restarting;retry-after=[0-9]+$/)
      waits.push(Number(reason.split('=')[1]))
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250)
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000)
    expect(new Set(waits).size).toBeGreaterThan(3)
    await relay.restart()
  })
})
