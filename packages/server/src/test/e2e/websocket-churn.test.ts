import { chunkFrames, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'
import { startRelayUnderTest, type RelayUnderTest, until } from '../relay-under-test.ts'
import { metric, openWire, pause, storedKeys, WireClient } from '../wire-client.ts'
import { patience } from '../../kernel/testing/patience.ts'

const CLIENTS = 6
const ROUNDS = 300

/** A person who edits a document through one socket after another, and records which edits were acknowledged. */
class Person {
  readonly name: string
  readonly docId: string
  readonly safe = new Set<string>()
  made = 0
  client: WireClient | null = null
  #ordinal = 0
  #sent: { readonly ordinal: number; readonly key: string }[] = []
  #refused = new Set<number>()

  constructor(name: string, docId: string) {
    this.name = name
    this.docId = docId
  }

  async connect(relay: RelayUnderTest): Promise<void> {
    const doc = this.client?.doc
    const client = await openWire(relay)
    if (doc) Y.applyUpdate(client.doc, Y.encodeStateAsUpdate(doc))
    this.#ordinal = 0
    this.#sent = []
    this.#refused = new Set()
    client.socket.on('message', (data: Buffer) => this.#receive(client, data))
    this.client = client
    await client.enter(relay.token({ sub: this.name }), this.docId, ['ack'])
  }

  edit(how: 'plain' | 'chunked' | 'bad', id: number): void {
    const { client } = this
    if (client?.socket.readyState !== 1) return
    this.#ordinal++
    if (how === 'bad') return client.update(Uint8Array.of(1, 1, 9, 0, 4))
    const key = `${this.name}-${++this.made}`
    const frame = syncFrame(SYNC.update, client.put(key))
    this.#sent.push({ ordinal: this.#ordinal, key })
    if (how === 'plain') client.send(frame)
    else for (const chunk of chunkFrames(frame, Buffer.alloc(16, id), 10)) client.send(chunk)
  }

  #receive(client: WireClient, data: Buffer): void {
    if (client !== this.client) return
    // The client answers each step1 with a step2, which takes an ordinal.
    if (data[0] === TAG.sync && data[1] === SYNC.step1) this.#ordinal++
    if (data[0] === TAG.error) {
      const error = client.errors().at(-1)
      if (typeof error?.['frame'] === 'number') this.#refused.add(error['frame'])
    }
    if (data[0] !== TAG.syncAck) return
    const acked = readSyncAck(data.subarray(1)) ?? 0
    expect(acked).toBeLessThanOrEqual(this.#ordinal)
    for (const { ordinal, key } of this.#sent) if (ordinal <= acked && !this.#refused.has(ordinal)) this.safe.add(key)
  }
}

function unstored(people: readonly Person[], stored: readonly string[]): string[] {
  const present = new Set(stored)
  return people.flatMap(({ safe }) => [...safe]).filter((key) => !present.has(key))
}

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

it.each([1, 2])(
  '[WS-40] [LIFE-3] [WS-31] no acknowledged edit is lost and all clients agree after broken sockets, a kill and bad updates (%i)',
  async (seed) => {
    const docId = `churned-${seed}`
    await relay.rest().putDocument(docId, {})
    const next = dice(seed)
    const people = Array.from({ length: CLIENTS }, (_, i) => new Person(`p${i}`, docId))
    await Promise.all(people.map((person) => person.connect(relay)))
    let stay: WireClient | null = people[0]?.client ?? null
    for (let round = 0; round < ROUNDS; round++) {
      const person = people[next(CLIENTS)] as Person
      const what = next(100)
      if (person.client === stay) person.edit('plain', 0)
      else if (what < 4) {
        person.client?.socket[what < 2 ? 'terminate' : 'close']()
        await person.connect(relay)
      } else if (what < 6) person.edit('bad', 0)
      else if (what < 16) person.edit('chunked', round % 250)
      else if (what < 26) person.client?.presence({ client: 1_000 + next(9), clock: round, state: { round } })
      else person.edit('plain', 0)
      if (next(3) === 0) await pause(next(12))
      if (round === ROUNDS / 2) {
        await relay.kill()
        await relay.restart()
        // Checked before any client reconnects and sends its edits again.
        expect(unstored(people, await storedKeys(relay, docId))).toEqual([])
        await Promise.all(people.map((one) => one.connect(relay)))
        stay = people[0]?.client ?? null
      }
    }
    const made = people.reduce((sum, person) => sum + person.made, 0)
    await until('all to agree', async () => {
      // A client closed for bad updates, which happens some time after the last of them, reconnects with its content.
      await Promise.all(people.map(async (person) => person.client?.socket.readyState === 1 || person.connect(relay)))
      return people.every((person) => person.client?.keys().length === made)
    })
    const stored = await storedKeys(relay, docId)
    expect(stored.length).toBe(made)
    expect(unstored(people, stored)).toEqual([])
    expect(people.reduce((sum, { safe }) => sum + safe.size, 0)).toBeGreaterThan(made / 3)
    expect(await metric(relay, 'relay_handler_panics_total')).toBe(0)
    for (const person of people) person.client?.socket.terminate()
  },
  patience(60_000),
)
