import {
  bipartite,
  caterpillar,
  chain,
  complete,
  cyclic,
  dag,
  diamonds,
  disconnected,
  fullTree,
  lattice,
  mixed,
  multigraph,
  randomTree,
  ranks,
  requests,
  ring,
  star,
} from './families.ts'
import { type Graph, randomOf, whole } from './graph.ts'
import { realGraphs } from './graphs-real.ts'
import { moreRealGraphs } from './graphs-real-more.ts'

/** The graphs on which every figure of `bench:diagram` is based. The list was fixed before the layout was written. */
export const graphs: readonly Graph[] = [
  chain(8),
  chain(30),
  star(8, 'out'),
  star(20, 'out'),
  star(20, 'in'),
  fullTree(2, 4),
  fullTree(3, 3),
  fullTree(2, 5, 'LR'),
  randomTree(25, 11),
  randomTree(40, 12),
  randomTree(60, 13),
  randomTree(90, 14),
  randomTree(35, 15, 'in'),
  mixed(randomTree(45, 16), 17),
  caterpillar(8, 3),
  diamonds(1),
  diamonds(9),
  lattice(5, 5),
  lattice(6, 8),
  dag(20, 24, 21),
  dag(20, 34, 22),
  dag(25, 37, 23),
  dag(30, 45, 24, 'LR'),
  dag(30, 60, 25),
  dag(40, 48, 26),
  mixed(dag(40, 60, 27), 28),
  dag(50, 75, 29),
  dag(60, 80, 30, 'LR'),
  dag(60, 100, 31),
  mixed(dag(70, 90, 32), 33),
  dag(80, 120, 34),
  dag(80, 160, 35),
  dag(100, 130, 36),
  dag(100, 150, 37),
  dag(100, 200, 38),
  ranks(4, 6, 2, 41),
  ranks(6, 6, 2, 42, 'LR'),
  ranks(8, 6, 2, 43),
  ranks(8, 8, 1.5, 44),
  ranks(10, 9, 1.5, 45),
  bipartite(5, 5, 1, 51),
  bipartite(10, 12, 0.3, 52),
  complete(6),
  complete(8),
  dag(20, 80, 53),
  dag(24, 100, 54),
  ring(6),
  ring(20),
  cyclic(20, 30, 61),
  cyclic(30, 45, 62),
  mixed(cyclic(40, 60, 63), 64),
  cyclic(50, 70, 65),
  cyclic(80, 110, 66),
  cyclic(25, 50, 67, 0.5),
  requests(16, 8, 68),
  multigraph(8, 10, 71),
  multigraph(20, 26, 72),
  multigraph(30, 40, 73),
  disconnected([chain(4), star(5, 'out'), ring(4), dag(12, 16, 74), chain(1)], 75),
  disconnected([randomTree(15, 76), randomTree(12, 77), randomTree(10, 78), chain(3)], 79),
  disconnected([dag(25, 35, 80), cyclic(18, 24, 81), chain(1), chain(1), chain(2)], 82),
  ...realGraphs,
  ...moreRealGraphs,
  dag(200, 300, 91),
  randomTree(300, 92),
  dag(500, 700, 93),
  dag(500, 1000, 94),
  cyclic(500, 1000, 95),
]

/**
 * Graphs that the layout was not tuned on: 20 to 100 nodes, of all families, generated from a seed that is chosen after the code is
 * finished.
 */
export function graphsOfSeed(seed: number, count: number): readonly Graph[] {
  const random = randomOf(seed)
  return Array.from({ length: count }, (_, i) => {
    const nodes = 20 + whole(random, 81)
    const own = whole(random, 2 ** 31)
    const direction = whole(random, 3) === 0 ? 'LR' : 'TB'
    const edges = Math.round(nodes * (1.05 + random() * 0.95))
    switch (i % 5) {
      case 0:
        return dag(nodes, edges, own, direction)
      case 1:
        return cyclic(nodes, edges, own)
      case 2:
        return mixed(dag(nodes, edges, own, direction), own + 1)
      case 3:
        return ranks(3 + (nodes % 6), Math.ceil(nodes / (3 + (nodes % 6))), 1.2 + random(), own, direction)
      default:
        return whole(random, 2) === 0 ? mixed(randomTree(nodes, own), own + 1) : multigraph(nodes, edges, own)
    }
  })
}
