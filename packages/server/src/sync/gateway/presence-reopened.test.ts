import { awarenessFrame, readAwareness as readFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { OPEN_DOCS } from '../../access/testing/policies.ts'
import { readAwareness, writeAwareness } from '../room/awareness.ts'
import { startBench } from '../testing/gateway-bench.ts'
import { HomesHere } from '../testing/homes-here.ts'
import { writeDocument } from '../testing/stored-document.ts'
import type { TestClient } from '../testing/test-client.ts'
import { openTestStorage, until } from '../testing/worker-harness.ts'

const ANN = 7
const VIC = 8

function presence(client: number, clock: number, name: string): Uint8Array {
  const state = new TextEncoder().encode(JSON.stringify({ name }))
  return awarenessFrame(writeAwareness([{ client, clock, state }]))
}

/** Returns the last state of an id that this client received. */
function shownTo(client: TestClient, id: number): unknown {
  const entries = client
    .of(TAG.awareness)
    .flatMap((frame) => readAwareness(readFrame(frame.subarray(1)) ?? new Uint8Array()) ?? [])
  const last = entries.findLast((entry) => entry.client === id)
  return last === undefined ? undefined : JSON.parse(new TextDecoder().decode(last.json))
}

it('[WS-44] [WS-45] [C6] after a worker ended, everybody shows the same presence as before, and a forged presence is not accepted', async () => {
  await using storage = await openTestStorage()
  await using homes = new HomesHere(storage)
  const { documents: store } = storage
  const settings = { accessPolicy: OPEN_DOCS }
  await using bench = await startBench({ workers: homes, deps: { store }, rooms: { store }, settings })
  await writeDocument(store, { workspaceId: 'default', id: 'doc' })
  const vic = await bench.joined('doc', { sub: 'vic', role: 'viewer' })
  const ann = await bench.joined('doc', { sub: 'ann' })
  const bob = await bench.joined('doc', { sub: 'ann' })
  ann.send(presence(ANN, 1, 'Ann'))
  await until(() => shownTo(bob, ANN) !== undefined)
  vic.send(presence(ANN, 5, 'forged'))
  vic.send(presence(VIC, 1, 'Vic'))
  await until(() => shownTo(bob, VIC) !== undefined)
  const before = bob.of(TAG.awareness).length
  homes.end(0)
  vic.send(presence(ANN, 6, 'forged again'))
  await until(() => bob.of(TAG.awareness).length >= before + 2)
  vic.send(presence(ANN, 7, 'forged once more'))
  ann.send(presence(ANN, 2, 'Ann writes'))
  await until(() => JSON.stringify(shownTo(bob, ANN)) === '{"name":"Ann writes"}')
  expect(shownTo(bob, VIC)).toEqual({ name: 'Vic' })
  expect(bob.of(TAG.awareness).some((frame) => frame.includes('forged'))).toBe(false)
})
