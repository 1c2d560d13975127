import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { changeStored } from '../store-file.ts'

const OTHER_BODY = 'update bodies set crc32 = crc32 + 1 where key = (select key from documents where id = ?)'
/** The damaged parts of a document: what is damaged, how, and what the operator can do. */
const DAMAGE = [
  ['row', 'never-live', "update documents set facts = facts || ' ' where id = ?", 'restores a backup'],
  ['body', 'never-live', OTHER_BODY, 'restores one of its recovery points or a backup'],
  ['body', 'live', OTHER_BODY, 'restores one of its recovery points or a backup'],
] as const

describe('a document whose stored row or body was changed', () => {
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({ mcp: 'public', env: { RELAY_WRITES_PER_SEC: '0' } })
    for (const [part, life] of DAMAGE) {
      await relay.rest().putDocument(`${part}-${life}`, { name: 'before', pages: [{ id: 'p', name: 'P', shapes: [] }] })
      if (life === 'never-live') continue
      const client = relay.sync(`${part}-${life}`)
      await saved(client)
      client.doc.getMap('metadata').set('title', 'after')
      await saved(client)
      client.destroy()
    }
    await relay.stop()
    for (const [part, life, statement] of DAMAGE) changeStored(relay, statement, `${part}-${life}`)
    await relay.restart()
  })
  afterAll(() => relay?.[Symbol.asyncDispose]())

  it.each(DAMAGE)(
    '[REST-13] [LIFE-5] with a damaged %s (%s) a GET answers 503 with Retry-After 60 and advice for the operator',
    async (part, life, _, remedy) => {
      const headers = { authorization: `Bearer ${relay.token()}` }
      const answer = await relay.fetch(`/api/docs/${part}-${life}`, { headers })
      expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
        503,
        '60',
        {
          error: `The stored ${part} of the document is damaged, and waiting does not help: the operator ${remedy}.`,
          errorCode: 'UNAVAILABLE',
          retryAfterMs: 60_000,
        },
      ])
    },
  )

  it.each(DAMAGE)(
    '[WS-22] [WS-57] with a damaged %s (%s) a JOIN_DOC gets ERR_UNAVAILABLE with advice for the operator, and a close with retry-after 60 s',
    async (part, life, _, remedy) => {
      const errors: string[] = []
      const closes: string[] = []
      const client = relay.sync(
        `${part}-${life}`,
        {},
        {
          onError: ({ error }) => errors.push(error),
          onState: ({ closed }) => closed !== null && closes.push(`${closed.code} ${closed.reason}`),
        },
      )
      await until('the close', () => closes.length > 0)
      client.destroy()
      const text = `the stored ${part} of the document is damaged, and waiting does not help: the operator ${remedy}`
      expect([errors[0], closes[0]]).toEqual([`ERR_UNAVAILABLE: ${text}`, '1012 unavailable;retry-after=60000'])
    },
  )

  it.each(DAMAGE)(
    '[TOOL-28] with a damaged %s (%s) a tool call gets ERR_STORE_UNAVAILABLE with retryable false and advice for the operator',
    async (part, life, _, remedy) => {
      const agent = await mcpAgent(relay.mcpUrl, relay.token())
      const refusal = await agent.refused('get_document', { docId: `${part}-${life}` })
      expect(refusal).toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining(`the operator ${remedy}`),
        retryable: false,
      })
    },
  )
})
