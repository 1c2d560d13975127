import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ArgumentsSchema } from '../../mcp/arguments.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type AgentAnswer, type McpAgent, mcpAgent, validatorOf } from '../mcp-agent.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>

interface Recorded extends AgentAnswer {
  readonly tool: string
}

const recorded: Recorded[] = []
let relay: SharedRelay

/** An agent that records its answers. Each agent acts for another person, so that the changes of others are news to it. */
async function recordingAgent(sub: string): Promise<McpAgent['answer']> {
  const agent = await mcpAgent(relay.mcpUrl, relay.token({ sub, role: 'owner' }))
  return async (tool, args) => {
    const answer = await agent.answer(tool, args)
    recorded.push({ tool, ...answer })
    return answer
  }
}

let documents = 0
async function sample(): Promise<string> {
  const docId = `sample-${++documents}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, SAMPLE_DOCUMENT)
  return docId
}

beforeAll(async () => {
  relay = await sharedRelay()
  const [ann, bob] = [await recordingAgent('ann'), await recordingAgent('bob')]
  const refusals = await sample()
  for (const { name, inputSchema, examples, errors } of TOOL_ROWS) {
    const { properties } = inputSchema as unknown as ArgumentsSchema
    const of = (docId: string) => (Object.hasOwn(properties, 'docId') && name !== 'search' ? { docId } : {})
    for (const [i, example] of examples.entries()) {
      const docId = await sample()
      if (Object.hasOwn(properties, 'dryRun')) await ann(name, { ...of(docId), ...example, dryRun: true })
      const call = { ...of(docId), ...example, ...(Object.hasOwn(properties, 'requestId') && { requestId: `${name}-${i}` }) }
      await ann(name, call)
      if ('requestId' in call) await ann(name, call)
    }
    for (const args of Object.values(errors)) if (args !== null) await ann(name, { ...of(refusals), ...args })
  }
  await tellOfEachOther(ann, bob)
  await takeBack(ann, bob)
  await readTheRest(ann)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** Makes two agents change what the other has seen. */
async function tellOfEachOther(ann: McpAgent['answer'], bob: McpAgent['answer']): Promise<void> {
  const docId = await sample()
  for (const agent of [ann, bob]) await agent('get_prose', { docId, pageId: 'p', ids: true })
  await ann('edit_text', { docId, edits: [{ find: 'Alpha', replace: 'Omega' }] })
  await ann('add_shape', { docId, pageId: 'c', shape: { kind: 'rectangle', x: 900, y: 900, text: 'News', glow: true } })
  await bob('get_prose', { docId, pageId: 'p' })
  await ann('set_prose', {
    docId,
    pageId: 'p',
    content: '# Page\n\n| a | b |\n|---|\n| 1 | 2 | 3 |\n\n==marked== <iframe></iframe>',
  })
  await bob('delete_prose_page', { docId, pageId: 'q' })
  await ann('rename_document', { docId, name: ' Another  name\n' })
}

/** Undoes calls in whole and in part. */
async function takeBack(ann: McpAgent['answer'], bob: McpAgent['answer']): Promise<void> {
  const docId = await sample()
  await ann('insert_block', { docId, pageId: 'p', at: 'end', content: 'One.\n\nTwo.' })
  await bob('edit_text', { docId, edits: [{ find: 'Two.', replace: 'Three.' }] })
  await ann('undo', { docId, last: 1 })
  const { result } = await ann('delete_section', { docId, pageId: 'p', id: 'blk-h', withSubsections: true })
  const callId = String(result['callId'])
  await ann('undo', { docId, callId })
  await ann('undo', { docId, callId })
}

async function readTheRest(ann: McpAgent['answer']): Promise<void> {
  const docId = await sample()
  const file = await ann('add_file', { docId, pageId: 'c', fileName: 'notes.txt', base64: 'SGVsbG8=' })
  await ann('list_files', { docId })
  await ann('get_file', { docId, hash: file.result['hash'] })
  await ann('generate_diagram', {
    docId,
    pageId: 'c',
    nodes: [{ id: 'a', kind: 'star', x: 1 }],
    edges: [{ from: 'a', to: 'a', x: 1 }],
  })
  await ann('get_page', { docId, pageId: 'c', lint: true, limit: 3 })
  await ann('get_prose', { docId, limit: 2 })
  await ann('get_outline', { docId, limit: 1 })
  await ann('list_documents', { limit: 2 })
  await ann('search', { query: 'alpha' })
}

/**
 * Yields the members of a value that its schema declares, to depth two: the path, and a function that returns a copy of the whole value with that
 * member changed.
 */
function* declared(
  schema: Members,
  value: unknown,
  depth = 2,
): Generator<readonly [path: string, (changed: unknown) => unknown]> {
  if (Array.isArray(value)) {
    const [item] = value as readonly unknown[]
    if (item !== undefined && schema['items'] !== undefined)
      for (const [path, change] of declared(schema['items'] as Members, item, depth))
        yield [`[]${path}`, (changed) => [change(changed), ...(value as readonly unknown[]).slice(1)]]
  } else if (typeof value === 'object' && value !== null && depth > 0) {
    for (const [name, type] of Object.entries((schema['properties'] ?? {}) as Record<string, Members>)) {
      if (!Object.hasOwn(value, name)) continue
      yield [`.${name}`, (changed) => ({ ...value, [name]: changed })]
      for (const [path, change] of declared(type, (value as Members)[name], depth - 1))
        yield [`.${name}${path}`, (changed) => ({ ...value, [name]: change(changed) })]
    }
  }
}

/**
 * Returns the paths of members that a value has but its schema does not declare. References of the library are skipped, because people store them
 * in any form.
 */
function undeclared(schema: Members | undefined, value: unknown, path = '', depth = 2): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => undeclared(schema?.['items'] as Members | undefined, item, `${path}[]`, depth))
  if (typeof value !== 'object' || value === null || depth === 0) return []
  if (schema?.['additionalProperties'] !== undefined || /^\.(references\[\]|item|reference)$/.test(path)) return []
  const properties = (schema?.['properties'] ?? {}) as Readonly<Record<string, Members>>
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${path}.${name}`
    return properties[name] === undefined ? [at] : undeclared(properties[name], member, at, depth - 1)
  })
}

