import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { RoomFixture } from '../testing/room-fixture.ts'
import { type TestClient, until } from '../testing/worker-harness.ts'

const at = new RoomFixture()

/**
 * Opens a document whose log lacks the shape `lost`, on which the record of the shape `after` depends. Returns the update that closes the
 * gap, and two joined clients that have neither shape.
 */
async function openWithGap() {
  const { head, room } = await at.openRoom()
  const typist = new Y.Doc()
  const shape = (id: string): Uint8Array => {
    const vector = Y.encodeStateVector(typist)
    typist.getMap('shapes:c1').set(id, { id })
    return Y.encodeStateAsUpdate(typist, vector)
  }
  const writer = await at.joined(room)
  writer.write(SYNC.update, shape('before'))
  await until(() => writer.settled === writer.ordinal)
  writer.leave()
  expect(await at.worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
  const [lost, after] = [shape('lost'), shape('after')]
  const { lastSeq } = await at.headOf(head)
  const record = { key: head.key, afterSeq: lastSeq, actor: 'ann', atMs: Date.now(), update: after }
  expect(await at.storage.updates.append([record])).toMatchObject([{ kind: 'appended' }])
  const again = await at.worker.open(await at.headOf(head))
  expect(at.worker.of('opened').at(-1)).toMatchObject({ hasGap: true })
  const join = async (sub: string): Promise<TestClient> => {
    const client = at.worker.client()
    client.answersStep1 = false
    client.joinRoom(again, { sub })
    await until(() => client.synced)
    return client
  }
  return { head, room: again, lost, ben: await join('ben'), cid: await join('cid') }
}

const idsOf = ({ doc }: TestClient) => [...doc.getMap('shapes:c1').keys()]

it.each([1, 2])(
  '[LIFE-5] [LIFE-16] a client that closes a gap of the log in a turn of %i messages is the last writer, and everybody gets the waiting updates',
  async (messages) => {
    const { head, room, lost, ben, cid } = await openWithGap()
    const { connection, join } = ben
    Y.applyUpdate(ben.doc, lost, ben)
    const payload = syncFrame(SYNC.update, lost).subarray(1)
    at.worker.host.receive(
      Array.from(
        { length: messages },
        () => ({ kind: 'sync', room, connection, join, ordinal: ++ben.ordinal, payload }) as const,
      ),
    )
    await until(() => ben.settled === ben.ordinal)
    for (const client of [ben, cid]) await until(() => idsOf(client).includes('after'))
    expect(idsOf(cid)).toContain('lost')
    await at.settle(room)
    expect(await at.body(head)).toMatchObject({ lastModifiedBy: 'ben' })
  },
)
