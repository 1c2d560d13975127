import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArgumentsSchema } from '../../mcp/arguments.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import type { ToolRow } from '../../mcp/tools/tool-row.ts'
import { comparable, failureFlaw } from '../mcp-answers.ts'
import { type McpAgent, mcpAgent, validatorOf } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const takes = ({ inputSchema }: ToolRow, argument: string): boolean =>
  Object.hasOwn((inputSchema as unknown as ArgumentsSchema).properties, argument)

let documents = 0
/** Puts a sample document for one call, and opens it as a person when it is to be live. */
async function sample(isLive: boolean): Promise<{ readonly docId: string } & Disposable> {
  const docId = `sample-${++documents}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, SAMPLE_DOCUMENT)
  if (!isLive) return { docId, [Symbol.dispose]() {} }
  const person = relay.sync(docId, { sub: 'ann', role: 'member' })
  await saved(person)
  return { docId, [Symbol.dispose]: () => person.destroy() }
}

/** Reads everything of a document by tools. */
async function contentOf(docId: string): Promise<readonly unknown[]> {
  const { isError, result } = await ann.answer('get_document', { docId })
  if (isError) return [result]
  const pages = result['pages'] as readonly { readonly id: string }[]
  return [
    result,
    ...(await Promise.all(pages.map(({ id }) => ann.call('get_page', { docId, pageId: id })))),
    await ann.call('get_prose', { docId }),
    await ann.call('list_references', { docId }),
  ]
}

/** Reads the document by REST: one request shows whether something was written, without a call of each read tool. */
async function stored(docId: string): Promise<readonly [number, string]> {
  const headers = { authorization: `Bearer ${relay.token({ sub: 'ann' })}` }
  const response = await relay.fetch(`/api/docs/${docId}`, { headers })
  return [response.status, await response.text()]
}

/** Runs a call as a dry run, checks that the document stays unchanged, and returns the answer. */
async function triedFirst(row: ToolRow, call: Members): Promise<Members> {
  const docId = String(call['docId'])
  const before = await stored(docId)
  const tried = await ann.call(row.name, { ...call, dryRun: true })
  expect(await stored(docId)).toEqual(before)
  return tried
}

const EXAMPLES = TOOL_ROWS.flatMap((row) => row.examples.map((args, i) => ({ name: row.name, i, row, args })))
const ERRORS = TOOL_ROWS.flatMap((row) =>
  Object.entries(row.errors).flatMap(([code, args]) => (args === null ? [] : [{ name: row.name, code, row, args }])),
)

describe('the examples of the tool rows', () => {
  it.each(EXAMPLES.filter(({ row }) => takes(row, 'docId')))(
    '[CONC-1] [CONC-2] [TOOL-5] [TOOL-21] example $i of $name gives one result cold, live and as a dry run without a write',
    async ({ row, args }) => {
      const told = []
      for (const isLive of [false, true]) {
        using document = await sample(isLive)
        const { docId } = document
        const tried = takes(row, 'dryRun') ? await triedFirst(row, { docId, ...args }) : null
        const result = await ann.call(row.name, { docId, ...args })
        expect(validatorOf(row.outputSchema)(result)).toBe(true)
        const { callId: _, ...others } = result
        if (tried !== null) expect(comparable({ ...others, dryRun: true }, docId)).toBe(comparable(tried, docId))
        told.push(comparable([result, await contentOf(docId)], docId))
      }
      expect(told[1]).toBe(told[0])
    },
  )

  it.each(EXAMPLES.filter(({ row }) => takes(row, 'requestId')))(
    '[TOOL-22] example $i of $name with one request id is written once, however often it is repeated',
    async ({ row, args }) => {
      for (const isLive of [false, true]) {
        using document = await sample(isLive)
        const { docId } = document
        const call = { ...args, ...(takes(row, 'docId') && { docId }), requestId: `once-${docId}` }
        const first = await ann.call(row.name, call)
        const after = await stored(docId)
        expect(await ann.call(row.name, call)).toEqual({ ...first, replayed: true })
        expect(await stored(docId)).toEqual(after)
      }
    },
  )

  it.each(EXAMPLES.filter(({ row }) => !takes(row, 'docId')))('[TOOL-5] example $i of $name succeeds', async ({ row, args }) => {
    const result = await ann.call(row.name, args)
    expect(validatorOf(row.outputSchema)(result)).toBe(true)
  })

  it('[TOOL-20] examples with an outdated expectedVersion are refused', async () => {
    using document = await sample(false)
    const { docId } = document
    for (const { row, args } of EXAMPLES.filter((example) => takes(example.row, 'expectedVersion')))
      expect(await ann.refused(row.name, { docId, ...args, expectedVersion: 9 })).toMatchObject({
        code: 'ERR_VERSION_CONFLICT',
        serverVersion: 1,
      })
  })
})

describe('the errors of the tool rows', () => {
  let open: readonly ({ readonly docId: string } & Disposable)[] = []
  beforeAll(async () => {
    open = [await sample(false), await sample(true)]
  })
  afterAll(() => {
    for (const document of open) document[Symbol.dispose]()
  })

  it.each(ERRORS)(
    '[TOOL-8] [TOOL-9] $code of $name, cold and live: its facts are those of the table, and nothing is written',
    async ({ row, code, args }) => {
      for (const { docId } of open) {
        const refused: Members = await ann.refused(row.name, { ...args, ...(takes(row, 'docId') && { docId }) })
        expect(refused['code']).toBe(code)
        expect(failureFlaw(row.name, refused)).toBeNull()
        expect(await ann.call('get_document', { docId })).toMatchObject({ serverVersion: 1 })
      }
    },
  )
})
