import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import type { Storage } from '../../drivers/sql/storage.ts'
import { Presence, readAwareness, writeAwareness } from './awareness.ts'
import { RoomAwareness } from './awareness-room.ts'
import type { RoomHost, RoomTurn } from './room-host.ts'
import { newMember } from './room-members.ts'
import type { FromWorker } from '../worker-messages.ts'
import { readAwareness as readAwarenessFrame } from '@docrelay/protocol/codec'
import { createDocument, openTestStorage, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const entry = (client: number, clock: number, state: unknown) => ({ client, clock, json: text(state) })
const ann = { connection: 1, sub: 'ann' }
const bob = { connection: 2, sub: 'bob' }
const said = (states: ReturnType<Presence['take']>) =>
  states.map(({ client, clock, state }) => [client, clock, state && JSON.parse(new TextDecoder().decode(state))])

describe('presence states that the relay accepts', () => {
  it('[WS-42] an awareness update is parsed and encoded again so that clients can read it', () => {
    const doc = new Y.Doc()
    const sender = new Awareness(doc)
    sender.setLocalState({ name: 'Ann', cursor: { x: 1 } })
    const read = readAwareness(encodeAwarenessUpdate(sender, [doc.clientID]))
    expect(read).toHaveLength(1)
    const written = writeAwareness(new Presence().take(ann, read ?? [], 0))
    const receiver = new Awareness(new Y.Doc())
    applyAwarenessUpdate(receiver, written, 'test')
    expect(receiver.getStates().get(doc.clientID)).toEqual({ name: 'Ann', cursor: { x: 1 } })
    sender.destroy()
    receiver.destroy()
  })

  it('[WS-47] states get higher clocks than the clocks that connections saw in a former home of the room', () => {
    const presence = new Presence()
    presence.take(ann, [entry(1, 4, { a: 1 }), entry(2, 9, { a: 2 })], 0)
    expect(
      said(
        presence.saw([
          [1, 4],
          [2, 8],
          [3, 50],
        ]),
      ),
    ).toEqual([[1, 5, { a: 1 }]])
    expect(said(presence.take(ann, [entry(1, 5, { a: 3 })], 0))).toEqual([[1, 6, { a: 3 }]])
    expect(said(presence.take(bob, [entry(3, 1, { b: 1 })], 0))).toEqual([[3, 51, { b: 1 }]])
    expect(new Map(presence.clocks())).toEqual(
      new Map([
        [1, 6],
        [2, 9],
        [3, 51],
      ]),
    )
  })

  it('[WS-44] [WS-47] an id that a connection introduced in the former home of the room still belongs to it', () => {
    const presence = new Presence([[1, 8]])
    presence.introduced(ann, [1, 2, 3, 4, 5], 0)
    expect(said(presence.saw([[1, 9]]))).toEqual([])
    expect(said(presence.take(bob, [entry(1, 20, { forged: true }), entry(6, 1, { b: 1 })], 0))).toEqual([[6, 1, { b: 1 }]])
    expect(said(presence.take(ann, [entry(1, 0, { a: 1 }), entry(5, 1, { a: 5 })], 0))).toEqual([[1, 11, { a: 1 }]])
    expect(said(presence.take({ connection: 3, sub: 'ann' }, [entry(2, 1, { again: true })], 0))).toEqual([
      [2, 1, { again: true }],
    ])
    expect(said(presence.leave(ann.connection))).toEqual([[1, 12, null]])
  })

  it('[WS-42] [G11] bytes that are not exactly one awareness update are refused', () => {
    const deep = (depth: number) => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth)) as unknown
    const wire = (client: number, clock: number, json: Uint8Array) => writeAwareness([{ client, clock, state: json }])
    expect(readAwareness(wire(1, 1, text({ a: 1 })))).toHaveLength(1)
    expect(readAwareness(wire(1, 1, text(deep(32))))).toHaveLength(1)
    const bad = [
      new Uint8Array([]),
      new Uint8Array([5]),
      new Uint8Array([255, 255, 255, 255, 255, 255, 255, 255, 255]),
      wire(1, 1, text([1])),
      wire(1, 1, text('text')),
      wire(1, 1, text(deep(33))),
      wire(1, 1, new TextEncoder().encode('{"__proto__":{}}')),
      wire(1, 1, new TextEncoder().encode('{')),
      wire(1, 1, new Uint8Array([0xff])),
      new Uint8Array([...wire(1, 1, text({})), 0]),
      wire(1, 1, text({})).subarray(0, 5),
    ]
    for (const bytes of bad) expect(readAwareness(bytes)).toBeNull()
  })

  it('[WS-42] random bytes neither make the reader throw nor read past their end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void readAwareness(bytes)),
      { numRuns: 3_000 },
    )
  })

  it('[WS-43] states beyond 4 client ids per connection, 16 KiB per state, 512 states or 1 MiB per room are left out', () => {
    const presence = new Presence()
    const five = [1, 2, 3, 4, 5].map((client) => entry(client, 1, { client }))
    expect(presence.take(ann, five, 0).map(({ client }) => client)).toEqual([1, 2, 3, 4])
    const fat = entry(20, 1, { data: 'x'.repeat(16 * 1024) })
    expect(presence.take(bob, [fat, entry(21, 1, {})], 0).map(({ client }) => client)).toEqual([21])
    const many = new Presence()
    let states = 0
    for (let i = 0; i < 600; i++) states += many.take({ connection: i, sub: `s${i}` }, [entry(i, 1, {})], 0).length
    expect(states).toBe(512)
    many.leave(3)
    expect(many.take({ connection: 700, sub: 's' }, [entry(700, 1, {})], 0)).toHaveLength(1)
    expect(many.take({ connection: 701, sub: 's' }, [entry(701, 1, {})], 0)).toEqual([])
    const full = new Presence()
    let bytes = 0
    for (let i = 0; i < 200; i++)
      for (const { state } of full.take({ connection: i, sub: `s${i}` }, [entry(i, 1, { d: 'x'.repeat(16_000) })], 0))
        bytes += state?.length ?? 0
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(bytes).toBeGreaterThan(1_000_000)
  })

  it('[WS-43] a connection that leaves frees its place, so 10,000 connections may join and leave at the same moment', () => {
    const presence = new Presence()
    for (let i = 0; i < 10_000; i++) {
      expect(presence.take({ connection: i, sub: 's' }, [entry(i, 1, {})], 0)).toHaveLength(1)
      presence.leave(i)
    }
    expect(presence.isEmpty).toBe(true)
  })

  it('[WS-42] a state that is null, however the JSON spells it, removes the presence', () => {
    const presence = new Presence()
    presence.take(ann, [entry(1, 1, {})], 0)
    const spelt = readAwareness(writeAwareness([{ client: 1, clock: 2, state: new TextEncoder().encode(' null\n') }])) ?? []
    expect(presence.take(ann, spelt, 0)).toEqual([{ client: 1, clock: 2, state: null }])
  })

  it.each([100, 5_000, 29_120])(
    '[WS-43] [G11] Y18: of %i fake clients in one frame only four are kept and shown to later joiners',
    (count) => {
      const fakes = Array.from({ length: count }, (_, i) => ({ client: i, clock: 1, state: text({ i }) }))
      const read = readAwareness(writeAwareness(fakes)) ?? []
      expect(read).toHaveLength(Math.min(count, 1_024))
      const presence = new Presence()
      expect(presence.take(ann, read, 0)).toHaveLength(4)
      expect(presence.present(0)).toHaveLength(4)
    },
  )

  it('[WS-43] the relay stops reading a frame after four accepted and four refused new ids', () => {
    const presence = new Presence()
    for (let i = 0; i < 300; i++) {
      presence.take(
        { connection: 100 + i, sub: 's' },
        [0, 1, 2, 3].map((id) => entry(1_000 + i * 4 + id, 1, {})),
        0,
      )
      presence.leave(100 + i)
    }
    let looked = 0
    function* strangers() {
      for (let client = 100_000; client < 132_500; client++) {
        looked++
        yield entry(client, 1, {})
      }
    }
    expect(presence.take(ann, strangers(), 0)).toHaveLength(4)
    expect(looked).toBe(8)
  })

  it('[WS-43] an id taken over by a newer connection counts only towards the limit of that connection', () => {
    const presence = new Presence()
    presence.take(ann, [entry(1, 1, {}), entry(2, 1, {}), entry(3, 1, {}), entry(4, 1, {})], 0)
    const again = { connection: 9, sub: 'ann' }
    expect(presence.take(again, [entry(1, 2, {})], 0)).toHaveLength(1)
    expect(presence.take(ann, [entry(5, 1, {})], 0)).toHaveLength(1)
    expect(presence.take(again, [entry(6, 1, {}), entry(7, 1, {}), entry(8, 1, {}), entry(9, 1, {})], 0)).toHaveLength(3)
    expect(presence.leave(ann.connection).map(({ client }) => client)).toEqual([2, 3, 4, 5])
  })

  it('[WS-44] [PRES-3] no client can change the state of an agent, not even one with the sub of the agent', () => {
    const presence = new Presence()
    const agent = { connection: -1, sub: 'ann' }
    presence.take(agent, [entry(7, 1, { of: 'agent' })], 0)
    for (const person of [ann, bob])
      for (const state of [{ of: 'agent' }, { of: 'person' }, null])
        expect(presence.take(person, [entry(7, 9, state)], 0)).toEqual([])
    expect(presence.leave(ann.connection)).toEqual([])
    expect(said(presence.take(agent, [entry(7, 2, null)], 0))).toEqual([[7, 2, null]])
  })

  it('[WS-44] a client cannot change a live id of another user; a newer connection of the same user takes the id over', () => {
    const presence = new Presence()
    presence.take(ann, [entry(7, 1, { of: 'ann' })], 0)
    expect(presence.take(bob, [entry(7, 99, { of: 'bob' })], 0)).toEqual([])
    expect(presence.take(bob, [entry(7, 100, null)], 0)).toEqual([])
    const later = { connection: 9, sub: 'ann' }
    expect(said(presence.take(later, [entry(7, 1, { of: 'later' })], 0))).toEqual([[7, 2, { of: 'later' }]])
    expect(presence.take(ann, [entry(7, 5, { of: 'ann' })], 0)).toEqual([])
    expect(presence.leave(ann.connection)).toEqual([])
    expect(said(presence.leave(later.connection))).toEqual([[7, 3, null]])
    expect(said(presence.take(bob, [entry(7, 1, { of: 'bob' })], 0))).toEqual([[7, 4, { of: 'bob' }]])
  })

  it('[WS-44] a newer connection of the same user that sends received states back does not take over their ids', () => {
    const presence = new Presence()
    const laptop = { connection: 9, sub: 'ann' }
    presence.take(ann, [entry(7, 1, {})], 0)
    presence.take(laptop, [entry(8, 0, {})], 0)
    for (const repeated of [entry(7, 1, {}), entry(7, 2, null)]) expect(presence.take(laptop, [repeated], 0)).toEqual([])
    expect(said(presence.take(ann, [entry(7, 2, { user: 'Ann' })], 0))).toEqual([[7, 2, { user: 'Ann' }]])
    expect(said(presence.leave(laptop.connection)).map(([client]) => client)).toEqual([8])
  })

  it('[WS-45] a state is removed when it was not renewed for 30 s', () => {
    const presence = new Presence()
    presence.take(ann, [entry(1, 1, { a: 1 })], 0)
    presence.take(bob, [entry(2, 1, { b: 1 })], 0)
    presence.take(ann, [entry(1, 2, { a: 2 })], 29_000)
    expect(said(presence.present(30_001))).toEqual([[1, 2, { a: 2 }]])
    expect(said(presence.expire(30_001))).toEqual([[2, 2, null]])
    expect(said(presence.expire(60_000))).toEqual([[1, 3, null]])
  })

  it('[WS-46] when a connection leaves, its states that are still shown are removed', () => {
    const presence = new Presence()
    presence.take(ann, [entry(1, 1, {}), entry(2, 1, {})], 0)
    presence.take(ann, [entry(2, 2, null)], 0)
    expect(said(presence.leave(1))).toEqual([[1, 2, null]])
    expect(presence.leave(1)).toEqual([])
  })

  it('[WS-47] the clocks sent for an id rise with every change, also when a client returns with its old clock', () => {
    const presence = new Presence()
    const clocks: number[] = []
    const note = (states: ReturnType<Presence['take']>) => clocks.push(...states.map(({ clock }) => clock))
    note(presence.take(ann, [entry(1, 5, {})], 0))
    note(presence.leave(1))
    note(presence.take({ connection: 3, sub: 'ann' }, [entry(1, 5, { back: true })], 10))
    note(presence.take({ connection: 3, sub: 'ann' }, [entry(1, 6, { back: 2 })], 10))
    note(presence.take({ connection: 3, sub: 'ann' }, [entry(1, 40, null)], 10))
    expect(clocks).toHaveLength(5)
    expect(clocks.every((clock, i) => i === 0 || clock > (clocks[i - 1] as number))).toBe(true)
  })

  it('[WS-47] the presence of the owner of an id is shown whatever clock another user gave that id before', () => {
    const presence = new Presence()
    for (const clock of [2 ** 53 - 1, 2 ** 32 - 1, 2 ** 31 + 1])
      expect(presence.take(bob, [entry(777, clock, {})], 0)).toEqual([])
    const stranger = presence.take(bob, [entry(777, 2 ** 31, {})], 0)
    presence.leave(2)
    const shown = [1, 2, 3].flatMap((clock) => presence.take(ann, [entry(777, clock, { clock })], 10))
    const clocks = [...stranger, ...shown].map(({ clock }) => clock)
    expect(shown).toHaveLength(3)
    expect(clocks).toEqual([...new Set(clocks)].sort((a, b) => a - b))
  })
})

