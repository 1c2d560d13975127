import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { headOf, startBench } from '../testing/gateway-bench.ts'

it('[WS-68] [WS-9] ERR_DOC_FULL names the bound and its limit, and repeated ERR_DOC_FULL leave the socket open', async () => {
  await using bench = await startBench({ settings: { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null } })
  bench.store.put(headOf('doc'))
  const client = await bench.joined('doc', {}, ['ack'])
  client.send(syncFrame(2, Uint8Array.of(0, 0)))
  await client.settled()
  const { connection, join } = bench.workers.of('sync').at(-1) ?? { connection: 0, join: 0 }
  const full = { bound: 'clientIds', limit: 65_536 } as const
  const refused = { kind: 'refused', connection, join, code: 'ERR_DOC_FULL', text: 'it is full', violation: false, full } as const
  for (let ordinal = 1; ordinal <= 4; ordinal++) bench.workers.emit({ ...refused, ordinal })
  await client.settled()
  expect(client.jsonOf(TAG.error)).toEqual(
    [1, 2, 3, 4].map((frame) => ({
      error: 'ERR_DOC_FULL: it is full',
      code: 'ERR_DOC_FULL',
      requestId: null,
      frame,
      bound: 'clientIds',
      limit: 65_536,
    })),
  )
})
