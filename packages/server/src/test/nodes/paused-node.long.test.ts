import { afterEach, describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { type Body, setShape, shapesIn } from '../live-documents.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, until } from '../relay-under-test.ts'
import { metric } from '../wire-client.ts'
import { linked } from './nodes-under-test.ts'
import { onNodes } from './on-nodes.ts'
import { sharedNodes } from './shared-nodes.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

onNodes(await sharedNodes(), ({ relays }) =>
  describe('a node that is paused', () => {
    const [a, b] = relays
    // A failed test may leave the node paused.
    afterEach(() => process.kill(a.pid, 'SIGCONT'))

    const shapes = async (relay: RelayUnderTest, id: string) => shapesIn((await relay.rest().getDocument(id)) as unknown as Body)
    /** Reads the shapes at a node, and repeats the read while it answers 503. */
    const shapesSoon = async (relay: RelayUnderTest, id: string): Promise<readonly string[]> => {
      for (;;) {
        const answer = await shapes(relay, id).catch((error: unknown) => error)
        if (Array.isArray(answer)) return answer
        expect(answer).toMatchObject({ code: 'UNAVAILABLE' })
        await pause(20)
      }
    }

    it(
      '[LIFE-25] [LIFE-26] stores nothing of a document that was taken over, returns no old content, and becomes an edge',
      async () => {
        await a.rest().putDocument('paused', { name: 'paused', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
        const ann = a.sync('paused')
        await saved(ann)
        const bob = b.sync('paused')
        await saved(bob)
        const takeovers = () => metric(b, 'relay_takeovers_total', { cause: 'silent' })
        const before = await takeovers()
        process.kill(a.pid, 'SIGSTOP')
        setShape(ann, 'late')
        setShape(bob, 'meanwhile')
        await until('bob to be saved at a new owner', () => bob.state.saved === 'saved', 15_000)
        // Documents of other tests on the same nodes may be taken over as well.
        expect((await takeovers()) - before).toBeGreaterThan(0)
        await pause(1_000)
        process.kill(a.pid, 'SIGCONT')
        expect(await shapesSoon(a, 'paused')).toContain('meanwhile')
        await saved(ann)
        await until('both to be equal', () =>
          [ann, bob].every(({ doc }) => ['late', 'meanwhile'].every((id) => doc.getMap('shapes:canvas').has(id))),
        )
        expect(await shapes(a, 'paused')).toEqual(['late', 'meanwhile'])
        // On a machine so busy that the pause took more than 10 s, the node gave the document up before it tried to store anything.
        const suspended = a.logLines.filter((line) => line.includes('"node.suspended"')).length
        expect((await metric(a, 'relay_fenced_total')) + suspended).toBeGreaterThan(0)
      },
      patience(60_000),
    )

    it(
      '[AG-63] [LIFE-26] does not delay a search at another node, which is incomplete until it has taken the document over',
      async () => {
        await a.rest().putDocument('drawn', { name: 'drawn', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
        const agent = await mcpAgent(b.mcpUrl, b.token())
        await agent.call('search', { query: 'medlars' })
        const ann = a.sync('drawn')
        await saved(ann)
        const shape = { id: 's', type: 'rectangle', x: 1, y: 1, width: 9, height: 9, label: 'medlars' }
        ann.doc.getMap('shapes:canvas').set('s', shape)
        await saved(ann)
        process.kill(a.pid, 'SIGSTOP')
        const search = () => agent.call('search', { query: 'medlars' })
        const { hits, behind, incomplete } = await search()
        expect({ found: (hits as readonly unknown[]).length, lacks: behind ?? incomplete }).not.toEqual({
          found: 0,
          lacks: undefined,
        })
        await until('the words to be found', async () => ((await search())['hits'] as readonly unknown[]).length > 0, 20_000)
        process.kill(a.pid, 'SIGCONT')
        await linked(relays)
      },
      patience(60_000),
    )

    it(
      '[LIFE-27] gives everything up after 10 s, and then gets a new incarnation',
      async () => {
        await a.rest().putDocument('long', { name: 'long', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
        const ann = a.sync('long')
        await saved(ann)
        process.kill(a.pid, 'SIGSTOP')
        await pause(11_000)
        const bob = b.sync('long')
        await saved(bob)
        setShape(ann, 'late')
        process.kill(a.pid, 'SIGCONT')
        await saved(ann)
        await until('bob to have it', () => bob.doc.getMap('shapes:canvas').has('late'))
        await until('the node to be linked again', async () => (await metric(a, 'relay_links')) === 1)
        expect(a.logLines.some((line) => line.includes('"node.suspended"'))).toBe(true)
        expect(await shapesSoon(a, 'long')).toEqual(['late'])
      },
      patience(60_000),
    )
  }),
)
