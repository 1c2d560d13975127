import { retryAfterMs } from '@docrelay/protocol/codes'
import { SYNC } from '@docrelay/protocol/frames'
import { afterEach, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { PAUSE } from '../gateway/connection.ts'
import { type NodeBench, type NodeBenchOptions, startNodes, type TestNode, until } from '../testing/node-bench.ts'
import { ackedOf, countOf, expectEqual, presenceOf, statesSeen, type, wait } from '../testing/typing.ts'

let bench: NodeBench
let head: DocumentHead
/** Starts nodes and creates one document. The first node that opens the document becomes its owner. */
async function start(count: number, more: Partial<NodeBenchOptions> = {}): Promise<readonly [TestNode, TestNode, TestNode]> {
  bench = await startNodes({ count, ...more })
  head = await bench.create('doc')
  return bench.nodes as readonly [TestNode, TestNode, TestNode]
}

afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

it('[LIFE-25] people who type into one document on two nodes see the same text, and the log contains all of it', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  await Promise.all([type(ann, 'a', 50), type(bob, 'b', 50)])
  await expectEqual([ann, bob], 100)
  expect([countOf(ann, 'a'), countOf(ann, 'b')]).toEqual([50, 50])
  await until(async () => (await bench.stored(head)) === ann.text.toString())
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(1)
})

it('[LIFE-25] a link that breaks for a moment while people type on both nodes loses no edit and closes no socket', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const typing = Promise.all([type(ann, 'a', 150), type(bob, 'b', 150)])
  await wait(100)
  bench.network.cut(1, 2)
  await wait(150)
  bench.network.heal(1, 2)
  await typing
  await expectEqual([ann, bob], 300)
  await until(async () => (await bench.stored(head)) === ann.text.toString())
})

it.each([1, 2])('[LIFE-25] no edit is lost when a link breaks for a moment and node %i does not notice it', async (unnoticed) => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const typing = Promise.all([type(ann, 'a', 150), type(bob, 'b', 150)])
  await wait(100)
  bench.network.cut(1, 2, [unnoticed])
  await wait(150)
  bench.network.heal(1, 2)
  await typing
  await expectEqual([ann, bob], 300)
  await until(async () => (await bench.stored(head)) === ann.text.toString())
})

it('[LIFE-25] when the owner crashes while people type, people on other nodes keep sockets and edits, and acknowledged edits are kept', async () => {
  const [a, b, c] = await start(3)
  const ann = await a.editor('doc')
  const [bob, cid] = [await b.editor('doc'), await c.editor('doc')]
  const typing = Promise.all([type(ann, 'a', 60), type(bob, 'b', 200), type(cid, 'c', 200)])
  await until(() => ackedOf(ann) > 20)
  bench.crash(a)
  await ann.client.closed
  const acked = ackedOf(ann)
  await typing
  await until(() => countOf(bob, 'b') === 200 && countOf(bob, 'c') === 200 && bob.text.length === cid.text.length)
  await expectEqual([bob, cid], bob.text.length)
  // `acked` also counts the step2 of the join, so Ann has one edit less than that.
  expect(countOf(bob, 'a')).toBeGreaterThanOrEqual(acked - 1)
  await until(async () => (await bench.stored(head)) === bob.text.toString())
  expect(bench.ownership.ownerOf(head.key)?.owner).not.toBe(1)
})

it('[LIFE-26] a paused owner stores nothing more once another node has taken the document over, and its people continue at the new owner', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  await type(ann, 'a', 20)
  await until(() => bob.text.length === 20)
  let goOn = (): void => {}
  a.faults.gate = new Promise((resolve) => {
    goOn = resolve
  })
  bench.network.pause(1)
  bench.network.cut(1, 2)
  bench.ownership.silence(1)
  const typing = Promise.all([type(ann, 'x', 40), type(bob, 'b', 100)])
  await until(() => bench.ownership.ownerOf(head.key)?.owner === 2)
  await until(() => ackedOf(bob) > 50)
  expect(await bench.stored(head)).not.toContain('x')
  bench.network.resume(1)
  bench.network.heal(1, 2)
  bench.ownership.revive(1)
  goOn()
  await typing
  await expectEqual([ann, bob], 160)
  await until(async () => (await bench.stored(head)) === ann.text.toString())
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(2)
})

