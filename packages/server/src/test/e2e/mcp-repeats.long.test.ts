import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storedRows } from '../store-file.ts'

const ANN = { sub: 'ann', role: 'member' } as const
/** Holds each answer for 1.5 s after its commit, which is enough time to see the commit and to kill the relay. */
const LATE = { RELAY_WRITES_PER_SEC: '0', RELAY_TEST_HOOKS: '1', RELAY_TEST_ANSWER_HOLD_MS: '1500' }
/** Generous, because the write may have to wait for commits of housekeeping. */
const LONG_MS = 40_000

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: LATE })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const agent = () => mcpAgent(relay.mcpUrl, relay.token(ANN))
const remembered = (): number => storedRows(relay, 'select request from remembered_writes').length

/** Calls a tool, and kills the relay after the commit of the write and before its answer. Restarts the relay. */
async function callAndKill(tool: string, args: Readonly<Record<string, unknown>>): Promise<void> {
  const before = remembered()
  const ann = await agent()
  const answered = ann.call(tool, args).then(
    () => true,
    () => false,
  )
  await until('the commit', () => remembered() > before, LONG_MS / 2)
  await relay.kill()
  expect(await answered).toBe(false)
  await relay.restart()
}

describe('a call whose relay is killed after the commit and before the answer', () => {
  it(
    '[TOOL-22] repeating create_document with its request id returns the document already made',
    async () => {
      const args = { name: ' Plan ', requestId: 'create' }
      await callAndKill('create_document', args)
      const ann = await agent()
      const [stored] = storedRows(relay, 'select id from documents')
      const repeat = await ann.call('create_document', args)
      expect(repeat).toMatchObject({ id: stored?.['id'], name: 'Plan', serverVersion: 1, replayed: true })
      expect(await ann.call('get_prose', { docId: repeat['id'], pageId: repeat['prosePageId'] })).toMatchObject({
        serverVersion: 1,
      })
      expect(await ann.call('create_document', args)).toEqual(repeat)
      expect(await ann.call('list_documents', {})).toMatchObject({ returned: 1 })
      expect(await ann.refused('create_document', { ...args, name: 'Other' })).toMatchObject({ code: 'ERR_REQUEST_ID_REUSED' })
    },
    LONG_MS,
  )

  it.each(['cold', 'live'])(
    '[TOOL-22] repeating insert_block into a %s document returns the same ids and writes no second block',
    async (form) => {
      const { id: docId, prosePageId: pageId } = await (await agent()).call('create_document', { name: form })
      const page = { docId, pageId }
      await (await agent()).call('set_prose', { ...page, content: 'first' })
      let person: SyncClient | null = null
      if (form === 'live') {
        person = relay.sync(String(docId), ANN)
        await saved(person)
      }
      const blocks = async () =>
        (await (await agent()).call('get_prose', page)) as { readonly page: { readonly content: string } }
      const first = /id="(blk-[^"]+)"/.exec((await blocks()).page.content)?.[1]
      const args = { ...page, id: first, content: 'Said once.', requestId: `insert ${form}` }
      await callAndKill('insert_block', args)
      const ann = await agent()
      const repeat = await ann.call('insert_block', args)
      expect(repeat).toMatchObject({ pageId, ok: true, replayed: true })
      const { page: now, ...head } = (await ann.call('get_prose', page)) as { page: { content: string }; serverVersion?: number }
      expect(now.content.split('Said once.').length - 1).toBe(1)
      const [block] = repeat['blocks'] as readonly { readonly id: string }[]
      expect(now.content).toContain(`id="${block?.id.split('#')[0]}"`)
      expect(head.serverVersion).toBe(repeat.serverVersion)
      expect(await ann.call('insert_block', args)).toEqual(repeat)
      expect(await ann.call('insert_block', { ...args, requestId: `${form} anew` })).not.toHaveProperty('replayed')
      person?.destroy()
    },
    LONG_MS,
  )
})
