import { awarenessFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { documentsOf, encodePresence, openWire, pause, type WireClient } from '../wire-client.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const newDocument = documentsOf(() => relay)

const enter = async (docId: string, sub = 'ann', role = 'owner'): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token({ sub, role }), docId)
const states = (client: WireClient) => client.present().flat()
const seen = (client: WireClient, count: number) => until(`${count} states`, () => states(client).length >= count)
const close = (...clients: WireClient[]) => clients.forEach((client) => void client.socket.close())

describe('awareness', () => {
  it('[WS-42] presence is encoded again, so every accepted spelling gives all other clients the same frame', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, 'ben')]
    // The id and the lengths, in longer encodings than necessary.
    ann.send(TAG.awareness, Buffer.from([0x8a, 0, 0x81, 0, 0x85, 0, 0x83, 0, 0x82, 0]), Buffer.from('{}'))
    await seen(ben, 1)
    expect(ben.of(TAG.awareness)).toEqual([Buffer.from(awarenessFrame(encodePresence([{ client: 5, clock: 3, state: {} }])))])
    expect(ann.of(TAG.awareness)).toEqual([])
    close(ann, ben)
  })

  it.each<[string, Uint8Array]>([
    ['cut off', Uint8Array.of(1, 5, 1, 9, 0x7b)],
    ['an array', encodePresence([{ client: 5, clock: 1, state: [] }])],
    ['no JSON', Uint8Array.of(1, 5, 1, 1, 0x7b)],
    ['no UTF-8', Uint8Array.of(1, 5, 1, 3, 0x22, 0xff, 0x22)],
    ['followed by more', Uint8Array.of(0, 0)],
    [
      'nested deeper than 32',
      encodePresence([{ client: 5, clock: 1, state: JSON.parse(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`) }]),
    ],
  ])('[WS-42] [WS-56] an awareness frame that is %s reaches nobody and is a violation', async (_, update) => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, 'ben')]
    for (let i = 0; i < 3; i++) ann.send(awarenessFrame(update))
    expect(await ann.closed).toEqual({ code: 1003, reason: 'protocol' })
    await ben.settled()
    expect([ann.errors(), ben.of(TAG.awareness)]).toEqual([[], []])
    close(ben)
  })

  it('[WS-43] after four new client ids the rest of an awareness frame is not read', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, 'ben')]
    const named = (client: number, clock: number) => ({ client, clock, state: { clock } })
    ann.presence(...[1, 2, 3, 4].map((client) => named(client, 1)))
    await seen(ben, 4)
    ann.presence(...[11, 12, 13, 14].map((client) => named(client, 1)), named(1, 2))
    ann.presence(named(2, 2))
    await seen(ben, 5)
    await ben.settled()
    expect(states(ben).filter(({ clock }) => clock > 1)).toEqual([named(2, 2)])
    close(ann, ben)
  })

  it('[WS-43] a fifth client id and an oversized state are dropped silently, and a viewer may send presence', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const [ann, vic] = [await enter(id), await enter(id, 'vic', 'viewer')]
    vic.presence(
      { client: 9, clock: 1, state: { fat: 'x'.repeat(16 * 1024) } },
      ...[1, 2, 3, 4, 5].map((client) => ({ client, clock: 1, state: { client } })),
    )
    await seen(ann, 4)
    expect(ann.present()).toEqual([[1, 2, 3, 4].map((client) => ({ client, clock: 1, state: { client } }))])
    vic.presence({ client: 1, clock: 2, state: { exact: 'x'.repeat(16 * 1024 - 12) } })
    await seen(ann, 5)
    expect(vic.errors()).toEqual([])
    close(ann, vic)
  })

  it('[WS-44] [WS-47] a client id belongs to its connection, and a newer connection of the same sub takes it over', async () => {
    const id = await newDocument()
    const [watch, old, other] = [await enter(id, 'wes'), await enter(id, 'ann'), await enter(id, 'ben')]
    old.presence({ client: 7, clock: 40, state: { of: 'old' } })
    await seen(watch, 1)
    other.presence({ client: 7, clock: 99, state: { of: 'ben' } }, { client: 8, clock: 1, state: {} })
    other.presence({ client: 7, clock: 100, state: null })
    await seen(watch, 2)
    const again = await enter(id, 'ann')
    again.presence({ client: 7, clock: 1, state: { of: 'again' } })
    await seen(watch, 3)
    old.presence({ client: 7, clock: 60, state: { of: 'old' } })
    close(old)
    await old.closed
    again.presence({ client: 7, clock: 2, state: { of: 'again', n: 2 } })
    await seen(watch, 4)
    expect(states(watch)).toEqual([
      { client: 7, clock: 40, state: { of: 'old' } },
      { client: 8, clock: 1, state: {} },
      { client: 7, clock: 41, state: { of: 'again' } },
      { client: 7, clock: 42, state: { of: 'again', n: 2 } },
    ])
    close(watch, other, again)
  })

  it('[WS-44] one person is seen from two devices though each client sends on the states it receives, as y-websocket does', async () => {
    const id = await newDocument()
    const [watch, phone, laptop] = [await enter(id, 'wes'), await enter(id, 'ann'), await enter(id, 'ann')]
    phone.presence({ client: 7, clock: 1, state: {} })
    laptop.presence({ client: 8, clock: 1, state: {} })
    await seen(watch, 2)
    laptop.presence({ client: 7, clock: 1, state: {} })
    laptop.presence({ client: 8, clock: 2, state: { name: 'Ann' } })
    await seen(watch, 3)
    phone.presence({ client: 7, clock: 2, state: { name: 'Ann' } })
    await seen(watch, 4)
    expect(states(watch).slice(2)).toEqual([8, 7].map((client) => ({ client, clock: 2, state: { name: 'Ann' } })))
    close(watch, phone, laptop)
  })

  it('[WS-45] [WS-46] a joiner gets all other states in one frame, and a connection that breaks is removed within a second', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, 'ben')]
    ann.presence({ client: 1, clock: 1, state: { a: 1 } })
    ann.presence({ client: 2, clock: 1, state: { a: 2 } })
    ben.presence({ client: 3, clock: 1, state: { b: 1 } })
    ben.presence({ client: 3, clock: 2, state: null })
    await until('everything', () => states(ben).length === 2 && states(ann).length === 2)
    const late = await enter(id, 'cat')
    expect(late.present()).toEqual([[1, 2].map((client) => ({ client, clock: 1, state: { a: client } }))])
    expect(late.tags().slice(0, 3)).toEqual([TAG.authResponse, TAG.sync, TAG.awareness])
    ann.socket.terminate()
    const took = stopwatch()
    await seen(late, 4)
    expect(took()).toBeLessThan(1_000)
    expect(late.present()[1]).toEqual([1, 2].map((client) => ({ client, clock: 2, state: null })))
    // The id returns under its old clock and is shown at once.
    const back = await enter(id)
    back.presence({ client: 1, clock: 1, state: { back: true } })
    await seen(late, 5)
    expect(states(late)[4]).toEqual({ client: 1, clock: 3, state: { back: true } })
    close(ben, late, back)
  })

  it('[WS-46] presence is removed when its document is deleted or its caller loses access', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'mia', permission: 'edit' }] })
    const [ann, mia] = [await enter(id), await enter(id, 'mia', 'member')]
    mia.presence({ client: 5, clock: 1, state: {} })
    await seen(ann, 1)
    await relay.rest().putDocument(id, { name: id, sharedWith: [] })
    await seen(ann, 2)
    expect(states(ann)[1]).toEqual({ client: 5, clock: 2, state: null })
    mia.presence({ client: 5, clock: 3, state: {} })
    await mia.settled()
    await ann.settled()
    expect(states(ann)).toHaveLength(2)
    close(ann, mia)
  })

  it('[WS-48] above 30 frames a second after 60 only the newest state of each id is sent, without error or write token', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, 'ben')]
    const sentAt = performance.now()
    for (let clock = 1; clock <= 180; clock++) ann.presence({ client: 1 + (clock % 2), clock, state: { clock } })
    await until('the last ones', () => states(ben).some(({ clock }) => clock === 180))
    await pause(150)
    const frames = ben.present()
    expect(frames.length).toBeGreaterThan(59)
    const seconds = (performance.now() - sentAt) / 1_000
    expect(frames.length).toBeLessThanOrEqual(Math.min(150, 60 + Math.ceil(30 * seconds) + 1))
    expect(
      frames
        .flat()
        .filter(({ clock }) => clock >= 179)
        .map(({ clock }) => clock)
        .sort(),
    ).toEqual([179, 180])
    ann.update(ann.put('a'))
    await until('the write', () => ben.has('a'))
    expect(ann.errors()).toEqual([])
    close(ann, ben)
  })
})
