// `npm run bench:diagram-labels`: what the labels of edges cover in drawings of this repository's layout, for the sets of graphs that
// bench/results/diagram.md names.
import type { DiagramLayout } from '@docrelay/model/canvas/diagram/diagram'
import type { Graph } from './diagram/graph.ts'
import { graphs, graphsOfSeed } from './diagram/graphs.ts'
import { countLabels, type LabelCounts } from './diagram/label-cover.ts'
import { drawingOf, labelsOf, layOut, sized } from './diagram/ours.ts'
import type { SizedGraph } from './diagram/peers.ts'

const LABELS = [
  ...['calls', 'reads order', 'yes', 'publishes events to', 'no', 'HTTPS POST /v1/orders', 'reply'],
  ...['a rather long label that wraps over two lines', 'x', 'validated request'],
]
const SEED = 20261122

const labelAt = (i: number): string => LABELS[i % LABELS.length] as string
const everyLabelled = (graph: Graph): Graph => ({
  ...graph,
  edges: graph.edges.map((edge, i) => ({ ...edge, label: labelAt(7 * i + 3) })),
})

/** One to six edges between the same two nodes, all in one direction or the second one back, beside a few others. */
function parallels(): readonly Graph[] {
  const found: Graph[] = []
  for (let count = 1; count <= 6; count++)
    for (const direction of ['TB', 'LR'] as const)
      for (const turned of [false, true])
        for (const label of ['ok', 'publishes', 'publishes events to all']) {
          const between = Array.from({ length: count }, (_, i) => {
            const isBack = turned && i % 2 === 1
            return { from: isBack ? 'b' : 'a', to: isBack ? 'a' : 'b', label: `${label}${i}` }
          })
          const others = [
            { from: 'b', to: 'c', label },
            { from: 'a', to: 'd', label },
            { from: 'a', to: 'e' },
            { from: 'd', to: 'b', label },
            { from: 'f', to: 'b' },
          ]
          const nodes = [...'abcdef'].map((id) => ({ id, label: id }))
          found.push({ name: `${count} parallel`, direction, nodes, edges: [...between, ...others] })
        }
  return found
}

/** Grids with random edges, each edge with a label. */
function grids(): readonly Graph[] {
  const sizes = [4, 4, 6, 7, 9, 10, 9, 14, 12, 14, 16, 20, 16, 28, 25, 30, 25, 50, 40, 60, 100, 150, 150, 300]
  const found: Graph[] = []
  for (let k = 0; k < sizes.length; k += 2)
    for (const direction of ['TB', 'LR'] as const)
      for (let turn = 1; turn <= 3; turn++) {
        const [nodes, edges] = [sizes[k] as number, sizes[k + 1] as number]
        let state = turn * 7919 + nodes * 31 + edges
        const below = (count: number): number => {
          state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
          return Math.floor(state / 65_536) % count
        }
        found.push({
          name: `grid ${nodes}`,
          direction,
          nodes: Array.from({ length: nodes }, (_, i) => ({ id: `n${i}`, label: `n${i}` })),
          edges: Array.from({ length: edges }, () => {
            const from = below(nodes)
            const other = below(nodes)
            return {
              from: `n${from}`,
              to: `n${other === from ? (other + 1) % nodes : other}`,
              label: labelAt(below(LABELS.length)),
            }
          }),
        })
      }
  return found
}

function rowOf(name: string, drawn: readonly Graph[], draw: (graph: SizedGraph) => DiagramLayout): string {
  const sum = { labels: 0, moved: 0, onBoxes: 0, onLabels: 0, onLines: 0, onArrows: 0 }
  for (const graph of drawn) {
    const given = sized(graph)
    const layout = draw(given)
    const counts: LabelCounts = countLabels(drawingOf(given, layout), labelsOf(given, layout))
    for (const key of Object.keys(sum) as (keyof LabelCounts)[]) sum[key] += counts[key]
  }
  const { labels, moved, onBoxes, onLabels, onLines } = sum
  return `| ${name} | ${labels} | ${moved} | ${onBoxes} | ${onLabels} | ${onLines} |`
}

const usual = [...graphs, ...graphsOfSeed(SEED, 20)].filter(({ nodes }) => nodes.length <= 150)
console.log('| set | labels | moved | on nodes | on labels | on lines of other edges |\n| --- | --- | --- | --- | --- | --- |')
console.log(rowOf(`fixed list up to 150 nodes, and seed ${SEED}`, usual, layOut))
console.log(rowOf('the same, every edge labelled', usual.map(everyLabelled), layOut))
console.log(rowOf('edges between the same two nodes', parallels(), layOut))
console.log(rowOf('grids, every edge labelled', grids(), (graph) => layOut(graph, 'grid')))
