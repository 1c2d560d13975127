import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Effort, LayoutStopped } from '../effort.ts'
import { orderedRuns } from './channel.ts'
import { breakCircles } from './circles.ts'

type Graph = readonly (readonly number[])[]

/** The item to break: the middle one, so that it may stand anywhere on the path of the search. */
const middleOf = (circle: readonly number[]): number => circle[Math.floor(circle.length / 2)] as number

function brokenIn(graph: Graph): readonly number[] {
  const broken: number[] = []
  const breakOne = (circle: readonly number[]): number => {
    broken.push(middleOf(circle))
    return middleOf(circle)
  }
  breakCircles(graph.length, (item) => graph[item] as readonly number[], breakOne)
  return broken
}

/** The first circle that a search from the first item on finds. */
function firstCircle(graph: Graph, broken: ReadonlySet<number>): readonly number[] | null {
  const done = new Set<number>()
  const search = (item: number, path: readonly number[]): readonly number[] | null => {
    const way = [...path, item]
    for (const next of graph[item] as readonly number[]) {
      if (broken.has(next) || done.has(next)) continue
      if (way.includes(next)) return way.slice(way.indexOf(next))
      const found = search(next, way)
      if (found !== null) return found
    }
    done.add(item)
    return null
  }
  for (let root = 0; root < graph.length; root++) {
    const found = done.has(root) ? null : search(root, [])
    if (found !== null) return found
  }
  return null
}

function brokenOneByOne(graph: Graph): readonly number[] {
  const broken: number[] = []
  for (let circle = firstCircle(graph, new Set()); circle !== null; circle = firstCircle(graph, new Set(broken)))
    broken.push(middleOf(circle))
  return broken
}

const graphs: fc.Arbitrary<Graph> = fc
  .integer({ min: 1, max: 12 })
  .chain((count) => fc.array(fc.uniqueArray(fc.nat(count - 1), { maxLength: 5 }), { minLength: count, maxLength: count }))

it('[DIAG-4] [DIAG-14] the items broken are those of a search that starts anew after each circle, and no circle is left', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      expect(brokenIn(graph)).toEqual(brokenOneByOne(graph))
    }),
    { seed: 14, numRuns: 500 },
  )
})

it('[DIAG-17] ordering the edges between two layers stops when the layout is stopped', () => {
  const pieces = Array.from({ length: 9 }, (_, i) => ({
    ...{ upperX: 100 * (i % 3), lowerX: 100 * Math.floor(i / 3), upperPin: i % 3, lowerPin: 3 + Math.floor(i / 3) },
    ...{ edges: 1, label: 0, share: 0.5 },
  }))
  expect(() => orderedRuns(pieces, new Effort(1_000_000, () => true))).toThrow(LayoutStopped)
})