describe('presence frames between clients', () => {
  let storage: Storage
  let worker: TestWorker
  let room: number

  beforeAll(async () => {
    storage = await openTestStorage()
    worker = new TestWorker(storage)
    room = await worker.open(await createDocument(storage.documents))
  })

  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]()
    await storage?.[Symbol.asyncDispose]()
  })

  function join(sub?: string): TestClient {
    const client = worker.client()
    client.joinRoom(room, sub === undefined ? {} : { sub })
    return client
  }

  const shown = (frame: Uint8Array | undefined) => {
    const update = frame && readAwarenessFrame(frame.subarray(1))
    return update ? readAwareness(update) : null
  }
  const send = (client: TestClient, id: number, clock: number, state: unknown) =>
    client.sendPresence(writeAwareness([{ client: id, clock, state: state === null ? null : text(state) }]))

  it('[WS-45] [WS-46] a joiner gets all presence in one frame, and a connection that leaves is removed within a second', async () => {
    const [one, two] = [join(), join()]
    send(one, 101, 1, { name: 'one' })
    send(two, 102, 1, { name: 'two' })
    await until(() => one.presence.length === 1 && two.presence.length === 1)
    const late = join()
    await until(() => late.presence.length === 1)
    expect(
      shown(late.presence[0])
        ?.map(({ client }) => client)
        .sort(),
    ).toEqual([101, 102])
    one.leave()
    await until(() => late.presence.length === 2 && two.presence.length === 2, 1_000)
    expect(shown(late.presence[1])).toMatchObject([{ client: 101, clock: 2 }])
    two.leave()
    late.leave()
  })

  it('[WS-42] an undecodable awareness frame is a violation and reaches nobody; a caller at level view may send presence', async () => {
    const [one, two] = [join(), join()]
    worker.host.receive([{ kind: 'rights', room, connection: one.connection, canWrite: false, maxDocBytes: null }])
    one.sendPresence(new Uint8Array([9, 9]))
    send(one, 201, 1, { name: 'viewer' })
    const of201 = () => two.presence.filter((frame) => shown(frame)?.some(({ client }) => client === 201))
    await until(() => one.violations === 1 && of201().length > 0)
    expect(of201()).toHaveLength(1)
    one.leave()
    two.leave()
  })

  it('[WS-48] above 30 frames/s after a burst of 60 only the newest state is sent, at the next free slot', async () => {
    const [one, two] = [join(), join()]
    for (let i = 1; i <= 300; i++) send(one, 301, i, { i })
    await until(() => shown(two.presence.at(-1))?.some(({ json }) => new TextDecoder().decode(json) === '{"i":300}') === true)
    expect(two.presence.length).toBeGreaterThanOrEqual(60)
    expect(two.presence.length).toBeLessThan(75)
    expect(one.refusals).toEqual([])
    one.leave()
    two.leave()
  })
})

