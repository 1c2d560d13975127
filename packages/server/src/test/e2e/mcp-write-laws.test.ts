import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { patience } from '../../kernel/testing/patience.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { variedExamples } from '../../mcp/tools/testing/varied-examples.ts'
import { readFragment } from '../../sync/prose/prose-fragment.ts'
import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { compareBodies } from '../body-comparison.ts'
import { type AgentAnswer, type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** The sample document, in which every text block has an id of its own. */
const START = (() => {
  let count = 0
  const named = (content: string): string => {
    const used = new Set<string>()
    const canonical = serialiseHtml(parseHtml(content, { source: 'stored' }).tree)
    return canonical.replaceAll(/<(p|h[1-6])( id="([^"]*)")?>/g, (_, tag: string, __, id?: string) => {
      const own = id === undefined || used.has(id) ? `blk-own${++count}` : id
      used.add(own)
      return `<${tag} id="${own}">`
    })
  }
  const richTextPages = SAMPLE_DOCUMENT.richTextPages.map((page) => ({ ...page, content: named(page.content) }))
  return { ...SAMPLE_DOCUMENT, richTextPages }
})()

interface Call {
  readonly tool: string
  readonly args: Members
  readonly takesDryRun: boolean
  /** Whether the tool takes a request id, so that the call can be repeated. */
  readonly takesRequestId: boolean
}

/** Tools that create or delete a document, or need another call before them. */
const OTHERS = new Set(['create_document', 'delete_document', 'undo'])
const ROWS = TOOL_ROWS.filter(({ name, access, examples }) => access === 'edit' && examples.length > 0 && !OTHERS.has(name))
const anyCall: fc.Arbitrary<Call> = fc.constantFrom(...ROWS).chain((row) =>
  variedExamples(row).map((args): Call => {
    const takes = (name: string) => name in (row.inputSchema['properties'] as object)
    return { tool: row.name, args, takesDryRun: takes('dryRun'), takesRequestId: takes('requestId') }
  }),
)

/** A call with ids that the page was just read with. */
interface NamedCall {
  readonly kind: keyof typeof NAMED_CALLS
  readonly picks: readonly [number, number]
  readonly content: string
}

const NAMED_CALLS = {
  block: { tool: 'set_prose', args: (id: string, _: string, content: string) => ({ id, content }) },
  span: { tool: 'set_prose', args: (id: string, untilId: string, content: string) => ({ id, untilId, content }) },
  insert: { tool: 'insert_block', args: (id: string, _: string, content: string) => ({ id, content }) },
  before: { tool: 'insert_block', args: (id: string, _: string, content: string) => ({ id, content, side: 'before' }) },
  delete: { tool: 'delete_block', args: (id: string) => ({ id }) },
  deleteSpan: { tool: 'delete_block', args: (id: string, untilId: string) => ({ id, untilId }) },
  move: { tool: 'move_block', args: (id: string, targetId: string) => ({ id, targetId }) },
  words: { tool: 'edit_text', args: (id: string) => ({ edits: [{ id, find: 'e', replace: 'ee', all: true }] }) },
  kind: { tool: 'set_block', args: (id: string) => ({ id, type: 'heading', level: 3 }) },
  list: { tool: 'set_block', args: (id: string) => ({ id, type: 'taskList' }) },
  section: { tool: 'delete_section', args: (id: string) => ({ id, withSubsections: true }) },
  row: { tool: 'edit_table', args: (id: string) => ({ id, op: 'deleteRow', row: 0 }) },
  column: { tool: 'edit_table', args: (id: string) => ({ id, op: 'addColumn', col: 1, values: ['x', 'y'] }) },
  page: {
    tool: 'set_prose',
    args: (id: string, _: string, content: string, page: string) => ({
      content: page.replace(`<!-- ${id} -->`, (name) => `${name}${name.startsWith('@') ? '' : content.split('\n')[0]} `),
    }),
  },
  without: {
    tool: 'set_prose',
    args: (id: string, _: string, __: string, page: string) => ({
      content: page
        .split('\n\n')
        .filter((part) => !part.includes(id))
        .join('\n\n'),
    }),
  },
  plain: {
    tool: 'set_prose',
    args: (_: string, __: string, content: string, page: string) => ({
      content: `${page.replaceAll(/<!-- \S+ -->\n?/g, '')}\n\n${content}`,
    }),
  },
} as const

