import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf, someBytes } from '../../blobs/testing/blob-bytes.ts'
import { drag, seenBy } from '../dragging-person.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { openWire } from '../wire-client.ts'

type Members = Readonly<Record<string, unknown>>
/** Calls a tool on the document of the task. */
type Call = (tool: string, args: Members) => Promise<Members>

interface Stored {
  readonly pages: readonly { readonly id: string; readonly shapes: readonly (Members & { readonly id: string })[] }[]
  readonly richTextPages: readonly { readonly content: string }[]
  readonly references?: { readonly itemOrder: readonly string[] }
}

/** A task that an agent does by a fixed script, without repeating any call. */
interface Task {
  readonly name: string
  readonly maxCalls: number
  /** Limits on the bytes of arguments and of answers, where the specification sets them. */
  readonly maxBytes?: readonly [sent: number, answered: number]
  run(call: Call): Promise<void>
  check(stored: Stored): void | Promise<void>
}

const ANN = { sub: 'ann', role: 'member' }
const FILE = someBytes(5_000, 11)

const box = (id: string, x: number, y: number): Members => {
  // A member that only the person's editor knows.
  const own = { halo: { of: [id] } }
  return { id, type: 'rectangle', x, y, width: 160, height: 80, label: id, ...own }
}
const connector = (id: string, from: string, to: string, [x, y]: readonly number[], [x2, y2]: readonly number[]): Members => ({
  ...{ id, type: 'connector', x, y, x2, y2, startShapeId: from, endShapeId: to },
  ...(y === 0 ? { startAnchor: 'right', endAnchor: 'left' } : { startAnchor: 'bottom', endAnchor: 'bottom' }),
})
/** The shapes that the person drags while the agent works. */
const DRAGGED = ['mine', 'also mine']
const OF_PERSON = [
  box('mine', -4_000, 0),
  box('also mine', -4_000, 4_000),
  box('shop', 0, 0),
  box('stock', 300, 0),
  connector('own', 'shop', 'stock', [80, 0], [220, 0]),
]
const LEFT_OVER = [
  box('old', 600, 0),
  connector('to-old', 'stock', 'old', [380, 0], [520, 0]),
  connector('from-old', 'old', 'shop', [600, 40], [0, 40]),
]
const DOCUMENT = {
  name: 'Shop',
  pages: [{ id: 'c', name: 'Canvas', shapes: [...OF_PERSON, ...LEFT_OVER] }],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: '<p id="blk-begin000001">Begin</p>' }],
}
const PROSE = { pageId: 'p' }
const CANVAS = { pageId: 'c' }

const shapesOf = ({ pages }: Stored) => pages[0]?.shapes ?? []
const proseOf = ({ richTextPages }: Stored) => richTextPages[0]?.content ?? ''
/** Returns the connectors as pairs of the labels that they connect. */
const connections = (stored: Stored): readonly string[] => {
  const labels = new Map(shapesOf(stored).map(({ id, label }) => [id, String(label)]))
  return shapesOf(stored)
    .filter(({ type }) => type === 'connector')
    .map(({ startShapeId, endShapeId }) => `${labels.get(String(startShapeId))} > ${labels.get(String(endShapeId))}`)
}

const RFC = `# Order queue

## Context

Orders are lost while the stock service restarts.

## Design

| Part | Does |
| --- | --- |
| Queue | keeps orders |
| Worker | hands them to the stock |

## Risks

- [ ] Orders twice`
const TWELVE = Array.from({ length: 12 }, (_, i) =>
  i === 0 ? { id: 'n0', shapeId: 'stock' } : { id: `n${i}`, label: `Part ${i}` },
)

