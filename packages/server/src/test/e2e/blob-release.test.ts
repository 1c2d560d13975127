import { expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

const ann: TokenOptions = { sub: 'ann', role: 'member' }
const empty = { name: 'busy', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] }

function call(relay: RelayUnderTest, method: string, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  const headers = { authorization: `Bearer ${relay.token(ann)}` }
  return relay.fetch(`/api/blobs/${hashOf(bytes)}`, { method, headers, ...(method === 'POST' && { body: bytes }) })
}
const isHeld = async (relay: RelayUnderTest, bytes: Uint8Array<ArrayBuffer>) => (await call(relay, 'HEAD', bytes)).status === 200
const bytesOf = (seed: number) => new Uint8Array(someBytes(900, seed))

it('[BLOB-15] an unreferenced blob is deleted during edits, and a blob that an edit just referenced is kept', async () => {
  await using relay = await startRelayUnderTest({ env: { RELAY_BLOB_GC_GRACE_SECS: '2' } })
  const [unused, named] = [bytesOf(11), bytesOf(12)]
  for (const name of ['one', 'two']) await relay.rest(ann).putDocument(name, empty)
  const clients = ['one', 'two'].map((name) => relay.sync(name, ann))
  await saved(...clients)
  const write = (round: number) => {
    for (const client of clients)
      client.doc.getMap('shapes:canvas').set('a', { id: 'a', type: 'rectangle', x: round, y: 1, w: 1, h: 1 })
  }
  await call(relay, 'POST', unused)
  await call(relay, 'POST', named)
  let round = 0
  const keyboard = setInterval(() => write(round++), 30)
  try {
    clients[1]?.doc
      .getMap('shapes:canvas')
      .set('b', { id: 'b', type: 'rectangle', x: 1, y: 1, w: 1, h: 1, blobRef: hashOf(named) })
    await until('the unused blob to be released', async () => !(await isHeld(relay, unused)), 12_000)
  } finally {
    clearInterval(keyboard)
  }
  expect(await isHeld(relay, named)).toBe(true)
})

it('[LIFE-30] [BLOB-15] after a crash the last edits of unopened documents are stored, and then unreferenced blobs are deleted', async () => {
  await using relay = await startRelayUnderTest({ env: { RELAY_BLOB_GC_GRACE_SECS: '1' } })
  const bytes = bytesOf(13)
  await relay.rest(ann).putDocument('left', empty)
  const client = relay.sync('left', ann)
  await saved(client)
  client.doc.getMap('shapes:canvas').set('last', { id: 'last', type: 'rectangle', x: 1, y: 1, w: 1, h: 1 })
  await saved(client)
  await call(relay, 'POST', bytes)
  await relay.kill()
  client.destroy()
  await relay.restart()
  await until('the blob to be released', async () => !(await isHeld(relay, bytes)), 8_000)
})
