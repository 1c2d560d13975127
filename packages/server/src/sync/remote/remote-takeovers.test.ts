import { TAG } from '@docrelay/protocol/frames'
import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { type NodeBench, startNodes, type TestNode, until } from '../testing/node-bench.ts'
import type { TextEditor } from '../testing/text-editor.ts'
import { ackedOf, clocksSeen, expectEqual, presenceOf, statesSeen, type } from '../testing/typing.ts'

let bench: NodeBench
/** Returns a gate. Between `hold` and `open`, calls of the node do not reach the store. */
function gateOf({ faults }: TestNode): { readonly hold: () => void; readonly open: () => void } {
  let open = (): void => {}
  const hold = (): void => {
    faults.gate = new Promise((resolve) => {
      open = resolve
    })
  }
  return {
    hold,
    open: () => {
      faults.gate = Promise.resolve()
      open()
    },
  }
}
let head: DocumentHead
/** Starts nodes and creates one document. The first node that opens the document becomes its owner. */
async function start(count: number, saveIdleMs = 100): Promise<readonly [TestNode, TestNode, TestNode]> {
  bench = await startNodes({ count, saveIdleMs })
  head = await bench.create('doc')
  return bench.nodes as readonly [TestNode, TestNode, TestNode]
}

afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

it.each(['committed', 'not committed'] as const)(
  '[LIFE-6] [LIFE-25] when the answer to an append that was %s is lost, no socket closes, and each edit is stored once and acknowledged',
  async (unanswered) => {
    const [a, b] = await start(2)
    const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
    for (let round = 1; round <= 3; round++) {
      a.faults.unanswered = unanswered
      await Promise.all([type(ann, 'a', 50), type(bob, 'b', 50)])
      await expectEqual([ann, bob], 100 * round)
      await until(async () => (await bench.stored(head)) === ann.text.toString())
      await until(() => ackedOf(ann) >= 50 * round && ackedOf(bob) >= 50 * round)
    }
    expect(a.bench.gateway.metrics().counters.appendFailures).toBe(3)
    expect(bench.ownership.ownerOf(head.key)?.owner).toBe(1)
  },
)

it('[LIFE-6] [WS-32] when an append with an edit of another node fails, an edit at the owner that builds on it is stored without a gap', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const { open, hold } = gateOf(a)
  for (let round = 1; round <= 5; round++) {
    hold()
    bob.text.insert(bob.text.length, 'b')
    await until(() => ann.text.length === 2 * round - 1)
    ann.text.insert(ann.text.length, 'a')
    await until(() => bob.text.length === 2 * round)
    a.faults.unanswered = 'not committed'
    open()
    await until(async () => (await bench.stored(head)) === 'ba'.repeat(round))
    await expectEqual([ann, bob], 2 * round)
  }
})

it('[LIFE-6] [LIFE-25] the edit of a person at the owner is stored, even when the person left before the append failed', async () => {
  const [a] = await start(2)
  const ann = await a.editor('doc')
  let goOn = (): void => {}
  a.faults.gate = new Promise((resolve) => {
    goOn = resolve
  })
  a.faults.unanswered = 'not committed'
  const seen = a.homes.posted.length
  ann.text.insert(0, 'last words')
  await until(() => a.homes.posted.slice(seen).some(({ message }) => message.kind === 'sync'))
  ann.client.socket.close()
  await ann.client.closed
  await until(() => a.homes.posted.slice(seen).some(({ message }) => message.kind === 'leave'))
  a.faults.gate = Promise.resolve()
  goOn()
  await until(async () => (await bench.stored(head)) === 'last words')
})

it('[LIFE-6] [LIFE-25] while the owner cannot reach the store after a failed append, people on all nodes wait and no socket closes', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const opens = () => a.homes.posted.filter(({ message }) => message.kind === 'open').length
  const before = opens()
  a.faults.isDown = true
  await Promise.all([type(ann, 'a', 3), type(bob, 'b', 3)])
  // The third further `open` message shows that the load has failed twice.
  await until(() => opens() >= before + 3)
  a.faults.isDown = false
  await expectEqual([ann, bob], 6)
  await until(async () => (await bench.stored(head)) === ann.text.toString())
})