const schemas = new Map(TOOL_ROWS.map(({ name, outputSchema }) => [name, outputSchema]))

it('[AG-94] every member of a success, to depth two, is declared by the output schema of its tool', () => {
  const successes = recorded.filter(({ isError }) => !isError)
  // A DOI needs a resolver; mcp-knowledge.test.ts covers that tool.
  const others = TOOL_ROWS.map(({ name }) => name).filter((name) => name !== 'resolve_doi')
  expect(new Set(successes.map(({ tool }) => tool))).toEqual(new Set(others))
  const found = successes.flatMap(({ tool, result }) => undeclared(schemas.get(tool), result).map((path) => tool + path))
  expect([...new Set(found)]).toEqual([])
})

it('[AG-94] nearly every declared member makes an answer invalid when its type is wrong', () => {
  const outcomes = new Map<string, boolean>()
  for (const { tool, result } of recorded) {
    const schema = schemas.get(tool) as Members
    const accepts = validatorOf(schema)
    for (const [path, change] of declared(schema, result)) {
      if (outcomes.has(tool + path)) continue
      const had = path
        .split(/\.|\[\]/)
        .filter((name) => name !== '')
        .reduce<unknown>((at, name) => {
          const one = Array.isArray(at) ? (at[0] as unknown) : at
          return (one as Members)[name]
        }, result)
      outcomes.set(tool + path, !accepts(change(typeof had === 'boolean' ? 'x' : true)))
    }
  }
  const passed = [...outcomes].filter(([, isRefused]) => !isRefused).map(([path]) => path)
  process.stdout.write(
    `${outcomes.size} declared members occurred in ${recorded.length} answers; of another type passed: ${passed.join(', ')}\n`,
  )
  expect(outcomes.size).toBeGreaterThan(500)
  expect(passed.length / outcomes.size).toBeLessThanOrEqual(0.05)
})