const CONTENTS = [
  'Words',
  '- one\n- two',
  '# Title\n\nBody',
  '| a | b |\n|---|---|\n| c | d |',
  '> quoted\n>\n> - in a list',
  '```\ncode\n```',
]
const namedCall: fc.Arbitrary<NamedCall> = fc.record({
  kind: fc.constantFrom(...(Object.keys(NAMED_CALLS) as (keyof typeof NAMED_CALLS)[])),
  picks: fc.tuple(fc.nat(), fc.nat()),
  content: fc.constantFrom(...CONTENTS),
})

async function callOn(docId: string, { kind, picks, content }: NamedCall): Promise<Call | null> {
  const at = { docId, pageId: 'p' }
  const { isError, result } = await ann.answer('get_prose', { ...at, ids: true })
  if (isError) return null
  const page = String((result['page'] as Members)['content'])
  const names = [...page.matchAll(/<!-- (\S+) -->/g)].map(([, name]) => name as string)
  const [id, other] = picks.map((pick) => names[pick % names.length] ?? '') as [string, string]
  const { tool, args } = NAMED_CALLS[kind]
  return {
    tool,
    args: { pageId: 'p', ...args(id, other, content, page) },
    takesDryRun: true,
    takesRequestId: tool === 'insert_block',
  }
}

interface Body extends Members {
  readonly serverVersion: number
  readonly richTextPages: readonly { readonly id: string; readonly content: string }[]
}

/** Reads everything that a call may change. */
async function stateOf(docId: string): Promise<{ readonly body: Body; readonly calls: unknown }> {
  const headers = { authorization: `Bearer ${relay.token({ sub: 'ann', role: 'member' })}` }
  const body = (await relay.rest({ sub: 'ann' }).getDocument(docId)) as unknown as Body
  const calls: unknown = await (await relay.fetch(`/api/v1/docs/${docId}/calls?limit=100`, { headers })).json()
  return { body, calls }
}

/** Plays random calls on a stored document, or on a document that a person has open. */
async function play(seed: number, isLive: boolean, judge: (played: Played) => void): Promise<void> {
  const docId = `laws-${seed}-${isLive}`
  await relay.rest({ sub: 'ann' }).putDocument(docId, START)
  const person = isLive ? relay.sync(docId, { sub: 'ann', role: 'member' }) : null
  if (person !== null) await saved(person)
  const calls = fc.sample(fc.oneof(anyCall, namedCall), { seed, numRuns: 14 })
  for (const [turn, given] of calls.entries()) {
    const call = 'kind' in given ? await callOn(docId, given) : given
    if (call === null) continue
    await playOne({ ...call, docId, about: `seed ${seed} ${isLive ? 'live' : 'cold'} turn ${turn}`, turn, person, judge })
  }
  person?.destroy()
}
interface Playing extends Call {
  readonly docId: string
  readonly about: string
  readonly turn: number
  readonly person: SyncClient | null
  readonly judge: (played: Played) => void
}

async function playOne(playing: Playing): Promise<void> {
  const { tool, args, takesDryRun, takesRequestId, docId, turn, person, judge } = playing
  const before = await stateOf(docId)
  const about = `${playing.about}: ${tool} ${JSON.stringify(args).slice(0, 600)}`
  const given = 'expectedVersion' in args && turn % 6 !== 5 ? { ...args, expectedVersion: before.body.serverVersion } : args
  const call = { ...given, docId }
  const tried = takesDryRun ? await ann.answer(tool, { ...call, dryRun: true }) : null
  if (tried !== null) expect(await stateOf(docId), `${about}: its dry run`).toEqual(before)
  const nodes = nodesOf(person, before.body)
  const once = { ...call, ...(takesRequestId && { requestId: `${docId} ${turn}` }) }
  const answer = await ann.answer(tool, once)
  const after = await stateOf(docId)
  if (answer.isError) expect(after, `${about}: ${JSON.stringify(answer.result)}`).toEqual(before)
  else if (takesRequestId) {
    const again = await ann.answer(tool, once)
    expect(again, `${about}: its replay`).toEqual({ isError: false, result: { ...answer.result, replayed: true } })
    expect(await stateOf(docId), `${about}: its replay`).toEqual(after)
  }
  if (person !== null) await until(`the editor to show what is stored (${about})`, () => showsAll(person, after.body))
  judge({ about, tool, args, answer, before: before.body, after: after.body, nodes, now: nodesOf(person, after.body) })
}

interface Played {
  readonly about: string
  readonly tool: string
  readonly args: Members
  readonly answer: AgentAnswer
  readonly before: Body
  readonly after: Body
  /** The live text blocks by their ids, before and after a call. */
  readonly nodes: ReadonlyMap<string, Y.XmlElement>
  readonly now: ReadonlyMap<string, Y.XmlElement>
}

