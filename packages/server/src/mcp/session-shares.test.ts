import { Agent, request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { legacy } from './testing/requests.ts'

let relay: McpRelay
const agent = new Agent({ keepAlive: true, maxSockets: 8 })
beforeEach(async () => {
  relay = await startMcpRelay({ sessionLimits: { sessions: 200, perPrincipal: 20, closedIds: 1_000 } })
})
afterEach(async () => {
  agent.destroy()
  await relay[Symbol.asyncDispose]()
})

/** Opens many sessions over a few connections. */
async function initialize(times: number, bearer: string): Promise<void> {
  const { hostname, port, pathname: path } = new URL(relay.urls.local)
  const body = JSON.stringify(legacy('initialize', {}).body)
  const headers = { authorization: `Bearer ${bearer}`, 'content-length': String(body.length) }
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request({ hostname, port, path, method: 'POST', headers, agent }, (response) => {
        response.resume().once('end', resolve)
      })
      sent.once('error', reject).end(body)
    })
  let left = times
  const worker = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

it('[MCP-34] a principal that keeps opening sessions displaces neither sessions nor streams of another principal', async () => {
  const bearer = relay.issuer.token({ sub: 'ann' })
  const opened = await relay.send(legacy('initialize', {}, { bearer }))
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  await relay.send(legacy('resources/subscribe', { uri: 'relay://icons' }, { headers, bearer }))
  const stream = await relay.stream({ method: 'GET', headers, bearer })
  await stream.until(':\n\n')
  await initialize(250, relay.issuer.token({ sub: 'eve', role: 'viewer' }))
  relay.content.change('relay://icons')
  await stream.until('updated')
  const again = await relay.send(legacy('resources/subscribe', { uri: 'relay://doc/1' }, { headers, bearer }))
  expect([again.status, again.json.error]).toEqual([200, undefined])
})