const TASKS: readonly Task[] = [
  {
    name: 'an RFC with a diagram',
    maxCalls: 4,
    async run(call) {
      const { pages, prosePages } = await call('get_document', {})
      const [canvas, prose] = [pages, prosePages].map((list) => (list as readonly { readonly id: string }[])[0]?.id)
      await call('set_prose', { ...PROSE, pageId: prose, content: RFC })
      const nodes = [
        { id: 'queue', label: 'Queue' },
        { id: 'worker', label: 'Worker' },
        { id: 'log', label: 'Log', kind: 'ellipse' },
      ]
      const edges = [
        { from: 'queue', to: 'worker', label: 'orders' },
        { from: 'worker', to: 'log' },
        { from: 'worker', to: 'queue', label: 'again' },
      ]
      const { layout } = await call('generate_diagram', { ...CANVAS, pageId: canvas, nodes, edges })
      expect(layout).toMatchObject({ overlaps: 0, throughNodes: 0, labelOverflow: 0 })
      expect(await call('get_prose', { ...PROSE, format: 'markdown' })).toMatchObject({
        page: { content: expect.stringContaining('| Queue | keeps orders |') },
      })
    },
    check(stored) {
      for (const part of ['Context', 'Design', 'Risks', 'data-checked="false"']) expect(proseOf(stored)).toContain(part)
      expect(connections(stored).slice(-3)).toEqual(['Queue > Worker', 'Worker > Log', 'Worker > Queue'])
    },
  },
  {
    name: 'a cited paper',
    maxCalls: 2,
    async run(call) {
      const { added } = await call('add_reference', { doi: '10.1000/good' })
      const [id] = added as readonly string[]
      const content = `# Finding\n\nShown before <span data-citation data-ref-id="${id}"></span>.`
      // The call replaces a page that the agent has not seen, which causes this warning. The citation itself is valid.
      const unseen = { reason: 'the block blk-begin000001 said "Begin", which you were not shown' }
      expect(await call('set_prose', { ...PROSE, content, replace: true })).toMatchObject({ warnings: [unseen] })
    },
    check(stored) {
      const [id] = stored.references?.itemOrder ?? []
      expect(proseOf(stored)).toContain(`data-ref-id="${id}"`)
    },
  },
  {
    name: "a diagram of 12 nodes beside a person's drawing",
    maxCalls: 1,
    maxBytes: [1_500, 2_000],
    async run(call) {
      const edges = TWELVE.slice(1).map(({ id }, i) => ({ from: `n${Math.floor(i / 2)}`, to: id }))
      const drawn = await call('generate_diagram', { ...CANVAS, nodes: TWELVE, edges, near: 'old' })
      expect(drawn).toMatchObject({ nodes: { n0: 'stock' }, layout: { overlaps: 0, throughNodes: 0 } })
      expect(drawn).not.toHaveProperty('warnings')
    },
    check(stored) {
      expect(connections(stored).filter((name) => name.startsWith('stock > Part'))).toEqual(['stock > Part 1', 'stock > Part 2'])
      expect(shapesOf(stored)).toHaveLength((DOCUMENT.pages[0]?.shapes.length as number) + 11 + 11)
    },
  },
  {
    name: 'boxes and connectors',
    maxCalls: 2,
    async run(call) {
      const shapes = [
        { kind: 'rectangle', id: 'a', x: 0, y: 400, text: 'A' },
        { kind: 'ellipse', id: 'b', x: 300, y: 400, text: 'B' },
        { kind: 'rectangle', id: 'd', x: 600, y: 400, text: 'D' },
        { kind: 'connector', startShapeId: 'a', endShapeId: 'b' },
        { kind: 'connector', startShapeId: 'b', endShapeId: 'd' },
      ]
      expect(await call('add_shapes', { ...CANVAS, shapes })).not.toHaveProperty('warnings')
      await call('connect', { ...CANVAS, fromId: 'stock', toId: 'b', label: 'feeds' })
    },
    check(stored) {
      expect(connections(stored).slice(-3)).toEqual(['A > B', 'B > D', 'stock > B'])
    },
  },
  {
    name: 'a box deleted with its connectors',
    maxCalls: 1,
    async run(call) {
      expect(await call('delete_shape', { ...CANVAS, id: 'old' })).toMatchObject({ deleted: ['old', 'to-old', 'from-old'] })
    },
    check(stored) {
      expect(shapesOf(stored).map(({ id }) => id)).toEqual(OF_PERSON.map(({ id }) => id))
    },
  },
  {
    name: 'a file attached',
    maxCalls: 3,
    async run(call) {
      const base64 = Buffer.from(FILE).toString('base64')
      const { hash } = await call('add_file', { ...CANVAS, fileName: 'plan.png', base64, x: 1_200, y: 0 })
      await call('insert_block', { ...PROSE, id: 'blk-begin000001', content: `![Plan](blob://${String(hash)})` })
      expect(await call('list_files', {})).toMatchObject({
        files: [{ inStore: true, sizeBytes: 5_000 }, { inStore: true }],
      })
    },
    async check(stored) {
      const file = shapesOf(stored).find(({ type }) => type === 'file')
      expect(file).toMatchObject({ fileName: 'plan.png', x: 1_200, blobRef: hashOf(FILE) })
      expect(proseOf(stored)).toContain(`blob://${hashOf(FILE)}`)
      const { bytes } = await relay.rest(ANN).downloadBlob(hashOf(FILE))
      expect(Buffer.compare(bytes, FILE)).toBe(0)
    },
  },
]