it('[C8] [LIFE-25] no edit is lost or doubled when a room moves between the homes of its owner while people on two nodes type', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const typing = Promise.all([type(ann, 'a', 150), type(bob, 'b', 150)])
  for (let move = 0; move < 4; move++) {
    await wait(20)
    a.homes.best = 1 - a.homes.best
    a.homes.misplace(1, 'must')
    await until(() => a.homes.posted.at(-1)?.home === a.homes.best)
  }
  await typing
  await expectEqual([ann, bob], 300)
  expect(new Set(a.homes.posted.map(({ home }) => home))).toEqual(new Set([0, 1]))
})

it('[C6] [LIFE-25] when a home of the owner ends, connections at other nodes stay open and lose no edit', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const typing = Promise.all([type(ann, 'a', 150), type(bob, 'b', 150)])
  await wait(100)
  a.homes.end(0)
  await typing
  await expectEqual([ann, bob], 300)
  await until(async () => (await bench.stored(head)) === ann.text.toString())
})

it('[C6] a write from another node that ends the home of its room is not sent to the room again, and its connection is closed', async () => {
  const [a, b] = await start(2)
  const [ann, bob, eve] = [await a.editor('doc'), await b.editor('doc'), await b.editor('doc')]
  await type(eve, 'e', 1)
  await until(() => ann.text.length === 1)
  const sync = a.homes.posted.map(({ message }) => message).findLast((message) => message.kind === 'sync')
  if (sync?.kind !== 'sync') throw new Error('nothing was written')
  const { room, connection, join, ordinal } = sync
  a.homes.end(0, { room, connection, join, ordinal })
  expect(await eve.client.closed).toMatchObject({ code: 1003 })
  await Promise.all([type(ann, 'a', 20), type(bob, 'b', 20)])
  await expectEqual([ann, bob], 41)
})

it('[C6] a write from another node that ended the home of its room is not sent again, even when the room is opened a second time', async () => {
  const [a, b] = await start(2)
  const [ann, eve] = [await a.editor('doc'), await b.editor('doc')]
  const syncs = () => a.homes.posted.map(({ message }) => message).filter((message) => message.kind === 'sync')
  // The write is not durable when the home ends, so node 2 still keeps it.
  let goOn = (): void => {}
  a.faults.gate = new Promise((resolve) => {
    goOn = resolve
  })
  eve.text.insert(0, 'e')
  await until(() => ann.text.length === 1)
  const fatal = syncs().findLast(({ payload }) => payload[0] === SYNC.update)
  if (fatal === undefined) throw new Error('nothing was written')
  const { room, connection, join, ordinal } = fatal
  a.homes.end(0, { room, connection, join, ordinal })
  goOn()
  a.faults.gate = Promise.resolve()
  expect(await eve.client.closed).toMatchObject({ code: 1003 })
  const bob = await b.editor('doc')
  a.homes.end(0)
  await type(bob, 'b', 20)
  await until(() => ackedOf(bob) >= 20)
  const repeated = syncs().filter((sync) => sync.connection === connection && sync.ordinal === ordinal)
  expect(repeated).toEqual([fatal])
})

it('[C6] [LIFE-26] a document that ended three homes of its owner is not opened there again, its sockets close, and the owner releases it', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const room = a.homes.posted[0]?.message.kind === 'open' ? a.homes.posted[0].message.room : 0
  const opens = () => a.homes.posted.filter(({ message }) => message.kind === 'open').length
  for (let ends = 1; ends <= 3; ends++) {
    a.homes.end(0, { room, connection: 0, join: 0, ordinal: 0 })
    if (ends < 3) await until(() => opens() === 1 + ends)
  }
  expect(await ann.client.closed).toMatchObject({ code: 1012 })
  expect(await bob.client.closed).toMatchObject({ code: 1012 })
  await until(() => bench.ownership.ownerOf(head.key) === null)
  expect(opens()).toBe(3)
})

