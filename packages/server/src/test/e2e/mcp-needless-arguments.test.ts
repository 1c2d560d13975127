import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArgumentsSchema } from '../../mcp/arguments.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let ann: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
async function sample(): Promise<string> {
  const docId = `needless-${++documents}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, SAMPLE_DOCUMENT)
  return docId
}

const storedVersion = async (docId: string) => (await ann.call('get_document', { docId })).serverVersion
const fieldsOf = (notes: unknown) => ((notes ?? []) as readonly { readonly field?: string }[]).map(({ field }) => field)

const NEEDLESS = TOOL_ROWS.flatMap(({ name, inputSchema, needless = {} }) =>
  Object.entries(needless).map(([argument, call]) => ({
    name,
    argument,
    call,
    takesDocument: Object.hasOwn((inputSchema as unknown as ArgumentsSchema).properties, 'docId'),
  })),
)

describe('an argument that has no effect', () => {
  it.each(NEEDLESS)(
    '[AG-33] $argument of $name without effect is refused, or reported where it is ignored',
    async ({ name, argument, call, takesDocument }) => {
      const docId = await sample()
      const own = takesDocument ? { docId } : {}
      if ('refused' in call) {
        const { code, argument: named, message } = await ann.refused(name, { ...own, ...call.refused })
        expect(code).toBe('ERR_BAD_ARGUMENT')
        expect(`${String(named)} ${String(message)}`).toContain(argument.split('.').at(-1))
        expect(await storedVersion(docId)).toBe(1)
      } else {
        const { fixes, warnings } = await ann.call(name, { ...own, ...call.told })
        const told = [...fieldsOf(fixes), ...fieldsOf(warnings)]
        expect(told.some((field) => field !== undefined && Object.hasOwn(call.told, field))).toBe(true)
      }
    },
  )

  it('[AG-33] [TOOL-6] a docId for a read tool that takes none is dropped, with a fix', async () => {
    const { fixes } = await ann.call('get_storage', { docId: 'any' })
    expect(fixes).toEqual([{ action: 'dropped_unknown', field: 'docId', reason: expect.any(String) }])
    expect(await ann.refused('create_document', { docId: 'any' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'docId' })
  })

  it('[AG-33] [AG-93] a fix of the arguments of a step is reported with the step', async () => {
    const docId = await sample()
    const steps = [
      { tool: 'rename_document', arguments: { name: 'New' } },
      { tool: 'insert_block', arguments: { pageId: 'p', id: 'blk-a', content: 'x', format: '', outside: 'true' } },
    ]
    const { fixes } = await ann.call('edit_document', { docId, steps })
    expect(fixes).toMatchObject([
      { action: 'dropped_invalid', field: 'format', step: 2 },
      { action: 'unwrapped', field: 'outside', step: 2 },
    ])
    const idle = [{ tool: 'set_prose', arguments: { pageId: 'p', id: 'blk-a', content: 'x', replace: true } }]
    expect(await ann.refused('edit_document', { docId, steps: idle })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', step: 1 })
  })
})

describe('an empty text in place of something that a call replaces or removes', () => {
  /** Without the empty argument each of these calls would reach more than its caller named, or something else. */
  const EMPTY: readonly (readonly [string, object, string])[] = [
    ['set_prose', { pageId: 'p', content: 'x', id: '' }, 'id'],
    ['set_prose', { pageId: 'p', content: 'x', anchor: '' }, 'anchor'],
    ['set_prose', { pageId: 'p', content: 'x', id: 'blk-a', untilId: '' }, 'untilId'],
    ['set_prose', { pageId: 'p', content: 'x', id: 'blk-a', anchorUntil: '' }, 'anchorUntil'],
    ['delete_block', { pageId: 'p', id: '', anchor: 'Alpha' }, 'id'],
    ['delete_block', { pageId: 'p', id: 'blk-a', untilId: '' }, 'untilId'],
    ['edit_table', { pageId: 'p', op: 'deleteRow', row: 0, id: '' }, 'id'],
    ['edit_text', { pageId: '', edits: [{ find: 'Other', replace: 'x' }] }, 'pageId'],
    ['undo', { callId: '', last: 1 }, 'callId'],
    ['edit_document', { steps: [{ tool: 'set_prose', arguments: { pageId: 'p', content: 'x', id: '' } }] }, 'id'],
  ]

  it.each(EMPTY)('[AG-93] %s with %o is refused and writes nothing', async (tool, args, argument) => {
    const docId = await sample()
    expect(await ann.refused(tool, { docId, ...args })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      argument,
      message: expect.stringContaining(`no ${argument} at all`),
    })
    expect(await storedVersion(docId)).toBe(1)
  })

  it('[AG-93] an empty id counts as absent in a tool that destroys nothing', async () => {
    const docId = await sample()
    const { fixes } = await ann.call('insert_block', { docId, pageId: 'p', at: 'end', id: '', content: 'x' })
    expect(fixes).toMatchObject([{ action: 'dropped_invalid', field: 'id' }])
    expect((await ann.call('get_prose', { docId, pageId: 'p', id: '' }))['fixes']).toMatchObject([{ field: 'id' }])
  })
})
