import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { type Body, setShape, shapesIn } from '../live-documents.ts'
import { type RelayUnderTest, saved, until } from '../relay-under-test.ts'
import { metric, openWire } from '../wire-client.ts'
import { type NodesUnderTest, startNodesUnderTest } from './nodes-under-test.ts'

const nodes = await startNodesUnderTest({ count: 2, mcp: 'public' })
if (typeof nodes === 'string') process.stderr.write(`skipped: ${nodes}\n`)

describe.skipIf(typeof nodes === 'string')('two nodes', () => {
  const { relays } = nodes as NodesUnderTest
  const [a, b] = relays as [RelayUnderTest, RelayUnderTest]
  const create = (id: string, relay = a) =>
    relay.rest().putDocument(id, { name: id, pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
  const shapes = async (relay: RelayUnderTest, id: string) =>
    shapesIn((await relay.rest().getDocument(id)) as unknown as Body)

  afterAll(() => (nodes as NodesUnderTest)[Symbol.asyncDispose](), patience(20_000))

  it('[LIFE-25] people on both nodes who edit one document at once see all edits of each other', async () => {
    await create('both')
    const [ann, bob] = [a.sync('both'), b.sync('both')]
    await saved(ann, bob)
    for (let i = 0; i < 20; i++) {
      setShape(ann, `a${i}`)
      setShape(bob, `b${i}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await saved(ann, bob)
    await until('both to be equal', () => [ann, bob].every(({ doc }) => doc.getMap('shapes:canvas').size === 40))
    expect(await shapes(a, 'both')).toHaveLength(40)
    expect(await shapes(b, 'both')).toHaveLength(40)
    const kinds = await Promise.all([a, b].map((relay) => metric(relay, 'relay_rooms', { kind: 'edge' })))
    expect(kinds.toSorted()).toEqual([0, 1])
  })
})