it.each([1, 2] as const)(
  '[LIFE-25] after a database failover that lost commits, with node %i as the next owner, people join again and all their edits are stored',
  async (next) => {
    const [a, b, c] = await start(3)
    const people = [await a.editor('doc'), await b.editor('doc'), await c.editor('doc')]
    const [ann, bob] = people as [TextEditor, TextEditor]
    await type(bob, 'b', 20)
    await expectEqual(people, 20)
    await until(async () => (await bench.stored(head)) === ann.text.toString())
    await until(() => ackedOf(bob) >= 20)
    const { open, hold } = gateOf(a)
    hold()
    a.faults.unanswered = 'not committed'
    // These edits are not stored yet. They will get the same sequences as the lost records.
    await type(ann, 'a', 5)
    bench.loseTail(head, 4)
    if (next === 2) {
      const owned = bench.ownership.ownerOf(head.key) ?? undefined
      bench.ownership.silence(1, 1_000)
      expect(await bench.ownership.of(2).acquire(head.key, owned)).toMatchObject({
        kind: 'acquired',
        lastSeq: expect.any(Number),
      })
      bench.ownership.revive(1)
    }
    open()
    const closed = await Promise.all(people.map(({ client }) => client.closed))
    for (const one of closed) expect(one).toMatchObject({ code: 1012, reason: expect.stringContaining('room-reset') })
    for (const { client } of people) expect(client.of(TAG.error)).toEqual([])
    const back: TextEditor[] = []
    for (const [i, node] of [a, b, c].entries()) back.push(await node.editor('doc', {}, people[i]?.doc))
    await expectEqual(back, 25)
    await until(async () => (await bench.stored(head)) === ann.text.toString())
    expect(bench.ownership.ownerOf(head.key)?.owner).toBe(next)
  },
)

it('[LIFE-6] a room with nothing to append notices that commits were lost when it stores the body, and its people join again', async () => {
  bench = await startNodes({ count: 2, saveIdleMs: 1_000 })
  head = await bench.create('doc')
  const [a, b] = bench.nodes as readonly [TestNode, TestNode]
  const people = [await a.editor('doc'), await b.editor('doc')] as const
  await type(people[1], 'b', 20)
  await until(async () => (await bench.stored(head)).length === 20)
  bench.loseTail(head, 4)
  for (const { client } of people)
    expect(await client.closed).toMatchObject({ code: 1012, reason: expect.stringContaining('room-reset') })
  const back = [await a.editor('doc', {}, people[0].doc), await b.editor('doc', {}, people[1].doc)]
  await until(async () => (await bench.stored(head)).length === 20)
  await expectEqual(back, 20)
})

it('[LIFE-26] [LIFE-11] a node whose acquisition a failover lost answers no reader from its room, even when another owner has the same epoch', async () => {
  // The body is not stored during the test, because the node would notice then, before a reader asks, that it has lost the document.
  const [a, b] = await start(2, 60_000)
  const ann = await a.editor('doc')
  await type(ann, 'a', 3)
  await until(async () => (await bench.stored(head)) === 'aaa')
  bench.ownership.loseAcquisition(head.key)
  const bob = await b.editor('doc')
  expect(bench.ownership.ownerOf(head.key)).toEqual({ owner: 2, epoch: 1 })
  await type(bob, 'b', 3)
  await until(async () => (await bench.stored(head)).length === 6)
  expect(a.bench.rooms.counts().owned).toBe(1)
  await a.bench.rooms.settle(head)
  expect(a.bench.rooms.counts()).toMatchObject({ owned: 0, edge: 1, fenced: 1 })
  await expectEqual([ann, bob], 6)
})

it('[LIFE-6] when an append fails again and again, the sockets of all nodes close in the end, and the writer gets an error', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  a.faults.refuses = true
  ann.text.insert(0, 'never stored')
  expect(await ann.client.closed).toMatchObject({ code: 1012, reason: expect.stringContaining('room-reset') })
  expect(await bob.client.closed).toMatchObject({ code: 1012, reason: expect.stringContaining('room-reset') })
  expect(ann.client.of(TAG.error)).not.toEqual([])
  expect(await bench.stored(head)).toBe('')
})

it('[CFG-11] when the log of an open document is replaced, people on all nodes join again, and a room that already has the new log stays open', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  await type(ann, 'a', 3)
  await until(async () => (await bench.stored(head)) === 'aaa')
  await until(() => ackedOf(ann) >= 4)
  const end = async () => {
    const state = await bench.storage.documents.state(head)
    return state.kind === 'document' ? state.head.lastSeq : 0
  }
  const tell = async (seq: number) => {
    for (const { bench: node } of [a, b]) await node.rooms.news.repaired(head, seq)
  }
  const lastSeq = await end()
  // The room has reported its log as durable at least through `lastSeq - 1`, so this message does not close the room.
  await tell(lastSeq - 1)
  expect([ann, bob].map(({ client }) => client.socket.readyState)).toEqual([1, 1])
  const rebuilt = {
    lastSeq,
    update: Y.encodeStateAsUpdate(ann.doc),
    stateVector: Y.encodeStateVector(ann.doc),
    detail: 'a test',
    nowMs: 1,
  }
  expect(await bench.storage.updates.rebuild(head.key, rebuilt)).toBe('rebuilt')
  await tell(await end())
  for (const { client } of [ann, bob])
    expect(await client.closed).toMatchObject({ code: 1012, reason: expect.stringContaining('room-reset') })
  const eve = await b.editor('doc')
  await until(() => eve.text.toString() === 'aaa')
  await tell(await end())
  await type(eve, 'e', 1)
  await until(async () => (await bench.stored(head)).length === 4)
  expect(eve.client.socket.readyState).toBe(1)
})

