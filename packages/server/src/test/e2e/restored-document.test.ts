import { afterAll, beforeAll, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

const ANN = { sub: 'ann', role: 'member' }
const BOB = { sub: 'bob', role: 'member' }

let relay: SharedRelay
let ann: McpAgent
let bob: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token(ANN))
  bob = await mcpAgent(relay.mcpUrl, relay.token(BOB))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** Captures a recovery point of a document and restores it. Returns the id of the new document. */
async function restored(id: string): Promise<string> {
  const rest = relay.rest(ANN)
  await rest.captureRecoveryPoint(id)
  const [point] = await rest.recoveryPoints(id)
  return (await rest.restoreRecoveryPoint(id, point?.id ?? '')).newDocId
}

async function ask(id: string, method = 'GET', caller = ANN) {
  const headers = { authorization: `Bearer ${relay.token(caller)}` }
  const answer = await relay.fetch(`/api/docs/${id}`, { method, headers })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

it('[REST-6] [WS-63] the id of a document restored twice leads its readers to the newest document', async () => {
  await relay.rest(ANN).putDocument('twice', { name: 'Twice' })
  const first = await restored('twice')
  const second = await restored(first)
  const body = expect.objectContaining({ errorCode: 'NOT_FOUND', resource: 'document', successor: second })
  expect(await ask('twice')).toEqual({ status: 404, body })
  expect(await ask(first)).toEqual({ status: 404, body })
  expect(await ask(first, 'DELETE')).toEqual({ status: 404, body })
  const stranger = await ask('twice', 'GET', BOB)
  expect(stranger).toMatchObject({ status: 404, body: { errorCode: 'NOT_FOUND' } })
  expect(stranger.body).not.toHaveProperty('successor')

  await relay.rest(ANN).deleteDocument(second)
  expect((await ask('twice')).body).not.toHaveProperty('successor')
})

it('[MCP-27] [WS-63] tools name the successor of a restored document to those who may read it', async () => {
  await relay.rest(ANN).putDocument('plan', { name: 'Plan' })
  const newDocId = await restored('plan')
  const nearest = [{ id: newDocId, name: 'Plan (Restored)' }]
  const message = `Document plan was restored from a recovery point and goes on as ${newDocId}.`
  const facts = { code: 'ERR_DOC_NOT_FOUND', message, docId: 'plan', deleted: true, nearest }
  for (const tool of ['get_document', 'delete_document']) expect(await ann.refused(tool, { docId: 'plan' })).toEqual(facts)
  expect(await ann.refused('rename_document', { docId: 'plan', name: 'x' })).toEqual(facts)
  expect(await bob.refused('get_document', { docId: 'plan' })).not.toHaveProperty('nearest')
})