it('[WS-42] [WS-46] presence reaches other nodes, stays when a link breaks for a moment, and is removed 2 s after a node ends', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  bob.client.send(presenceOf(bob, 1, 'Bob'))
  await until(() => statesSeen(ann).length === 1)
  ann.client.send(presenceOf(ann, 1, 'Ann'))
  await until(() => statesSeen(bob).length === 1)
  bench.network.cut(1, 2)
  await wait(50)
  bench.network.heal(1, 2)
  await type(bob, 'b', 1)
  await until(() => ann.text.length === 1)
  expect(statesSeen(ann).filter((state) => state === 'null')).toEqual([])
  const lostAtMs = performance.now()
  bench.crash(b)
  await until(() => statesSeen(ann).at(-1) === 'null')
  expect(performance.now() - lostAtMs).toBeGreaterThan(1_500)
})

it('[WS-46] [LIFE-25] when the owner ends, the next owner stores the edit that a person made just before leaving', async () => {
  const [a, b, c] = await start(3)
  const bob = await b.editor('doc')
  await until(() => bench.ownership.ownerOf(head.key)?.owner === 2)
  const [cid, ann] = [await c.editor('doc'), await a.editor('doc')]
  b.faults.gate = new Promise(() => {})
  cid.text.insert(0, 'last words')
  await until(() => ann.text.toString() === 'last words')
  cid.client.socket.close()
  await cid.client.closed
  bench.crash(b)
  ann.client.socket.close()
  await ann.client.closed
  await bob.client.closed
  const late = await a.editor('doc')
  await until(() => late.text.toString() === 'last words')
})

it('[WS-12] [LIFE-25] an edge whose link from the owner was full opens the room again and gets every edit', async () => {
  const [a, b] = await start(2, { fullBytes: 20_000 })
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  bench.delivers = false
  for (let i = 0; i < 60; i++) {
    ann.text.insert(0, 'x'.repeat(1_000))
    await wait(2)
  }
  await until(() => ackedOf(ann) >= 60)
  expect(a.links.isFull(2)).toBe(true)
  bench.delivers = true
  await expectEqual([ann, bob], 60_000)
  await type(ann, 'a', 5)
  await expectEqual([ann, bob], 60_005)
})

it('[WS-12] sockets are not read while the link to the owner is full, and their frames arrive afterwards', async () => {
  const [a, b] = await start(2, { fullBytes: 20_000 })
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  bench.delivers = false
  for (let i = 0; i < 40; i++) {
    bob.text.insert(0, 'y'.repeat(1_000))
    await wait(1)
  }
  await until(() => b.links.isFull(1))
  const [connection] = [...b.bench.gateway.sessions.all()].filter(({ paused }) => (paused & PAUSE.link) !== 0)
  expect(connection?.state.kind).toBe('joined')
  expect(bench.network.waiting(2, 1)).toBeLessThan(40)
  bench.delivers = true
  await expectEqual([ann, bob], 40_000)
  expect(connection?.paused).toBe(0)
})

it('[LIFE-25] [WS-57] an owner that lives without a link keeps the document, and sockets on other nodes close with 1012 and a short retry-after', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  const cutAtMs = performance.now()
  bench.network.cut(1, 2)
  const { code, reason } = await bob.client.closed
  expect(code).toBe(1012)
  expect(retryAfterMs(reason)).toBeLessThanOrEqual(800)
  expect(performance.now() - cutAtMs).toBeGreaterThan(1_900)
  await type(ann, 'a', 3)
  await until(async () => (await bench.stored(head)) === 'aaa')
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(1)
})

it('[LIFE-17] a document that nobody has open on any node is stored and released', async () => {
  const [a, b] = await start(2)
  const [ann, bob] = [await a.editor('doc'), await b.editor('doc')]
  await type(bob, 'b', 3)
  ann.client.socket.close()
  await ann.client.closed
  await wait(1_500)
  expect(bench.ownership.ownerOf(head.key)?.owner).toBe(1)
  bob.client.socket.close()
  await until(() => bench.ownership.ownerOf(head.key) === null)
  const state = await bench.storage.documents.state(head)
  expect(state).toMatchObject({ head: { coveredSeq: 4, lastSeq: 4 } })
})