it.each([
  [2, 3, true],
  [1, 2, false],
] as const)(
  '[LIFE-26] a document that was taken over %i times before is opened by the next owner, and it is quarantined from the third takeover on',
  async (before, after, isApart) => {
    const [a, b] = await start(2)
    const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
    bench.ownership.countTakeovers(head.key, before)
    bench.crash(a)
    await ann.client.closed
    await type(bob, 'b', 3)
    await until(async () => (await bench.stored(head)) === 'bbb')
    expect(bench.ownership.ownerOf(head.key)).toMatchObject({ owner: 2 })
    expect(bench.ownership.takeoversOf(head.key)).toBe(after)
    expect(b.homes.apart).toEqual(isApart ? ['doc'] : [])
  },
)

it('[LIFE-26] a document that is taken over a fifth time is not opened, and its owner keeps it, so that it ends no other node', async () => {
  const [a, b, c] = await start(3)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  bench.ownership.countTakeovers(head.key, 4)
  bench.crash(a)
  await ann.client.closed
  expect(await bob.client.closed).toMatchObject({ code: 1012 })
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(2)
  for (const node of [b, c]) {
    const client = await node.bench.authed({}, ['ack'])
    client.join('doc')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNAVAILABLE' })
  }
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(2)
})

it('[OPS-4] takeovers are counted by cause, which is a silent or an ended owner, and rooms that lost their document are counted too', async () => {
  const [a, b, c] = await start(3)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const causes = (node: TestNode) => node.bench.rooms.counts().takeovers
  // Node 3 opens the document after its owner has released it. This does not count as a takeover.
  for (const { client } of [ann, bob]) {
    client.socket.close()
    await client.closed
  }
  await until(() => bench.ownership.ownerOf(head.key) === null)
  const cid = await c.editor('doc')
  await until(() => bench.ownership.ownerOf(head.key)?.owner === 3)
  expect([a, b, c].map(causes)).toEqual([a, b, c].map(() => ({ silent: 0, ended: 0 })))
  const bea = await b.editor('doc')
  bench.crash(c)
  await cid.client.closed
  await type(bea, 'b', 1)
  await until(() => bench.ownership.ownerOf(head.key)?.owner === 2)
  expect([a, b].map(causes)).toEqual([
    { silent: 0, ended: 0 },
    { silent: 1, ended: 0 },
  ])
  bench.ownership.silence(2, 16_000)
  bench.network.cut(1, 2)
  const again = await a.editor('doc')
  expect(causes(a)).toEqual({ silent: 0, ended: 1 })
  bench.network.heal(1, 2)
  bench.ownership.revive(2)
  await type(bea, 'x', 1)
  await until(() => again.text.length === 2)
  expect([a, b].map((node) => node.bench.rooms.counts().fenced)).toEqual([0, 1])
})

it('[WS-47] the next owner sends presence under newer clocks, even when the client starts its own clocks again', async () => {
  const [a, b, c] = await start(3)
  const ann = await a.editor('doc')
  const [bob, cid] = [await b.editor('doc'), await c.editor('doc')]
  const clocks = () => clocksSeen(cid, bob.doc.clientID)
  bob.client.send(presenceOf(bob, 1, 'Bob'))
  await until(() => clocks().length === 1)
  // Bob sends the same id with the same clocks again, as after a reload of the page. Other people see a newer clock each time.
  bob.client.socket.close()
  await until(() => clocks().length === 2)
  const again = await b.editor('doc')
  again.client.send(presenceOf(bob, 1, 'Bob'))
  await until(() => clocks().length === 3)
  bench.crash(a)
  await ann.client.closed
  await type(again, 'b', 1)
  await until(() => cid.text.length === 1)
  again.client.send(presenceOf(bob, 2, 'Bobby'))
  await until(() => statesSeen(cid).at(-1)?.includes('Bobby') === true)
  const seen = clocks()
  expect(seen.length).toBeGreaterThan(3)
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other))
})

it('[WS-47] a node that runs a room for the first time gets from other nodes the presence clocks that their people have seen', async () => {
  const [a, b, c] = await start(3)
  const ann = await a.editor('doc')
  const bob = await b.editor('doc')
  for (let clock = 1; clock <= 5; clock++) ann.client.send(presenceOf(ann, clock, `Ann ${clock}`))
  await until(() => statesSeen(bob).at(-1)?.includes('Ann 5') === true)
  const owned = bench.ownership.ownerOf(head.key) ?? undefined
  bench.ownership.silence(1, 1_000)
  expect(await bench.ownership.of(3).acquire(head.key, owned)).toMatchObject({ kind: 'acquired' })
  bench.crash(a)
  const cid = await c.editor('doc')
  await type(bob, 'b', 1)
  await until(() => cid.text.length === 1)
  cid.client.send(presenceOf(ann, 1, 'Ann again'))
  await until(() => clocksSeen(bob, ann.doc.clientID).length > 5)
  await until(() => (clocksSeen(bob, ann.doc.clientID).at(-1) ?? 0) > 5 && statesSeen(bob).at(-1)?.includes('Ann again') === true)
})
