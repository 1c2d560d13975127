import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { headOf, startBench } from '../testing/gateway-bench.ts'

it('[WS-37] a chunked step1 is acknowledged when it is handled, and a chunked write only when it is settled', async () => {
  await using bench = await startBench()
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.settles = false
  const client = await bench.joined('doc', {}, ['ack'])
  const acknowledged = () => client.of(TAG.syncChunkAck).map((frame) => frame[1])
  const [write, step1] = [1, 2]
  client.sendChunk(write, 0, 1, syncFrame(2, Uint8Array.of(0, 0)))
  client.sendChunk(step1, 0, 1, syncFrame(0, Uint8Array.of(0)))
  await client.settled()
  const [first] = workers.of('sync')
  if (first === undefined) throw new Error('nothing was handed over')
  expect(acknowledged()).toEqual([step1])
  workers.emit({ kind: 'settled', connection: first.connection, join: first.join, ordinal: first.ordinal })
  await client.settled()
  expect(acknowledged()).toEqual([step1, write])
})