it('[WS-44] [WS-48] a delayed frame of a connection contains no state of an id that a newer connection of the same person took over meanwhile', () => {
  const told: { readonly except: number; readonly clients: readonly number[] }[] = []
  const slots: (() => void)[] = []
  const host = {
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    turns: { ask: (turn: RoomTurn) => turn.run(0) },
    after(delayMs: number, work: () => void) {
      if (delayMs < 1_000) slots.push(work)
      return () => undefined
    },
    emit(message: FromWorker) {
      if (message.kind !== 'awareness') return
      const entries = readAwareness(readAwarenessFrame(message.frame.subarray(1)) ?? new Uint8Array()) ?? []
      told.push({ except: message.except, clients: entries.map(({ client }) => client) })
    },
  } as unknown as RoomHost
  const awareness = new RoomAwareness(host, { id: 1, workspaceId: 'ws' })
  const [older, newer] = [1, 2].map((connection) =>
    newMember({ connection, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true }),
  ) as [ReturnType<typeof newMember>, ReturnType<typeof newMember>]
  const says = (clock: number, ...clients: readonly number[]) =>
    writeAwareness(clients.map((client) => ({ client, clock, state: text({ clock }) })))
  for (let clock = 1; clock <= 61; clock++) awareness.receive(older, says(clock, 7, 8))
  awareness.receive(newer, says(70, 7))
  told.length = 0
  for (const slot of slots.splice(0)) slot()
  expect(told).toEqual([{ except: 1, clients: [8] }])
})
