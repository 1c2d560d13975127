import { awarenessFrame, chunkFrames, jsonFrame, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { encodePresence, metric, openWire, pause, storedKeys, type WireClient } from '../wire-client.ts'
import { patience } from '../../kernel/testing/patience.ts'

const VISITS = 40
const BEGUN = 2_000_000

/** Returns an honest frame with a few bytes changed, removed or added. */
function spoilt(frame: Uint8Array, next: (below: number) => number): Uint8Array {
  const bytes = [...frame]
  for (let left = 1 + next(3); left > 0; left--) {
    const at = next(bytes.length)
    const how = next(4)
    if (how === 0) bytes.splice(at, 1)
    else if (how === 1) bytes.splice(at, 0, next(256))
    else bytes[at] = next(256)
  }
  return Uint8Array.from(bytes)
}

function honestFrames(client: WireClient, docId: string, next: (below: number) => number): Uint8Array[] {
  const update = client.edit((doc) => {
    doc.getMap('shapes:p').set(`s${next(5)}`, { id: 's', x: next(1_000), nested: { deep: [1, 'two', null] } })
    const fragment = doc.getXmlFragment('prose:t')
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [new Y.XmlText('some text')])
    fragment.insert(0, [paragraph])
    if (fragment.length > 3) fragment.delete(2, 1)
  })
  const sync = syncFrame(SYNC.update, update)
  return [
    sync,
    syncFrame(SYNC.step2, Y.encodeStateAsUpdate(client.doc)),
    syncFrame(SYNC.step1, Y.encodeStateVector(client.doc)),
    awarenessFrame(encodePresence([{ client: BEGUN + next(5), clock: next(50), state: { user: { name: 'x' } } }])),
    jsonFrame(TAG.joinDoc, { docId }),
    ...chunkFrames(sync, Buffer.alloc(16, next(256)), 16).slice(0, 3),
  ]
}

async function visit(relay: RelayUnderTest, next: (below: number) => number): Promise<void> {
  const vandal = await openWire(relay)
  await vandal.enter(relay.token({ sub: 'vandal' }), 'd', next(2) ? ['ack'] : undefined)
  for (let left = 6; left > 0 && vandal.socket.readyState === 1; left--) {
    const frames = honestFrames(vandal, 'd', next)
    vandal.send(spoilt(frames[next(frames.length)] as Uint8Array, next))
    if (next(2)) vandal.send(frames[0] as Uint8Array)
    await pause(next(3))
  }
  if (next(2)) vandal.socket.terminate()
  else vandal.socket.close()
}

it('[WS-33] [WS-42] [OPS-8] whatever a hostile member with edit rights sends, other clients and the process keep working', {
  timeout: patience(60_000),
}, async () => {
  await using relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' } })
  await relay.rest().putDocument('d', { pages: [{ id: 'p', name: 'P', shapes: [] }] })
  const next = dice(7)
  const ann = await (await openWire(relay)).enter(relay.token(), 'd', ['ack'])
  const ben = await (await openWire(relay)).enter(relay.token({ sub: 'ben' }), 'd', ['ack'])
  for (let i = 0; i < VISITS; i++) {
    ann.update(ann.put(`a${i}`))
    await Promise.all([visit(relay, next), i % 2 ? visit(relay, next) : null])
    ben.update(ben.put(`b${i}`))
  }
  const state = (client: WireClient) => Buffer.from(Y.encodeStateAsUpdate(client.doc)).toString('hex')
  await until('the two to agree', () => state(ann) === state(ben))
  expect([ann.errors(), ben.errors(), ann.socket.readyState, ben.socket.readyState]).toEqual([[], [], 1, 1])
  expect(ann.doc.store.pendingStructs).toBe(null)
  const stored = await storedKeys(relay, 'd')
  for (let i = 0; i < VISITS; i++) expect(stored).toEqual(expect.arrayContaining([`a${i}`, `b${i}`]))
  expect(await metric(relay, 'relay_handler_panics_total')).toBe(0)
  expect(await metric(relay, 'relay_bad_updates_total')).toBeGreaterThan(10)
  expect(relay.logLines.filter((line) => /"level":"(error|warn)"/.test(line) && !line.includes('config.warning'))).toEqual([])
  for (const client of [ann, ben]) client.socket.terminate()
})