let relay: RelayUnderTest
let client: Client
let resolver: Server
beforeAll(async () => {
  resolver = createServer((_, response) => response.end(JSON.stringify({ type: 'book', title: 'Good', DOI: '10.1000/GOOD' })))
  await once(resolver.listen(0, '127.0.0.1'), 'listening')
  const { port } = resolver.address() as AddressInfo
  const env = {
    RELAY_CITATIONS_DOI_RESOLVER: `http://127.0.0.1:${port}/csl`,
    RELAY_WRITES_PER_SEC: '0',
    RELAY_READS_PER_SEC: '0',
  }
  relay = await startRelayUnderTest({ mcp: 'local', env })
  client = new Client({ name: 'tasks', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${relay.token(ANN)}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(relay.mcpUrl), { requestInit }))
})
afterAll(async () => {
  await client?.close()
  await relay?.[Symbol.asyncDispose]()
  resolver?.close()
})

const storedAs = async (docId: string) => (await relay.rest(ANN).getDocument(docId)) as unknown as Stored

/** Runs a task on a document. Counts the calls and the bytes of arguments and of answers. */
async function played(
  task: Task,
  docId: string,
  afterCall: () => Promise<void>,
): Promise<readonly [calls: number, sent: number, answered: number]> {
  let [calls, sent, answered] = [0, 0, 0]
  await task.run(async (tool, given) => {
    const args = { ...given, docId }
    const { content, structuredContent, isError } = await client.callTool({ name: `service_${tool}`, arguments: args })
    expect(isError, `${tool}: ${JSON.stringify(structuredContent)}`).toBe(false)
    calls++
    sent += Buffer.byteLength(JSON.stringify(args))
    answered += (content as readonly { readonly text: string }[]).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    await afterCall()
    return structuredContent as Members
  })
  return [calls, sent, answered]
}

function withinBounds(task: Task, kind: string, [calls, sent, answered]: Awaited<ReturnType<typeof played>>): void {
  process.stdout.write(`${task.name}, ${kind}: ${calls} calls, ${sent} bytes in, ${answered} bytes out\n`)
  expect(calls).toBeLessThanOrEqual(task.maxCalls)
  const [mostSent, mostAnswered] = task.maxBytes ?? [Infinity, Infinity]
  expect(sent).toBeLessThanOrEqual(mostSent)
  expect(answered).toBeLessThanOrEqual(mostAnswered)
}

describe.each(TASKS.map((task) => [task.name, task] as const))('the task of %s', (name, task) => {
  it('[CONC-8] [TOOL-15] stays within its limits on a cold document and leaves the shapes of the person unchanged', async () => {
    const docId = `cold ${name}`
    await relay.rest(ANN).putDocument(docId, DOCUMENT)
    withinBounds(task, 'cold', await played(task, docId, async () => undefined))
    const stored = await storedAs(docId)
    await task.check(stored)
    for (const shape of OF_PERSON) expect(shapesOf(stored)).toContainEqual(shape)
  })

  it('[CONC-8] [TOOL-15] is done within its limits while a person drags shapes, none of which it moves or changes', async () => {
    const docId = `live ${name}`
    await relay.rest(ANN).putDocument(docId, DOCUMENT)
    const person = await (await openWire(relay)).enter(relay.token(ANN), docId, ['ack'])
    const touched: string[] = []
    person.doc.getMap('shapes:c').observe(({ keysChanged }, { origin }) => {
      if (origin === 'relay') touched.push(...keysChanged)
    })
    const drags = DRAGGED.map((id, i) => drag(person, id, (steps) => ({ ...box(id, -4_000 - steps, 4_000 * i + (steps % 7)) })))
    const counted = await played(task, docId, async () => {
      const before = drags.map(({ steps }) => steps())
      await until('a step of each drag after the call', () => drags.every(({ steps }, i) => steps() > (before[i] as number) + 1))
    })
    const left = await Promise.all(drags.map((one) => one.stop()))
    withinBounds(task, 'live', counted)
    const kept = [...left, ...OF_PERSON.filter(({ id }) => !DRAGGED.includes(String(id)))]
    const stored = await storedAs(docId)
    await task.check(stored)
    for (const shape of kept) expect(shapesOf(stored)).toContainEqual(shape)
    for (const shape of kept) expect(seenBy(person)[String(shape['id'])]).toEqual(shape)
    expect(touched.filter((id) => OF_PERSON.some((shape) => shape['id'] === id))).toEqual([])
    person.socket.close()
  })
})
