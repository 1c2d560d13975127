import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { count, displacement, isFair } from './diagram/checker.ts'
import type { Drawing } from './diagram/drawing.ts'
import type { Graph } from './diagram/graph.ts'
import { graphs, graphsOfSeed } from './diagram/graphs.ts'
import { labelOverflow } from './diagram/labels.ts'
import { countLabels } from './diagram/label-cover.ts'
import { drawingOf, labelsOf, layOut, leadsBack, sized } from './diagram/ours.ts'
import { dotPeer, type Peer, type SizedGraph, withDagre, withElk, withElkHeld } from './diagram/peers.ts'
import { type Measured, report, type Row } from './diagram/report.ts'

/**
 * Draws graphs with this repository's layout and with dagre, ELK and Graphviz dot, measures the drawings, and writes the tables of
 * `bench/results/diagram.md`. [DIAG-5 to DIAG-17]
 *
 *     npm run bench:diagram [-- --seed <number>] [--only <part of a name>] [--remember]
 *
 * With a seed, draws 20 graphs generated from it instead of the list. `--remember` keeps the other layouts' drawings for the next run.
 */
const args = process.argv.slice(2)
const option = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const seed = option('--seed')
const only = option('--only') ?? ''
const cacheFile = join(import.meta.dirname, '../node_modules/.cache/docrelay-diagram-peers.json')

/** Graphs with more nodes and edges than this are not drawn twice by the other layouts, because that takes too long. */
const LARGE = 300
/** Number of edges that are removed, one at a time, to see how far the remaining nodes move. */
const REMOVED = 3

interface Remembered {
  [key: string]: Measured
}

const known: Remembered = args.includes('--remember') ? readCache() : {}

function readCache(): Remembered {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8')) as Remembered
  } catch {
    return {}
  }
}

async function cpuOf<T>(run: () => Promise<T>): Promise<[T, number]> {
  const from = process.cpuUsage()
  const result = await run()
  const { user, system } = process.cpuUsage(from)
  return [result, (user + system) / 1000]
}

async function measured(peer: Peer, graph: SizedGraph, moves: boolean): Promise<Measured> {
  try {
    const [drawing, cpuMs] = await cpuOf(() => peer(graph))
    if (drawing.lines.some(({ points }) => points.length < 2)) return { failed: 'an edge was not drawn' }
    return { counts: count(drawing), cpuMs, moved: moves ? await movedBy(peer, graph, drawing) : null }
  } catch (error) {
    return { failed: error instanceof Error ? error.message.slice(0, 80) : String(error) }
  }
}

/**
 * Returns the mean distance by which a node moves when one edge is removed, averaged over `REMOVED` edges. `null` for a graph with fewer than 4 edges
 * or more than 100 nodes.
 */
async function movedBy(peer: Peer, graph: SizedGraph, drawing: Drawing): Promise<number | null> {
  const edges = graph.graph.edges.length
  if (edges < 4 || graph.graph.nodes.length > 100) return null
  let sum = 0
  for (let k = 0; k < REMOVED; k++) {
    const gone = Math.floor(((2 * k + 1) * edges) / (2 * REMOVED))
    const keep = <T>(values: readonly T[]): T[] => values.filter((_, i) => i !== gone)
    const less: Graph = { ...graph.graph, edges: keep(graph.graph.edges) }
    sum += displacement(drawing, await peer({ graph: less, sizes: graph.sizes, ends: keep(graph.ends) }))
  }
  return sum / REMOVED
}

async function remembered(key: string, measure: () => Promise<Measured>): Promise<Measured> {
  const result = known[key] ?? (await measure())
  known[key] = result
  return result
}

const withOurs: Peer = async (graph) => drawingOf(graph, layOut(graph))
const withDot = await dotPeer()

async function rowOf(graph: Graph): Promise<Row> {
  const given = sized(graph)
  const layout = layOut(given)
  const ours = await measured(withOurs, given, true)
  const isLarge = graph.nodes.length + graph.edges.length > LARGE
  const back = leadsBack(given, layout)
  const turned = given.ends.map((_, i) => (back(i) ? '1' : '0')).join('')
  return {
    name: graph.name,
    nodes: graph.nodes.length,
    edges: graph.edges.length,
    ours,
    labelOverflow: labelOverflow(given),
    labels: countLabels(drawingOf(given, layout), labelsOf(given, layout)),
    dagre: await remembered(`dagre ${graph.name}`, () => measured(withDagre, given, !isLarge)),
    elk: await remembered(`elk ${graph.name}`, () => measured(withElk, given, false)),
    elkHeld: await remembered(`held ${graph.name} ${turned}`, () => measured(withElkHeld(back), given, false)),
    dot: isLarge
      ? { failed: 'not asked: too large' }
      : await remembered(`dot ${graph.name}`, () => measured(withDot, given, false)),
  }
}

const wanted = (seed === undefined ? graphs : graphsOfSeed(Number(seed), 20)).filter(({ name }) => name.includes(only))
// Warm-up: compiling code on its first run is not part of a layout's cost.
for (const graph of wanted.slice(0, 30)) if (graph.nodes.length <= 100) layOut(sized(graph))
const rows: Row[] = []
for (const graph of wanted) {
  rows.push(await rowOf(graph))
  if (args.includes('--remember')) writeCache()
}

function writeCache(): void {
  mkdirSync(join(cacheFile, '..'), { recursive: true })
  writeFileSync(cacheFile, JSON.stringify(known))
}

console.log(report(rows, isFair))
