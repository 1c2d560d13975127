import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readMessage } from './json-rpc.ts'
import { wantsEvents } from './sse.ts'

it('[MCP-10] whatever JSON comes, it is a message or refused with -32600, and a request keeps its id', () => {
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

it('[MCP-12] any Accept header is read without failing, and only the named type counts', () => {
  fc.assert(
    fc.property(fc.string(), (accept) => {
      expect(wantsEvents(accept)).toBe(/text\/event-stream/i.test(accept) && wantsEvents(accept))
      expect(wantsEvents(`${accept.replaceAll(/[;,]/g, '')}, text/event-stream`)).toBe(true)
    }),
    { seed: 20_261_121 },
  )
})
