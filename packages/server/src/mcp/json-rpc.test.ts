import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readMessage, RPC_ERRORS } from './json-rpc.ts'
import { wantsEvents } from './sse.ts'

/** One line for each error: kind, code, status on the legacy leg, status on the modern leg. */
const PINNED = `
parse -32700 400 400
shape -32600 400 400
unknown-method -32601 200 404
meta -32602 200 400
params -32602 200 200
no-resource -32002 200 200
no-resource-modern -32602 200 200
unexpected -32603 200 200
headers -32020 400 400
capability -32021 400 400
version -32022 400 400
limit 429 429 429
`

it('[MCP-61] the error codes and statuses are the pinned ones', () => {
  const rows = Object.entries(RPC_ERRORS).map(([kind, { code, legacy, modern }]) => [kind, code, legacy, modern].join(' '))
  expect(rows).toEqual(PINNED.trim().split('\n'))
})

it('[MCP-10] any JSON is read as a message or refused with -32600, and a request keeps its id', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 'tools/call', 1, null))
  const message = fc.record({ jsonrpc: member, id: member, method: member, params: member, result: member }, { requiredKeys: [] })
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), message), (value) => {
      const read = readMessage(value)
      if (read.kind === 'refused') expect(read.error.kind).toBe('shape')
      else if (read.kind === 'request') expect(value).toMatchObject({ jsonrpc: '2.0', id: read.id, method: read.method })
      else expect(value).toMatchObject({ jsonrpc: '2.0' })
    }),
    { seed: 20_261_121, numRuns: 2_000 },
  )
})

it('[MCP-12] any Accept header is read without an error, and only the named type counts', () => {
  fc.assert(
    fc.property(fc.string(), (accept) => {
      expect(wantsEvents(accept)).toBe(/text\/event-stream/i.test(accept) && wantsEvents(accept))
      expect(wantsEvents(`${accept.replaceAll(/[;,]/g, '')}, text/event-stream`)).toBe(true)
    }),
    { seed: 20_261_121 },
  )
})