const fragmentOf = (person: SyncClient, pageId: string) => person.doc.getXmlFragment(`prose:${pageId}`)

function showsAll(person: SyncClient, body: Body): boolean {
  return body.richTextPages.every(({ id, content }) => {
    const shown = serialiseHtml(readFragment(fragmentOf(person, id)))
    return shown === content || (shown === '' && content === '<p></p>')
  })
}

function nodesOf(person: SyncClient | null, body: Body): ReadonlyMap<string, Y.XmlElement> {
  const nodes = new Map<string, Y.XmlElement>()
  if (person === null) return nodes
  for (const { id } of body.richTextPages)
    for (const node of fragmentOf(person, id).createTreeWalker((one) => one instanceof Y.XmlElement))
      if (typeof (node as Y.XmlElement).getAttribute('id') === 'string')
        nodes.set(String((node as Y.XmlElement).getAttribute('id')), node as Y.XmlElement)
  return nodes
}

/** Returns the ids and handles in an answer or in arguments, without stamps. */
function namesIn(value: unknown): ReadonlySet<string> {
  return new Set([...JSON.stringify(value).matchAll(/blk-[A-Za-z0-9_-]+|@\d+(?=[".#])/g)].map(([name]) => name))
}

const bare = (id: unknown): string => String(id).replace(/#[0-9a-z]{4}$/, '')

/** Tools that change chips in blocks that the call does not name. */
const CHIPS = new Set(['set_fields', 'update_reference', 'delete_reference', 'add_reference'])
/** The environment variable SEEDS sets the number of seeds. */
const SEEDS = Array.from({ length: Number(process.env['SEEDS'] ?? 6) }, (_, i) => Number(process.env['SEED'] ?? 9_900) + i)

describe('laws of all calls that write, on random calls', () => {
  it('[AG-99] [AG-100] a failed call, a dry run and a replay change nothing; an answer lists exactly the changes that a comparison finds', {
    timeout: patience(60_000),
  }, async () => {
    let [exact, judged, kept] = [0, 0, 0]
    const done = new Map<string, number>()
    const judge = ({ about, tool, args, answer, before, after, nodes, now }: Played): void => {
      if (answer.isError) return
      done.set(tool, (done.get(tool) ?? 0) + 1)
      const { result } = answer
      const told = `${about}: ${JSON.stringify(result).slice(0, 3_000)}`
      const { serverVersion: _, ...old } = before
      const found = compareBodies(old, after)
      const changed = Number(result['changed'])
      if (changed === 0) {
        expect(after, told).toEqual(before)
        return
      }
      judged++
      if (found.least === found.most) exact++
      expect([changed, changed >= found.least && changed <= found.most, found], told).toEqual([changed, true, found])
      const named = new Set([...namesIn(args), ...namesIn(result)])
      const removed = (result['removed'] ?? []) as readonly { readonly id: string }[]
      const gone = [...found.removed, ...found.removedShapes].filter((id) => !Object.values(args).some((arg) => bare(arg) === id))
      if (result['removedTotal'] === undefined)
        expect(
          removed
            .map(({ id }) => id)
            .filter((id) => !id.startsWith('@'))
            .sort(),
          told,
        ).toEqual(gone.sort())
      if (CHIPS.has(tool)) return
      const total = result['blocksTotal'] ?? result['removedTotal']
      // A removal has no list of blocks: it leaves an empty paragraph where a cell or page would be empty.
      if (total === undefined && 'blocks' in result)
        expect(
          [...found.changed, ...found.created].filter((id) => !named.has(id) && !id.startsWith('nameless')),
          told,
        ).toEqual([])
      for (const frame of found.frames)
        expect(
          [...frame].some((name) => named.has(name)),
          `${told} ${[...frame]}`,
        ).toBe(true)
      // A live element cannot change its kind, so a list of another kind is made anew with everything in it.
      if (tool === 'set_block') for (const frame of found.frames) for (const id of frame) named.add(id)
      // A live element cannot move either, and a section moves with everything in it.
      if (tool === 'restructure_outline' && args['op'] === 'move') return
      for (const [id, node] of nodes)
        if (!named.has(id) && now.has(id) && !found.changed.has(id)) {
          kept++
          expect(now.get(id) === node, `${told}: the live block ${id} is another one`).toBe(true)
        }
    }
    for (const seed of SEEDS) for (const isLive of [false, true]) await play(seed, isLive, judge)
    expect([exact > judged / 2, kept > 300, done.size > ROWS.length / 3]).toEqual([true, true, true])
  })
})
